import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Instant, instant } from '../../../domain/time.ts';
import { type Generation, openActive } from '../../../projections/generations.ts';
import { workSet } from '../../../projections/sets.ts';
import type { Database } from '../../../src/postgres/database.ts';
import { ddlOf } from '../../../src/postgres/migrate.ts';
import { auditReadModels } from '../../../tools/audit/readModels.ts';
import { createWorld, histories, play, type World } from '../../support/histories.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { fill, wholeLog } from '../../support/readModels.ts';

const { signal } = new AbortController();

describe('the audit of read models', () => {
  let database: Database;
  let world: World;
  let live: Generation;
  before(async () => {
    database = await freshDatabase();
    world = createWorld();
    const [steps = []] = fc.sample(histories, { numRuns: 4, seed: 7 }).toSorted((a, b) => b.length - a.length);
    for (const step of steps) await play(world, step);
    live = await fill(database, world.store, workSet, [await wholeLog(world.store)]);
  });

  const audit = (settledBefore = instant(0)) =>
    auditReadModels({ store: world.store, database, set: workSet, settledBefore, signal });
  /** Returns the findings while Postgres has this change. */
  async function withTables(change: string, back: string): Promise<readonly string[]> {
    await database.query(change);
    try {
      return (await audit()).findings.map(({ code, stream }) => `${code} ${stream}`);
    } finally {
      await database.query(back);
    }
  }

  it('finds nothing if every row follows from the log, and leaves nothing behind', async () => {
    const report = await audit();
    assert.deepEqual(report.findings, []);
    assert.ok(report.rows > 0);
    assert.deepEqual(await database.query(`SELECT 1 FROM pg_namespace WHERE nspname LIKE 'audit%'`), []);
  });

  it('compares at the position of the live rows, whatever arrived later', async () => {
    await database.query('UPDATE ops.projections SET position = position WHERE set_name = $1', [workSet.name]);
    const [{ position } = { position: 0n }] = await database.query<{ position: bigint }>(
      `SELECT position FROM ops.projections WHERE set_name = $1 AND status = 'active'`,
      [workSet.name],
    );
    assert.equal(position, live.position);
    for (const step of fc.sample(histories, { numRuns: 1, seed: 8 })[0] ?? []) await play(world, step);
    assert.deepEqual((await audit()).findings, []);
  });

  it('finds rows that are older than the log, their checkpoint set back with them', async () => {
    const of = async (before: Instant) => (await audit(before)).findings.map(({ code, stream }) => `${code} ${stream}`);
    assert.deepEqual(await of(instant(Date.UTC(2100, 1))), ['rowsOld work']);
    assert.deepEqual(await of(instant(0)), []);
    const empty = await freshDatabase();
    await openActive(empty, workSet, await ddlOf(workSet.name));
    const settledBefore = instant(Date.UTC(2100, 1));
    const { findings } = await auditReadModels({
      store: world.store,
      database: empty,
      set: workSet,
      settledBefore,
      signal,
    });
    assert.deepEqual(
      findings.map(({ code }) => code),
      ['rowsOld'],
    );
  });

  it('finds a table that is a view now, has a trigger, hides rows, is gone, or has another owner', async () => {
    const { schema } = live;
    const table = `${schema}.payments`;
    const away = `DROP VIEW public.payments; ALTER TABLE ${table} RENAME TO hidden`;
    const again = `ALTER TABLE ${schema}.hidden RENAME TO payments; CREATE VIEW public.payments AS SELECT * FROM ${table}`;
    const lying = `CREATE VIEW ${table} AS SELECT * FROM ${schema}.hidden; CREATE VIEW public.payments AS SELECT * FROM ${table}`;
    const found = await withTables(`${away}; ${lying}`, `DROP VIEW public.payments; DROP VIEW ${table}; ${again}`);
    assert.deepEqual(found.toSorted(), ['tableWrong hidden', 'tableWrong payments']);
    const onChange = `CREATE TRIGGER t BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`;
    assert.deepEqual(await withTables(onChange, `DROP TRIGGER t ON ${table}`), ['tableWrong payments']);
    const policy = `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`;
    assert.deepEqual(await withTables(policy, `ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY`), [
      'tableWrong payments',
    ]);
    assert.deepEqual((await withTables(away, again)).toSorted(), [
      'tableWrong hidden',
      'tableWrong payments',
      'tableWrong public.payments',
    ]);
    assert.deepEqual(await withTables(`CREATE TABLE ${schema}.more ()`, `DROP TABLE ${schema}.more`), [
      'tableWrong more',
    ]);
  });

  it('finds a public view that differs from its table', async () => {
    const columns = await database.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'public.payments'::regclass AND attnum > 0 ORDER BY attnum`,
    );
    const told = columns
      .map(({ name }) => (name === 'status' ? `'payment_completed'::text AS status` : name))
      .join(', ');
    const [honest] = [`CREATE VIEW public.payments AS SELECT * FROM ${live.schema}.payments`];
    const found = await withTables(
      `DROP VIEW public.payments; CREATE VIEW public.payments AS SELECT ${told} FROM ${live.schema}.payments`,
      `DROP VIEW public.payments; ${honest}`,
    );
    assert.deepEqual(found, ['tableWrong public.payments']);
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
