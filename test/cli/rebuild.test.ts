import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { EventStore } from '../../commands/ports.ts';
import { openEventStore } from '../../src/eventstore/client.ts';
import { spawnEmbeddedNode } from '../../src/eventstore/node/spawn.ts';
import type { Database } from '../../src/postgres/database.ts';
import { writeConnections } from '../../src/runtime/connections.ts';
import { append, createWorld } from '../support/histories.ts';
import { done } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const program = fileURLToPath(new URL('../../src/cli/rebuild.ts', import.meta.url));
const run = promisify(execFile);
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
    const { stdout, stderr } = await run(process.execPath, [program, '--data', dataDir, ...args], {
      env: { ...env, MASTER_KEY: masterKey },
    });
    return stderr + stdout;
  };
  const startStore = () => spawnEmbeddedNode({ dataDir: join(dataDir, 'eventstore') });

  /** Runs `work` on a store that has one whole payment. */
  async function withPayment(work: (url: string) => Promise<void>): Promise<void> {
    const node = await startStore();
    const store = openEventStore({ url: node.url });
    await append(
      { ...createWorld(), store: store as EventStore },
      'payment-0198f3c2-0000-8000-8000-000000000001',
      done,
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

  it('says what it needs when it cannot find the stores', async () => {
    await assert.rejects(rebuild(), /start one, or set DATABASE_URL and EVENTSTORE_URL/);
    await assert.rejects(rebuild('--set', 'other'), /Allowed choices are work, reports/);
  });
});
