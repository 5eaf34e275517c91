import assert from 'node:assert/strict';
import { Subject } from 'rxjs';
import { instant } from '../../domain/time.ts';
import type { Push } from '../../src/chains/family.ts';
import { accountsMax, createPushed, strangersMax } from '../../src/workers/payins/pushed.ts';

const ours = '0xours';

interface Given {
  readonly block_ms?: number;
  readonly oursAmong?: (accounts: readonly string[]) => Promise<readonly string[]>;
  readonly isAwaited?: () => boolean;
  readonly lookFirst?: (accounts: readonly string[]) => void;
}

const among = (accounts: readonly string[]) => accounts.filter((account) => account === ours);

function given({
  block_ms = 200,
  oursAmong = async (all) => among(all),
  isAwaited = () => true,
  lookFirst,
}: Given = {}) {
  const pushes = new Subject<Push>();
  let now_ms = 0;
  let asked = 0;
  let wakes = 0;
  const counted: Record<string, number> = {};
  const pushed = createPushed({
    pushes,
    block_ms,
    clock: { now: () => instant(now_ms), sleep: () => new Promise((resolve) => setImmediate(resolve)) },
    isAwaited: async () => isAwaited(),
    oursAmong: async (accounts) => {
      asked += 1;
      return oursAmong(accounts);
    },
    lookFirst,
    count: (what, transfers) => {
      counted[what] = (counted[what] ?? 0) + transfers;
    },
  });
  const listening = pushed.wakes.subscribe(() => {
    wakes += 1;
  });
  return {
    pushed,
    counted,
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
    const { pay, settled } = given({ oursAmong: async () => Promise.reject(new Error('Postgres is away')) });
    pay('0xa');
    assert.equal((await settled()).wakes, 1);
  });

  it('is asked for one question at a time, however long that takes, and nothing of it is forgotten', async () => {
    const answer = Promise.withResolvers<void>();
    const slow = given({ oursAmong: (accounts) => answer.promise.then(() => among(accounts)) });
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

  it('is told to who reads some deposits only, before it wakes anybody; polls stay as close as they are', async () => {
    const first: (readonly string[])[] = [];
    const { pay, pushed, settled } = given({ lookFirst: (accounts) => first.push(accounts) });
    pay('0xa', ours, 'ours too');
    assert.deepEqual(await settled(), { wakes: 1, asked: 1 });
    assert.deepEqual(first, [[ours]]);
    assert.equal(pushed.isLive(), false);
  });

  it('is looked up once a minute where it is to a stranger, and each time where it is to us', async () => {
    const { pay, pass, settled } = given();
    pay('0xa', ours);
    assert.equal((await settled()).asked, 1);
    pay('0xa');
    assert.equal((await settled()).asked, 1);
    pay(ours);
    assert.deepEqual(await settled(), { wakes: 2, asked: 2 });
    pass(60_000);
    pay('0xa');
    assert.equal((await settled()).asked, 3);
  });

  it('is not looked up while no payment waits, and makes nobody a stranger then', async () => {
    let awaited = false;
    const { pay, settled } = given({ isAwaited: () => awaited });
    pay(ours);
    assert.deepEqual(await settled(), { wakes: 0, asked: 0 });
    awaited = true;
    pay(ours);
    assert.deepEqual(await settled(), { wakes: 1, asked: 1 });
  });

  it('is dropped and counted beyond what can be looked up, and its strangers are forgotten beyond a bound', async () => {
    const { pay, counted, settled } = given();
    const flood = (from: number, count: number) => Array.from({ length: count }, (_, at) => `0x${from + at}`);
    pay(...flood(0, accountsMax + 10), ours);
    assert.deepEqual(await settled(), { wakes: 0, asked: 1 });
    assert.deepEqual(counted, { dropped: 11, ours: 0, others: accountsMax });
    for (let from = 0; from <= strangersMax; from += accountsMax) {
      pay(...flood(from, accountsMax));
      await settled();
    }
    const { asked } = await settled();
    pay('0x0');
    assert.equal((await settled()).asked, asked + 1);
    pay(ours);
    assert.equal((await settled()).wakes, 1);
  });

  it('is nothing any more once nobody listens', async () => {
    const { pay, stop, settled } = given();
    pay(ours);
    stop();
    assert.equal((await settled()).wakes, 0);
  });
});
