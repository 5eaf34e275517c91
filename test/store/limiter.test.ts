import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createCallQueue } from '../../src/store/client.ts';

describe('a limiter', () => {
  const limits = { inFlight: 2, queued: 2, wait_ms: 60_000 };
  /** Work that ends on request. */
  function work() {
    const started: number[] = [];
    const ends: PromiseWithResolvers<void>[] = [];
    const task = (n: number) => () => {
      started.push(n);
      ends[n] = Promise.withResolvers();
      return ends[n].promise;
    };
    return { started, ends, task };
  }

  it('runs a number concurrently and the others in their order', async () => {
    const limited = createCallQueue('test', limits);
    const { started, ends, task } = work();
    const all = [0, 1, 2, 3].map((n) => limited(task(n)));
    assert.deepEqual(started, [0, 1]);
    ends[1]?.resolve();
    await all[1];
    await nextTurn();
    assert.deepEqual(started, [0, 1, 2]);
    ends[0]?.reject(new Error('failed work frees its place too'));
    await assert.rejects(all[0]!, /failed work/);
    await nextTurn();
    assert.deepEqual(started, [0, 1, 2, 3]);
    ends[2]?.resolve();
    ends[3]?.resolve();
    await Promise.all([all[2], all[3]]);
  });

  it('refuses work beyond its queue, before any of it has begun', async () => {
    const limited = createCallQueue('test', limits);
    const { started, ends, task } = work();
    const all = [0, 1, 2, 3].map((n) => limited(task(n)));
    await assert.rejects(limited(task(4)), { name: 'Unavailable', retryAfter_s: 1 });
    for (const n of [0, 1, 2, 3]) {
      ends[n]?.resolve();
      await all[n];
      await nextTurn();
    }
    assert.deepEqual(started, [0, 1, 2, 3]);
    await limited(async () => {});
  });

  it('lets no work wait for ever', async () => {
    const limited = createCallQueue('test', { inFlight: 1, queued: 5, wait_ms: 5 });
    const { ends, task } = work();
    const first = limited(task(0));
    await assert.rejects(limited(task(1)), { name: 'Unavailable' });
    ends[0]?.resolve();
    await first;
    await limited(async () => {});
  });
});
