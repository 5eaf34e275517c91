import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  createLimiter,
  type Limiter,
  type Permit,
  type Priority,
  QueueFull,
  waitingMax,
} from '../../../src/chains/node/limiter.ts';
import { type FakeTicker, fakeTicker } from '../../support/fakeTicker.ts';

const patience_ms = 10_000;

describe('the limiter of a node', () => {
  it('holds nothing back before the node refuses', async () => {
    const { limiter } = limited();
    const permits = await Promise.all(Array.from({ length: 100 }, () => limiter.acquire(wanted('head'))));
    assert.equal(permits.length, 100);
    assert.equal(limiter.rate(), null);
  });

  it('learns the accepted rate from the first refusal, and stays below it', async () => {
    const { limiter, ticker } = limited();
    for (let call = 0; call < 40; call += 1) {
      limiter.taken(await limiter.acquire(wanted('head')));
      await ticker.pass(25);
    }
    limiter.refused(await limiter.acquire(wanted('head')));
    assert.ok(limiter.rate() === 0.7 * 40, `${limiter.rate()}`);
  });

  it('is reduced once for all concurrent calls', async () => {
    const { limiter } = limited();
    const permits = await Promise.all(Array.from({ length: 20 }, () => limiter.acquire(wanted('head'))));
    for (const permit of permits.slice(0, 10)) limiter.taken(permit);
    for (const permit of permits.slice(10)) limiter.refused(permit);
    assert.equal(limiter.rate(), 7);
  });

  it('waits as long as the node requests, a minute at most, and longer after each refusal without a time', async () => {
    const { limiter, ticker } = limited();
    limiter.refused(await limiter.acquire(wanted('head')), 3_000);
    assert.ok(limiter.wait_ms('head') >= 3_000);
    await ticker.pass(3_300);
    assert.equal(limiter.wait_ms('head'), 0);
    limiter.refused(await limiter.acquire(wanted('head')), 86_400_000);
    assert.ok(limiter.wait_ms('head') < 61_000);
    const waits: number[] = [];
    await ticker.pass(61_000);
    for (let refusal = 0; refusal < 5; refusal += 1) {
      limiter.refused(await limiter.acquire({ ...wanted('head'), patience_ms: 100_000 }));
      waits.push(limiter.wait_ms('head'));
      await ticker.pass(limiter.wait_ms('head') + 1);
    }
    assert.ok(
      waits.every((wait, at) => at === 0 || wait > (waits[at - 1] ?? 0)),
      waits.join(', '),
    );
  });

  it('rejects calls at once that could not wait so long, and waiting ones at the end of their time', async () => {
    const { limiter, ticker } = limited();
    limiter.refused(await limiter.acquire(wanted('head')), 5_000);
    await assert.rejects(limiter.acquire({ ...wanted('head'), patience_ms: 250 }), QueueFull);
    const waits = limiter.acquire({ ...wanted('head'), patience_ms: 6_000 });
    const told = assert.rejects(waits, QueueFull);
    await ticker.pass(4_000);
    // A call that was already in flight pauses it again.
    limiter.refused({ number: 0, cost: 1 }, 60_000);
    await ticker.pass(2_001);
    await told;
  });

  it('releases a cancelled call, and the next one gets its place', async () => {
    const { limiter, ticker } = limited();
    limiter.refused(await limiter.acquire(wanted('head')), 1_000);
    const reading = new AbortController();
    const given: string[] = [];
    const first = limiter.acquire({ ...wanted('head'), signal: reading.signal });
    const second = limiter.acquire(wanted('head')).then(() => given.push('second'));
    reading.abort(new Error('not wanted any more'));
    await assert.rejects(first, /not wanted/);
    await ticker.pass(1_300);
    await second;
    assert.deepEqual(given, ['second']);
  });

  it('serves payouts first, then the head, and late deposits have their share', async () => {
    const { limiter, ticker } = limited();
    limiter.refused(await limiter.acquire(wanted('head')), 100);
    const order: Priority[] = [];
    const all: Priority[] = [
      ...Array.from({ length: 12 }, () => 'late' as const),
      ...Array.from({ length: 12 }, () => 'head' as const),
      ...Array.from({ length: 12 }, () => 'payout' as const),
    ];
    for (const priority of all)
      void limiter.acquire({ ...wanted(priority), patience_ms: 60_000 }).then(() => order.push(priority));
    await ticker.pass(60_000);
    assert.equal(order.length, 36);
    const among = (priority: Priority) => order.slice(0, 13).filter((each) => each === priority).length;
    assert.deepEqual([among('payout'), among('head'), among('late')].map(Math.sign), [1, 1, 1]);
    assert.ok(among('payout') > among('head') && among('head') > among('late'), order.join(' '));
  });

  it('lets an expensive call out when enough of the rate has been saved', async () => {
    const { limiter, ticker } = limited();
    limiter.refused(await limiter.acquire(wanted('head')), 0);
    const at_ms: number[] = [];
    for (let call = 0; call < 3; call += 1)
      void limiter.acquire({ ...wanted('head'), cost: 10 }).then(() => at_ms.push(ticker.now_ms()));
    await ticker.pass(10_000);
    const [first = 0, second = 0, third = 0] = at_ms;
    assert.ok(first <= 500 && second <= 2_500 && third <= 4_500 && second > 2_000, at_ms.join(', '));
  });

  it('grows again while it holds calls back, to the rate that the node accepts', async () => {
    const { limiter, ticker } = limited();
    const node = nodeThatTakes(20, ticker);
    const { refused, sent } = await keepBusy(limiter, ticker, node, 300);
    assert.ok(sent > 0.8 * 20 * 300, `${sent} calls in 300 s`);
    assert.ok(refused < 0.02 * sent, `${refused} of ${sent} were refused`);
  });
});

describe('a limiter, for any calls:', () => {
  const priorities = fc.constantFrom<Priority>('payout', 'head', 'late');
  const step = fc.record({
    pause_ms: fc.integer({ min: 0, max: 400 }),
    priority: priorities,
    cost: fc.integer({ min: 1, max: 10 }),
    end: fc.constantFrom<'taken' | 'refused' | 'asksToWait'>('taken', 'taken', 'taken', 'refused', 'asksToWait'),
  });

  it('sends no more than the known rate and burst allow', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 80 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        async (steps, random) => {
          const { limiter, ticker } = limited(random);
          limiter.refused(await limiter.acquire(wanted('head')));
          const out: { at_ms: number; cost: number }[] = [];
          let most = limiter.rate() ?? 0;
          for (const { pause_ms, priority, cost, end } of steps) {
            void limiter.acquire({ ...wanted(priority), cost }).then(
              (permit) => {
                // The rate may rise and fall again over time: each call that is sent checks it.
                most = Math.max(most, limiter.rate() ?? Number.POSITIVE_INFINITY);
                out.push({ at_ms: ticker.now_ms(), cost });
                if (end === 'taken') limiter.taken(permit);
                else limiter.refused(permit, end === 'asksToWait' ? 500 : undefined);
              },
              (error) => assert.ok(error instanceof QueueFull),
            );
            await ticker.pass(pause_ms);
            most = Math.max(most, limiter.rate() ?? Number.POSITIVE_INFINITY);
          }
          await ticker.pass(20_000);
          most = Math.max(most, limiter.rate() ?? Number.POSITIVE_INFINITY);
          const dearest = Math.max(0, ...out.map(({ cost }) => cost));
          for (const [at, { at_ms: from_ms }] of out.entries()) {
            let sum = 0;
            for (const { at_ms, cost } of out.slice(at)) {
              sum += cost;
              const allowed = (most * (at_ms - from_ms)) / 1_000 + Math.max(1, most / 2) + dearest;
              assert.ok(sum <= allowed + 1e-6, `${sum} in ${at_ms - from_ms} ms at ${most} a second`);
            }
          }
        },
      ),
      { numRuns: 60 },
    ));

  it('serves or rejects a waiting call within its patience, and starves no priority', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom<Priority>('payout', 'head', 'late'),
        fc.integer({ min: 1, max: 30 }),
        async (priority, others) => {
          const { limiter, ticker } = limited();
          limiter.refused(await limiter.acquire(wanted('head')), 0);
          // The other two permanently request more than the limit.
          const rivals = (['payout', 'head', 'late'] as const).filter((each) => each !== priority);
          let served = 0;
          for (let second = 0; second < 30; second += 1) {
            for (const rival of rivals)
              for (let call = 0; call < others; call += 1)
                void limiter.acquire(wanted(rival)).then(
                  (permit) => limiter.taken(permit),
                  () => {},
                );
            if (second % 5 === 0)
              void limiter.acquire(wanted(priority)).then((permit) => {
                served += 1;
                limiter.taken(permit);
              });
            await ticker.pass(1_000);
          }
          await ticker.pass(patience_ms);
          assert.equal(served, 6);
        },
      ),
      { numRuns: 20 },
    ));

  it('queues no more than its room, and each kind has its own room', async () => {
    const { limiter, ticker } = limited();
    limiter.refused(await limiter.acquire(wanted('head')), 1_000);
    const patient = { ...wanted('head'), patience_ms: 10_000_000 };
    let told = 0;
    let served = 0;
    for (let call = 0; call < waitingMax + 50; call += 1)
      void limiter.acquire(patient).then(
        () => (served += 1),
        () => (told += 1),
      );
    await ticker.pass(0);
    assert.equal(told, 50);
    const late = limiter.acquire({ ...patient, priority: 'late' });
    await ticker.pass(1_000_000);
    assert.equal(served, waitingMax);
    await late;
  });
});

const wanted = (priority: Priority) => ({ cost: 1, priority, patience_ms });

function limited(random = 0.5): { limiter: Limiter; ticker: FakeTicker } {
  const ticker = fakeTicker();
  return { limiter: createLimiter({ ticker, random: () => random }), ticker };
}

/** A node with a bucket of one second, as providers count. */
function nodeThatTakes(perSecond: number, ticker: FakeTicker): () => boolean {
  let [left, at_ms] = [perSecond, 0];
  return () => {
    left = Math.min(perSecond, left + ((ticker.now_ms() - at_ms) / 1_000) * perSecond);
    at_ms = ticker.now_ms();
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}

async function keepBusy(limiter: Limiter, ticker: FakeTicker, takes: () => boolean, duration_s: number) {
  let [sent, refused] = [0, 0];
  const end_ms = ticker.now_ms() + duration_s * 1_000;
  const tell = (permit: Permit) => {
    if (takes()) {
      sent += 1;
      limiter.taken(permit);
    } else {
      refused += 1;
      limiter.refused(permit);
    }
  };
  const worker = async (): Promise<void> => {
    while (ticker.now_ms() < end_ms) {
      const permit = await limiter.acquire(wanted('head')).catch(() => undefined);
      if (!permit) return;
      // Each answer takes some time.
      await new Promise<void>((resolve) => ticker.after(50, resolve));
      tell(permit);
    }
  };
  const workers = Array.from({ length: 8 }, worker);
  await ticker.pass(duration_s * 1_000 + 100);
  await Promise.race([Promise.all(workers), ticker.pass(60_000)]);
  return { sent, refused };
}
