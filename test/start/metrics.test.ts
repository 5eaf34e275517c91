import assert from 'node:assert/strict';
import { openActive } from '../../projections/generations.ts';
import { projectionSets } from '../../projections/sets.ts';
import { metrics } from '../../src/api/operations.ts';
import { openDatabase } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { systemClock } from '../../src/process/system.ts';
import { createLogger, createTelemetry } from '../../src/process/telemetry.ts';
import { freshDatabase } from '../support/postgres.ts';

describe('metrics', () => {
  it('show the database’s state, and the last one while Postgres is away', async () => {
    const database = openDatabase({ url: (await freshDatabase()).url });
    const telemetry = createTelemetry(createLogger('silent'));
    for (const set of projectionSets) await openActive(database, set, await ddlOf(set.name));
    await database.query(
      `INSERT INTO ops.chain_cursors VALUES (8453, 'head', 7, '0x07', now() - interval '900 seconds'), (1, 'final', 9, '0x09', now())`,
    );
    await database.query(
      `INSERT INTO ops.work_failures
       SELECT 'payouts', key, 10, 'Error: no', now(), now(), CASE WHEN key <> 'c' THEN now() END FROM unnest(ARRAY['a', 'b', 'c']) AS key`,
    );

    const shown = await metrics({ clock: systemClock, reads: database, telemetry });
    assert.match(shown, /^pi_chain_scan_lag_seconds\{chain="8453",pass="head"\} 9\d\d/m);
    assert.match(shown, /^pi_chain_scan_lag_seconds\{chain="1",pass="final"\} /m);
    assert.match(shown, /^pi_oldest_due_seconds\{list="webhooks"\} 0$/m);
    assert.match(shown, /^pi_parked_items\{worker="payouts"\} 2$/m);

    await database.query('DELETE FROM ops.work_failures');
    assert.doesNotMatch(await metrics({ clock: systemClock, reads: database, telemetry }), /^pi_parked_items\{/m);

    await database.close();
    assert.match(
      await metrics({ clock: systemClock, reads: database, telemetry }),
      /^pi_chain_scan_lag_seconds\{chain="8453",pass="head"\} 9\d\d/m,
    );
  });
});
