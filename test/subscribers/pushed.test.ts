import assert from 'node:assert/strict';
import { Subject } from 'rxjs';
import { instant } from '../../domain/time.ts';
import type { Push } from '../../src/chains/family.ts';
import { createPushed } from '../../src/subscribers/pushed.ts';

const ours = '0xours';

function given({ block_ms = 200, isOurs = async (accounts: readonly string[]) => accounts.includes(ours) } = {}) {
  const pushes = new Subject<Push>();
  let now_ms = 0;
  let asked = 0;
  let wakes = 0;
  const pushed = createPushed({
    pushes,
    block_ms,
    clock: { now: () => instant(now_ms), sleep: () => new Promise((resolve) => setImmediate(resolve)) },
    isOurs: async (accounts) => {
      asked += 1;
      return isOurs(accounts);
    },
  });
  const listening = pushed.wakes.subscribe(() => {
    wakes += 1;
  });
  return {
    pushed,
    pay: (...receivers: string[]) => {
      for (const to of receivers) pushes.next({ kind: 'transfer', to });
    },
    block: () => pushes.next({ kind: 'head' }),
    pass: (duration_ms: number) => {
      now_ms += duration_ms;
    },
    stop: () => listening.unsubscribe(),
    async settled() {
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      return { wakes, asked };
    },
  };
}

describe('what nodes push', () => {
  it('is a reason to look when it is a transfer to us, asked for once with all that come with it', async () => {
    const { pay, settled } = given();
    pay('0xa', ours, '0xb', ours);
    assert.deepEqual(await settled(), { wakes: 1, asked: 1 });
  });

  it('is none when it is a transfer between others, or a block of a chain that makes several a second', async () => {
    const { pay, block, settled } = given();
    for (let blocks = 0; blocks < 50; blocks += 1) block();
    pay('0xa', '0xb');
    assert.deepEqual(await settled(), { wakes: 0, asked: 1 });
  });

  it('is one when it is a block of a slow chain', async () => {
    const { block, settled } = given({ block_ms: 12_000 });
    block();
    assert.equal((await settled()).wakes, 1);
  });

  it('is one when nobody can tell whose it is', async () => {
    const { pay, settled } = given({ isOurs: async () => Promise.reject(new Error('Postgres is away')) });
    pay('0xa');
    assert.equal((await settled()).wakes, 1);
  });

  it('is asked for one question at a time, however long that takes, and nothing of it is forgotten', async () => {
    const answer = Promise.withResolvers<void>();
    const slow = given({ isOurs: (accounts) => answer.promise.then(() => accounts.includes(ours)) });
    for (const to of ['0xa', '0xb', ours]) {
      slow.pay(to);
      assert.deepEqual(await slow.settled(), { wakes: 0, asked: 1 });
    }
    answer.resolve();
    assert.deepEqual(await slow.settled(), { wakes: 1, asked: 2 });
  });

  it('keeps polls far between only while something comes', () => {
    const { pushed, block, pass } = given();
    assert.equal(pushed.isLive(), false);
    block();
    pass(5_000);
    assert.equal(pushed.isLive(), true);
    pass(1);
    assert.equal(pushed.isLive(), false);
  });

  it('is nothing any more once nobody listens', async () => {
    const { pay, stop, settled } = given();
    pay(ours);
    stop();
    assert.equal((await settled()).wakes, 0);
  });
});
