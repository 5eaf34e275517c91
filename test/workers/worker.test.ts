import assert from 'node:assert/strict';
import { once } from 'node:events';
import { NEVER, Subject } from 'rxjs';
import type { Clock } from '../../commands/ports.ts';
import { epochMs, instant } from '../../domain/time.ts';
import { systemClock } from '../../src/process/system.ts';
import type { WorkReport } from '../../src/process/telemetry.ts';
import { runWorker, type Worker, type WorkerRun } from '../../src/workers/engine.ts';

interface Item {
  readonly key: string;
  readonly app: string;
}

const items = (app: string, count: number): readonly Item[] =>
  Array.from({ length: count }, (_, n) => ({ key: `${app} ${n + 1}`, app }));

describe('running a worker', () => {
  let stop: AbortController;
  beforeEach(() => {
    stop = new AbortController();
  });
  afterEach(() => stop.abort());

  const failures = { failed: async () => null, succeeded: async () => {} };
  const run = (worker: Partial<Worker<Item>> & Pick<Worker<Item>, 'due' | 'act'>, how: Partial<WorkerRun> = {}) => {
    const reports: WorkReport[] = [];
    const ended = new Promise<void>((resolve) => {
      runWorker(
        { name: 'test', concurrency: 6, keyOf: ({ key }) => key, ...worker },
        { wake: NEVER, clock: systemClock, failures, signal: stop.signal, idle_ms: 5, ...how },
      ).subscribe({ next: (report) => reports.push(report), complete: resolve });
    });
    return { reports, ended };
  };

  it('leaves places to others while one that hangs has its share', async () => {
    const hanging = Promise.withResolvers<void>();
    const served = Promise.withResolvers<void>();
    const acted: string[] = [];
    const others = items('quick', 20);
    run({
      due: async () => [...items('hangs', 50), ...others].filter(({ key }) => !acted.includes(key)),
      share: { max: () => 2, of: ({ app }) => app },
      async act({ key, app }) {
        if (app === 'hangs') {
          acted.push(key);
          return hanging.promise;
        }
        acted.push(key);
        if (others.every((other) => acted.includes(other.key))) served.resolve();
      },
    });
    await served.promise;
    assert.deepEqual(
      acted.filter((key) => key.startsWith('hangs')),
      ['hangs 1', 'hangs 2'],
    );
    hanging.resolve();
  });

  it('removes an item’s note at each success if noted items are its list, also when it was noted again', async () => {
    const noted = new Set(['one']);
    const taken: string[] = [];
    const { reports } = run(
      {
        noted: true,
        due: async () => [...noted].map((key) => ({ key, app: 'noted' })),
        async act() {},
      },
      {
        failures: {
          ...failures,
          async succeeded(_, key) {
            noted.delete(key);
            taken.push(key);
            if (taken.length === 1) noted.add(key);
            else stop.abort();
          },
        },
      },
    );
    await once(stop.signal, 'abort');
    assert.deepEqual([taken, reports[0]?.kind], [['one', 'one'], 'done']);
  });

  it('works on the rest of a share as its places become free', async () => {
    const done = Promise.withResolvers<void>();
    const acted = new Set<string>();
    let together = 0;
    let most = 0;
    run({
      due: async () => items('one', 10).filter(({ key }) => !acted.has(key)),
      share: { max: () => 2, of: ({ app }) => app },
      async act({ key }) {
        together += 1;
        most = Math.max(most, together);
        await new Promise((resolve) => setImmediate(resolve));
        together -= 1;
        acted.add(key);
        if (acted.size === 10) done.resolve();
      },
    });
    await done.promise;
    assert.equal(most, 2);
  });

  it('has one action per key at a time, and ends started ones when it is stopped', async () => {
    const begun = Promise.withResolvers<void>();
    const free = Promise.withResolvers<void>();
    let actions = 0;
    let looks = 0;
    const { reports, ended } = run({
      async due() {
        looks += 1;
        if (looks === 3) begun.resolve();
        return items('one', 1);
      },
      async act() {
        actions += 1;
        await free.promise;
      },
    });
    await begun.promise;
    stop.abort();
    free.resolve();
    await ended;
    assert.equal(actions, 1);
    assert.deepEqual(reports, [{ worker: 'test', kind: 'done', key: 'one 1' }]);
  });

  describe('with pauses', () => {
    const second_ms = 1_000;
    /** A clock that only the spec advances; it records each sleep. */
    const paused = () => {
      const naps: number[] = [];
      let now_ms = 0;
      const clock: Clock = {
        now: () => instant(now_ms),
        sleep: async (duration_ms) => {
          naps.push(duration_ms);
          now_ms += duration_ms;
          await new Promise((resolve) => setImmediate(resolve));
        },
      };
      const pass = (duration_ms: number): void => {
        now_ms += duration_ms;
      };
      return { naps, clock, pass };
    };

    it('pauses longer each time without due items, up to its bound', async () => {
      const { naps, clock } = paused();
      const enough = Promise.withResolvers<void>();
      let looks = 0;
      run(
        {
          async due() {
            looks += 1;
            if (looks > 6) enough.resolve();
            return [];
          },
          act: async () => {},
        },
        { clock, idle_ms: 5 * second_ms },
      );
      await enough.promise;
      assert.deepEqual(naps.slice(0, 6), [500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    });

    it('is there when a failed item is to be tried again, and at the time that its own list states', async () => {
      const { naps, clock } = paused();
      const enough = Promise.withResolvers<void>();
      let looks = 0;
      run(
        {
          async due() {
            looks += 1;
            if (looks > 4) enough.resolve();
            return looks === 1 ? items('fails', 1) : [];
          },
          nextDue: (now) => (epochMs(now) < 700 ? instant(700) : null),
          act: () => Promise.reject(new Error('no')),
        },
        {
          clock,
          idle_ms: 5 * second_ms,
          failures: { failed: async () => instant(1_500), succeeded: async () => {} },
        },
      );
      await enough.promise;
      assert.deepEqual(naps.slice(0, 3), [500, 200, 800]);
    });

    it('leaves its list alone for four times as long as reading it took, a tenth of a second at most, however often it is woken', async () => {
      const { naps, clock, pass } = paused();
      const wake = new Subject<void>();
      const enough = Promise.withResolvers<void>();
      const readings_ms = [5, 30, 0];
      let looks = 0;
      run(
        {
          async due() {
            const took_ms = readings_ms[looks];
            looks += 1;
            if (took_ms === undefined) enough.resolve();
            else for (let times = 0; times < 3; times += 1) wake.next();
            pass(took_ms ?? 0);
            return [];
          },
          act: async () => {},
        },
        { wake, clock },
      );
      await enough.promise;
      assert.deepEqual(naps.slice(0, 2), [20, 100]);
      assert.equal(looks, readings_ms.length + 1);
    });

    it('rests no longer when its clock is set back', async () => {
      const { naps, clock, pass } = paused();
      const wake = new Subject<void>();
      const enough = Promise.withResolvers<void>();
      let looks = 0;
      run(
        {
          async due() {
            looks += 1;
            if (looks === 2) enough.resolve();
            pass(20);
            return looks === 1 ? items('stays', 1) : [];
          },
          async act() {
            pass(-3_600 * second_ms);
          },
        },
        { wake, clock, idle_ms: 10 * second_ms },
      );
      await enough.promise;
      assert.ok(Math.max(...naps) <= 500, `${naps}`);
    });

    it('checks an item again that was requested while it was worked on, as soon as that has ended', async () => {
      const wake = new Subject<void>();
      const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const again = Promise.withResolvers<void>();
      let actions = 0;
      run(
        {
          due: async () => items('one', 1),
          async act() {
            actions += 1;
            if (actions === 2) again.resolve();
            await ends[actions - 1]?.promise;
          },
        },
        { wake, idle_ms: 60 * second_ms, clock: { now: () => instant(0), sleep: () => new Promise(() => {}) } },
      );
      await new Promise((resolve) => setImmediate(resolve));
      wake.next();
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(actions, 1);
      ends[0]?.resolve();
      await again.promise;
      ends[1]?.resolve();
    });
  });
});
