import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyChanges, describeTables, jsonText, type Table } from '../../projections/apply.ts';
import type { Row, RowChange } from '../../projections/projection.ts';
import type { Database } from '../../src/postgres/database.ts';
import { batchSizes } from '../../src/readmodels/projections.ts';
import { freshDatabase } from '../support/postgres.ts';

/** A change of tables that only these specs have. */
const change =
  (op: 'upsert' | 'add' | 'number') =>
  (table: string, row: Row): RowChange => ({ op, table, row });
const [upsert, add, number] = [change('upsert'), change('add'), change('number')];
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
    await database.query('CREATE TABLE given.told (shop text, nth bigint, what text, PRIMARY KEY (shop, nth))');
    tables = await describeTables(database, 'given');
  });
  beforeEach(() => database.query('TRUNCATE given.things, given.sums, given.told'));

  const apply = (...changes: RowChange[]) => applyChanges(database, tables, changes);
  const things = () => database.query<object>('SELECT * FROM given.things ORDER BY a, b');

  it('keep the last of several rows with one key, and omitted columns become null', async () => {
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

  it('remove what sums up to nothing, whether in one batch or over several', async () => {
    const [one, back] = [
      { day: 'monday', volume: '10.00', count: 1 },
      { day: 'monday', volume: '-10.00', count: -1 },
    ];
    await apply(add('sums', one), add('sums', back), add('sums', { ...one, day: 'tuesday' }));
    await apply(add('sums', { ...one, day: 'wednesday' }));
    await apply(add('sums', { ...back, day: 'wednesday' }));
    assert.deepEqual(await database.query('SELECT day FROM given.sums'), [{ day: 'tuesday' }]);
  });

  it('number new rows on from the end of their group, in the given order, and return the end of each group', async () => {
    const row = (shop: string, what: string) => number('told', { shop, what });
    const first = await apply(row('b', 'one'), row('a', 'one'), row('b', 'two'));
    assert.deepEqual(first.get('told')?.toSorted(), ['a 1', 'b 2']);
    const second = await apply(row('c', 'one'), row('b', 'three'), row('b', 'four'));
    assert.deepEqual(second.get('told')?.toSorted(), ['b 4', 'c 1']);
    assert.deepEqual(await database.query('SELECT * FROM given.told ORDER BY shop, nth'), [
      { shop: 'a', nth: 1n, what: 'one' },
      { shop: 'b', nth: 1n, what: 'one' },
      { shop: 'b', nth: 2n, what: 'two' },
      { shop: 'b', nth: 3n, what: 'three' },
      { shop: 'b', nth: 4n, what: 'four' },
      { shop: 'c', nth: 1n, what: 'one' },
    ]);
  });

  it('number the largest batch within Postgres’s limits of a statement, of one group or of thousands', async () => {
    for (const groups of [1, 2_000]) {
      await database.query('TRUNCATE given.told');
      const rows = Array.from({ length: batchSizes.eventsMax }, (_, n) =>
        number('told', { shop: `shop ${n % groups}`, what: '' }),
      );
      assert.equal((await apply(...rows)).get('told')?.length, groups);
      const [last] = await database.query<{ nth: bigint }>('SELECT max(nth) AS nth FROM given.told');
      assert.equal(last?.nth, BigInt(rows.length / groups));
    }
  });

  it('refuse to number rows without a group, and to number some of a table and replace others', async () => {
    await assert.rejects(apply(number('told', { what: 'one' })), /told needs its key shop/);
    await assert.rejects(apply(number('sums', { volume: '1', count: 1 })), /sums has no key to number rows by/);
    const both = apply(number('told', { shop: 'a', what: 'one' }), upsert('told', { shop: 'a', nth: 1, what: 'one' }));
    await assert.rejects(both, /told is either summed up, or numbered, or replaced/);
  });

  it('return the changed tables, and refuse one that the generation does not have', async () => {
    assert.deepEqual([...(await apply(upsert('things', { a: 'x', b: 1 })))], [['things', []]]);
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

  it('store any text; only characters that Postgres cannot hold become U+FFFD', async () => {
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
