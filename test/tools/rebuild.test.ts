import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EventStore } from '../../commands/ports.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { writeConnections } from '../../src/lib/connections.ts';
import type { Database } from '../../src/postgres/database.ts';
import { arePayoutsToPause } from '../../src/postgres/payoutWaits.ts';
import { LogSetBack, refuseSetBack } from '../../src/readmodels/logSetBack.ts';
import { openEventStore } from '../../src/store/client.ts';
import { spawnEmbeddedNode } from '../../src/store/node/spawn.ts';
import { append, createWorld } from '../support/histories.ts';
import { runToolIn, succeeded } from '../support/operatorTools.ts';
import { done } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const first = '0198f3c2-0000-8000-8000-000000000001';
const masterKey = '0123456789abcdef'.repeat(4);

describe('npm run rebuild', () => {
  let dataDir: string;
  let database: Database;
  beforeEach(async () => {
    dataDir = temporaryDirectory();
    database = await freshDatabase();
  });

  const rebuild = async (...args: string[]) => {
    const { DATABASE_URL: _, EVENTSTORE_URL: __, ...env } = process.env;
    const ended = await runToolIn({ ...env, MASTER_KEY: masterKey }, 'rebuild', ['--data', dataDir, ...args]);
    const { stdout, stderr } = succeeded(ended);
    return stderr + stdout;
  };
  const startStore = () => spawnEmbeddedNode({ dataDir: join(dataDir, 'eventstore') });

  async function withStore(work: (store: EventStore) => Promise<void>): Promise<void> {
    const node = await startStore();
    const store = openEventStore({ url: node.url });
    await work(store).finally(async () => {
      await store.close();
      await node.stop();
    });
  }

  /** Runs `work` on a store with one additional payment. */
  async function withPayment(work: (url: string) => Promise<void>, paymentId = first): Promise<void> {
    const node = await startStore();
    const store = openEventStore({ url: node.url });
    await append(
      { ...createWorld(), store: store as EventStore },
      `payment-${paymentId}`,
      done.map(
        (event) =>
          ({ ...event, data: { ...event.data, ...('paymentId' in event.data && { paymentId }) } }) as PaymentEvent,
      ),
    );
    await work(node.url).finally(async () => {
      await store.close();
      await node.stop();
    });
  }
  const statuses = () => database.query('SELECT status FROM payments');

  it('fills all read models beside a running service, whose stores it finds by its data directory', async () => {
    await withPayment(async (eventStoreUrl) => {
      await writeConnections(dataDir, { databaseUrl: database.url, eventStoreUrl });
      const told = await rebuild();
      assert.match(told, /100%.*7 events/);
      assert.match(told, /"work": generation 1 is live/);
      assert.match(told, /"reports": generation 1 is live/);
    });
    assert.deepEqual(await statuses(), [{ status: 'payment_payout_completed' }]);
  });

  it('starts the embedded event store itself when no service runs, and may do one set alone', async () => {
    await withPayment(async () => {});
    const told = await rebuild('--database', database.url, '--set', 'work');
    assert.doesNotMatch(told, /reports/);
    assert.deepEqual(await statuses(), [{ status: 'payment_payout_completed' }]);
  });

  it('continues with a log that was restored from a backup: nothing starts on it before, and scans begin again', async () => {
    const store = join(dataDir, 'eventstore');
    const [backup, second] = [join(dataDir, 'backup'), '0198f3c2-0000-8000-8000-000000000002'];
    await withPayment(async () => {});
    cpSync(store, backup, { recursive: true });
    await withPayment(async () => {}, second);
    await rebuild('--database', database.url);
    await assert.rejects(rebuild('--database', database.url, '--log-restored'), /The log is not older than Postgres/);
    await database.query(`INSERT INTO ops.chain_cursors VALUES (8453, 'head', 7, '0x07', now())`);
    assert.equal((await statuses()).length, 2);

    rmSync(store, { recursive: true });
    cpSync(backup, store, { recursive: true });
    await withStore((log) => assert.rejects(refuseSetBack(database, log), LogSetBack));
    // A rebuild without this knowledge would wait for the lost events.
    await database.query(
      `INSERT INTO ops.projections (set_name, generation, version, status, position)
       SELECT set_name, 99, version, 'building', position FROM ops.projections WHERE status = 'active'`,
    );
    await rebuild('--database', database.url, '--log-restored');
    assert.deepEqual(await statuses(), [{ status: 'payment_payout_completed' }]);
    assert.deepEqual(await database.query('SELECT * FROM ops.chain_cursors'), []);
    assert.equal(await arePayoutsToPause(database, 8453), true);
    await withStore((log) => refuseSetBack(database, log));
  });

  it('states its needs when it cannot find the stores', async () => {
    await assert.rejects(rebuild(), /start one, or set DATABASE_URL and EVENTSTORE_URL/);
    await assert.rejects(rebuild('--set', 'other'), /Allowed choices are work, reports/);
  });
});
