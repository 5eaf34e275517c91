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

describe('pushes of nodes', () => {
  it('are a reason to poll for a transfer to us, looked up once for all that arrive together', async () => {
    const { pay, settled } = given();
    pay('0xa', ours, '0xb', ours);
    assert.deepEqual(await settled(), { wakes: 1, asked: 1 });
  });

  it('are none for a transfer between others, or a block of a chain that makes several a second', async () => {
    const { pay, block, settled } = given();
    for (let blocks = 0; blocks < 50; blocks += 1) block();
    pay('0xa', '0xb');
    assert.deepEqual(await settled(), { wakes: 0, asked: 1 });
  });

  it('are one for a block of a slow chain', async () => {
    const { block, settled } = given({ block_ms: 12_000 });
    block();
    assert.equal((await settled()).wakes, 1);
  });

  it('are one if the receiver is unknown', async () => {
    const { pay, settled } = given({ oursAmong: async () => Promise.reject(new Error('Postgres is away')) });
    pay('0xa');
    assert.equal((await settled()).wakes, 1);
  });

  it('are looked up one query at a time, however long that takes, and none is forgotten', async () => {
    const answer = Promise.withResolvers<void>();
    const slow = given({ oursAmong: (accounts) => answer.promise.then(() => among(accounts)) });
    for (const to of ['0xa', '0xb', ours]) {
      slow.pay(to);
      assert.deepEqual(await slow.settled(), { wakes: 0, asked: 1 });
    }
    answer.resolve();
    assert.deepEqual(await slow.settled(), { wakes: 1, asked: 2 });
  });

  it('keep polls rare only while pushes arrive', () => {
    const { pushed, block, pass } = given();
    assert.equal(pushed.isLive(), false);
    block();
    pass(5_000);
    assert.equal(pushed.isLive(), true);
    pass(1);
    assert.equal(pushed.isLive(), false);
  });

  it('reach the reader of single deposits before it wakes anybody; polls remain as frequent as they are', async () => {
    const first: (readonly string[])[] = [];
    const { pay, pushed, settled } = given({ lookFirst: (accounts) => first.push(accounts) });
    pay('0xa', ours, 'ours too');
    assert.deepEqual(await settled(), { wakes: 1, asked: 1 });
    assert.deepEqual(first, [[ours]]);
    assert.equal(pushed.isLive(), false);
  });

  it('are looked up once a minute for a stranger, and each time for us', async () => {
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

  it('are not looked up while no payment waits, and make nobody a stranger then', async () => {
    let awaited = false;
    const { pay, settled } = given({ isAwaited: () => awaited });
    pay(ours);
    assert.deepEqual(await settled(), { wakes: 0, asked: 0 });
    awaited = true;
    pay(ours);
    assert.deepEqual(await settled(), { wakes: 1, asked: 1 });
  });

  it('are dropped and counted beyond the lookup limit, and their strangers are forgotten beyond a bound', async () => {
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

  it('are ignored once nobody listens', async () => {
    const { pay, stop, settled } = given();
    pay(ours);
    stop();
    assert.equal((await settled()).wakes, 0);
  });
});
