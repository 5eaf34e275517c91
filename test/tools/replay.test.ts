import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { EventStore } from '../../commands/ports.ts';
import { writeConnections } from '../../src/lib/connections.ts';
import { openEventStore } from '../../src/store/client.ts';
import { spawnEmbeddedNode } from '../../src/store/node/spawn.ts';
import { append, createWorld } from '../support/histories.ts';
import { hostile, steering } from '../support/hostileText.ts';
import { runToolIn, succeeded } from '../support/operatorTools.ts';
import { created, done } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const stream = 'payment-0198f3c2-0000-8000-8000-000000000001';

describe('npm run replay', () => {
  it('shows a stream, fills a schema and drops it, beside a running service', async () => {
    const [dataDir, database] = [temporaryDirectory(), await freshDatabase()];
    const replay = async (...args: string[]) => {
      const { DATABASE_URL: _, EVENTSTORE_URL: __, ...env } = process.env;
      const settings = { ...env, MASTER_KEY: '0123456789abcdef'.repeat(4) };
      return succeeded(await runToolIn(settings, 'replay', ['--data', dataDir, ...args]));
    };
    const node = await spawnEmbeddedNode({ dataDir: join(dataDir, 'eventstore') });
    const store = openEventStore({ url: node.url });
    try {
      await append({ ...createWorld(), store: store as EventStore }, stream, [
        created({ orderId: hostile }),
        ...done.slice(1),
      ]);
      await writeConnections(dataDir, { databaseUrl: database.url, eventStoreUrl: node.url });
      const [shown, json, filled] = await Promise.all([
        replay('--stream', stream),
        replay('--stream', stream, '--json'),
        replay('--into', 'audit_2026'),
      ]);
      assert.match(shown.stdout, /PaymentFunded +funded\.rule = agreed\n/);
      assert.match(shown.stdout, /payins\[0\]\.phase: detected → confirmed\n/);
      assert.match(shown.stdout, /7 events/);
      assert.match(shown.stdout, /orderId = pay \\u\{1b\}/);
      assert.ok(!steering.test(shown.stdout + json.stdout), JSON.stringify(shown.stdout));
      const lines = json.stdout.trim().split('\n');
      const { state } = JSON.parse(lines.at(-1) ?? '');
      assert.deepEqual([state.payout.settled.attempt, state.terms.orderId], [1, hostile]);
      assert.match(filled.stderr + filled.stdout, /100%.*7 events/);
      assert.match(filled.stdout, /Schema audit_2026 holds all read models up to position/);
      const rows = await database.query('SELECT status FROM audit_2026.payments');
      assert.deepEqual(rows, [{ status: 'payment_payout_completed' }]);
      assert.match((await replay('--drop', 'audit_2026')).stdout, /audit_2026 is gone/);
      await assert.rejects(replay('--into', 'public'), /cannot hold a replay/);
    } finally {
      await store.close();
      await node.stop();
    }
  });
});
