import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Generation } from '../../projections/generations.ts';
import { workSet } from '../../projections/sets.ts';
import { auditReadModels } from '../../src/audit/readModels.ts';
import type { Database } from '../../src/postgres/database.ts';
import { createWorld, histories, play, type World } from '../support/histories.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';

const { signal } = new AbortController();

describe('the audit of read models', () => {
  let database: Database;
  let world: World;
  let live: Generation;
  before(async function () {
    this.timeout(60_000);
    database = await freshDatabase();
    world = createWorld();
    const [steps = []] = fc.sample(histories, { numRuns: 4, seed: 7 }).toSorted((a, b) => b.length - a.length);
    for (const step of steps) await play(world, step);
    live = await fill(database, world.store, workSet, [await wholeLog(world.store)]);
  });

  const audit = () => auditReadModels({ store: world.store, database, set: workSet, signal });

  it('finds nothing where every row follows from the log, and leaves nothing behind', async () => {
    const report = await audit();
    assert.deepEqual(report.findings, []);
    assert.ok(report.rows > 0);
    assert.deepEqual(await database.query(`SELECT 1 FROM pg_namespace WHERE nspname LIKE 'audit%'`), []);
  });

  it('compares at the position of the live rows, whatever came later', async () => {
    await database.query('UPDATE ops.projections SET position = position WHERE set_name = $1', [workSet.name]);
    const [{ position } = { position: 0n }] = await database.query<{ position: bigint }>(
      `SELECT position FROM ops.projections WHERE set_name = $1 AND status = 'active'`,
      [workSet.name],
    );
    assert.equal(position, live.position);
    for (const step of fc.sample(histories, { numRuns: 1, seed: 8 })[0] ?? []) await play(world, step);
    assert.deepEqual((await audit()).findings, []);
  });

  it('names a row that was altered, one that is gone, and one that no event leads to', async () => {
    const rows = await database.query<{ id: string }>(
      `SELECT payment_id AS id FROM ${live.schema}.payments ORDER BY 1`,
    );
    const [first, second] = rows;
    assert.ok(first && second);
    await database.query(`UPDATE ${live.schema}.payments SET status = 'payment_completed' WHERE payment_id = $1`, [
      first.id,
    ]);
    await database.query(
      `INSERT INTO ${live.schema}.payments SELECT (jsonb_populate_record(p, '{"payment_id": "zz"}')).* FROM ${live.schema}.payments p WHERE payment_id = $1`,
      [second.id],
    );
    await database.query(`DELETE FROM ${live.schema}.payments WHERE payment_id = $1`, [second.id]);
    const { findings } = await audit();
    assert.deepEqual(
      findings.map(({ code, stream }) => `${code} ${stream}`).sort(),
      [
        `rowDiffers payments ["${first.id}"]`,
        `rowMissing payments ["${second.id}"]`,
        'rowUnknown payments ["zz"]',
      ].sort(),
    );
  });
});
