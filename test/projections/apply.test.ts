import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyChanges, describeTables, jsonText, type Table } from '../../projections/apply.ts';
import type { Row, RowChange } from '../../projections/projection.ts';
import type { Database } from '../../src/postgres/database.ts';
import { freshDatabase } from '../support/postgres.ts';

/** Of tables that only these specs have. */
const change =
  (op: 'upsert' | 'add') =>
  (table: string, row: Row): RowChange => ({ op, table, row });
const [upsert, add] = [change('upsert'), change('add')];
const remove = (table: string, key: Row): RowChange => ({ op: 'remove', table, key });

describe('row changes applied in bulk', () => {
  let database: Database;
  let tables: ReadonlyMap<string, Table>;
  before(async () => {
    database = await freshDatabase();
    await database.query('CREATE SCHEMA given');
    await database.query('CREATE TABLE given.things (a text, b integer, name text, size numeric, PRIMARY KEY (a, b))');
    await database.query(
      'CREATE TABLE given.sums (day text PRIMARY KEY, volume numeric NOT NULL, count bigint NOT NULL)',
    );
    tables = await describeTables(database, 'given');
  });
  beforeEach(() => database.query('TRUNCATE given.things, given.sums'));

  const apply = (...changes: RowChange[]) => applyChanges(database, tables, changes);
  const things = () => database.query<object>('SELECT * FROM given.things ORDER BY a, b');

  it('keep the last of several rows with one key, and what is not in the row becomes null', async () => {
    await apply(upsert('things', { a: 'x', b: 1, name: 'first', size: '1.50' }));
    await apply(upsert('things', { a: 'x', b: 1, name: 'second' }), upsert('things', { a: 'x', b: 1, name: 'third' }));
    assert.deepEqual(await things(), [{ a: 'x', b: 1, name: 'third', size: null }]);
  });

  it('keep the order of upserts and removals of one key', async () => {
    const row = { a: 'x', b: 1, name: 'back' };
    await apply(upsert('things', row), remove('things', { a: 'x', b: 1 }));
    assert.deepEqual(await things(), []);
    await apply(remove('things', { a: 'x', b: 1 }), upsert('things', row), remove('things', { a: 'y', b: 1 }));
    assert.deepEqual(await things(), [{ ...row, size: null }]);
  });

  it('sum up additions to the last decimal, within a batch and over batches', async () => {
    const one = { day: 'monday', volume: '0.000000000000000001', count: 1 };
    await apply(add('sums', one), add('sums', { ...one, volume: '10.00' }), add('sums', { ...one, day: 'tuesday' }));
    await apply(add('sums', { ...one, volume: '-10.00', count: -1 }));
    assert.deepEqual(await database.query('SELECT * FROM given.sums ORDER BY day'), [
      { day: 'monday', volume: '0.000000000000000001', count: 1n },
      { day: 'tuesday', volume: '0.000000000000000001', count: 1n },
    ]);
  });

  it('tell which tables were touched, and refuse one that the generation does not have', async () => {
    assert.deepEqual(await apply(upsert('things', { a: 'x', b: 1 })), ['things']);
    await assert.rejects(apply(upsert('gone', { a: 1 })), /no table gone.*rebuild/);
  });

  it('refuse a field that is no column, and a row without its key: nothing is dropped in silence', async () => {
    const row = { a: 'x', b: 1, name: 'kept' };
    await apply(upsert('things', row));
    await assert.rejects(apply(upsert('things', { ...row, nmae: 'misspelt' })), /things has no column nmae/);
    await assert.rejects(apply(upsert('things', row), upsert('things', { ...row, b: 2, nmae: '' })), /no column nmae/);
    await assert.rejects(apply(remove('things', { a: 'x', b: 1, nmae: '' })), /no column nmae/);
    await assert.rejects(apply(remove('things', { a: 'x' })), /things needs its key b/);
    const sum = { day: 'monday', volume: '1.00', count: 1, cuont: 1 };
    await assert.rejects(apply(add('sums', sum)), /sums has no column cuont/);
    assert.deepEqual(await things(), [{ ...row, size: null }]);
  });

  it('store any text; only what Postgres cannot hold becomes U+FFFD', async () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('\\', 'u', '0', 'd', '8', '\0', '\ud83d', '\ude00', '"') }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 20 }), async (names) => {
        await database.query('TRUNCATE given.things');
        await apply(...names.map((name, b) => upsert('things', { a: 'x', b, name })));
        const stored = await database.query<{ name: string }>('SELECT name FROM given.things ORDER BY b');
        assert.deepEqual(
          stored.map(({ name }) => name),
          names.map((name) => name.toWellFormed().replaceAll('\0', '\ufffd')),
        );
      }),
    );
    assert.equal(jsonText([{ a: 'plain' }]), '[{"a":"plain"}]');
  });
});
