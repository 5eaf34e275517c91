import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { NEVER } from 'rxjs';
import type { Clock } from '../../commands/ports.ts';
import { instant, minute_ms } from '../../domain/time.ts';
import { openDatabase } from '../../src/postgres/database.ts';
import { createFailures } from '../../src/postgres/failures.ts';
import type { WorkReport } from '../../src/process/telemetry.ts';
import { openEventStore } from '../../src/store/client.ts';
import { runWorker } from '../../src/workers/engine.ts';
import { event } from '../store/events.ts';
import { startCluster } from '../support/cluster.ts';
import { freshDatabase } from '../support/postgres.ts';

const outage_ms = 9 * minute_ms;

/** A clock whose sleeps advance the time at once; it does not advance during work. */
function hastyClock() {
  let working: Promise<unknown> = Promise.resolve();
  let now_ms = Date.parse('2026-11-22T00:00:00Z');
  const began_ms = now_ms;
  const clock: Clock = {
    now: () => instant(now_ms),
    async sleep(duration_ms, signal) {
      await nextTurn();
      await working.catch(() => {});
      if (!signal?.aborted) now_ms += duration_ms;
    },
  };
  const during = <T>(work: Promise<T>): Promise<T> => {
    working = work;
    return work;
  };
  return { clock, during, passed_ms: () => now_ms - began_ms };
}

/** A payment that a worker tries during an outage, which `end` ends, until it is done. */
async function payThrough(pay: () => Promise<unknown>, end: () => Promise<unknown>) {
  const database = await freshDatabase();
  const failures = createFailures(database);
  const { clock, during, passed_ms } = hastyClock();
  const reports: WorkReport[] = [];
  const stop = new AbortController();
  const worker = {
    name: 'payouts',
    concurrency: 1,
    keyOf: ({ key }: { key: string }) => key,
    due: async (max: number, now: ReturnType<Clock['now']>) =>
      reports.length === 0 ? [{ key: 'payment-1' }] : failures.due('payouts', max, now),
    async act() {
      if (passed_ms() >= outage_ms) await end();
      await during(pay());
    },
  };
  await new Promise<void>((resolve, reject) => {
    const noted = {
      failed: (...failure: Parameters<typeof failures.failed>) => during(failures.failed(...failure)),
      succeeded: failures.succeeded,
    };
    runWorker(worker, { wake: NEVER, clock, failures: noted, signal: stop.signal }).subscribe({
      next(report) {
        reports.push(report);
        if (report.kind === 'done' || report.kind === 'stalled') stop.abort();
      },
      complete: resolve,
      error: reject,
    });
  });
  return { kinds: new Set(reports.map(({ kind }) => kind)), tries: reports.length, passed_ms: passed_ms(), database };
}

describe('an outage of nine minutes parks nothing, and waiting work continues automatically:', () => {
  async function mustGoThrough(pay: () => Promise<unknown>, end: () => Promise<unknown>): Promise<void> {
    const { kinds, tries, passed_ms, database } = await payThrough(pay, end);
    assert.deepEqual([...kinds], ['failed', 'done']);
    assert.ok(passed_ms >= outage_ms && tries > 20, `${tries} tries in ${passed_ms} ms`);
    assert.deepEqual(await database.query('SELECT * FROM ops.work_failures'), []);
  }

  it('a cluster without any answer', async () => {
    const cluster = await startCluster();
    for (const node of cluster.nodes) await node.stop();
    const store = openEventStore({ url: cluster.url });
    const end = async () => {
      for (const node of cluster.nodes) await node.start();
    };
    await mustGoThrough(() => store.workers.read('payment-1'), end);
    await store.close();
  });

  it('a cluster that has no leader', async () => {
    const cluster = await startCluster();
    cluster.all('electing');
    const store = openEventStore({ url: cluster.url });
    const end = async () => cluster.lead(cluster.nodes[1]);
    const only = event();
    await mustGoThrough(() => store.workers.append('payment-1', 'no_stream', [only]), end);
    await store.close();
  });

  it('a Postgres that does not answer', async () => {
    const away = openDatabase({ url: 'postgres://nobody@127.0.0.1:9/payments' });
    const { url } = await freshDatabase();
    const there = openDatabase({ url });
    let database = away;
    const end = async () => {
      database = there;
    };
    await mustGoThrough(() => database.query('SELECT 1'), end);
    await Promise.all([away.close(), there.close()]);
  });
});
