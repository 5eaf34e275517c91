import assert from 'node:assert/strict';
import type { Clock } from '../../commands/ports.ts';
import { openActive } from '../../projections/generations.ts';
import { projectionSets } from '../../projections/sets.ts';
import { readiness } from '../../src/api/operations.ts';
import type { Core } from '../../src/core.ts';
import type { Database } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { systemClock } from '../../src/process/system.ts';
import { type OpenEventStore, openEventStore } from '../../src/store/client.ts';
import { event } from '../store/events.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { freshDatabase } from '../support/postgres.ts';

describe('readiness', () => {
  let cluster: Cluster;
  let store: OpenEventStore;
  let database: Database;
  before(async () => {
    cluster = await startCluster();
    store = openEventStore({ url: cluster.url });
    database = await freshDatabase();
    for (const set of projectionSets) await openActive(database, set, await ddlOf(set.name));
    await store.append('x-1', 'no_stream', [event()]);
  });
  after(() => store.close());

  /** The limit of an answer's time does not matter here: on a busy machine it would replace the reason. */
  const patientClock: Clock = { ...systemClock, sleep: () => new Promise(() => {}) };

  const asked = async (canWrite = true) => {
    const core = { canWrite: () => canWrite, store, clock: patientClock, reads: database, chains: new Map() };
    const { checks } = await readiness({
      ...core,
      caughtUp: async () => 0n,
      clockWatch: { trouble: () => undefined, run: async () => {} },
    } as unknown as Core);
    return checks['eventStore'];
  };

  it('is lost while the store can be read and cannot be written to', async () => {
    assert.deepEqual(await asked(), { ok: true });
    const shown = await asked(false);
    assert.equal(shown?.ok, false);
    assert.match(shown?.detail ?? '', /cannot be written to: see the alarm eventStoreCannotWrite/);
  });

  it('is lost while the store’s cluster has no leader, and returns with one', async () => {
    cluster.all('electing');
    assert.deepEqual(await asked(), { ok: false, detail: 'cannot be reached' });
    cluster.lead(cluster.nodes[0]);
    while (!(await asked())?.ok) await new Promise((resolve) => setImmediate(resolve));
  });
});
