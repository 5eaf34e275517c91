import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { ChainId } from '../../domain/chains.ts';
import type { Instant } from '../../domain/time.ts';
import { openActive } from '../../projections/generations.ts';
import { projectionSets } from '../../projections/sets.ts';
import type { Sql, SqlDatabase } from '../../projections/sql.ts';
import { randomOf } from '../../sandbox/random.ts';
import type { Database } from '../../src/postgres/database.ts';
import { createFailures } from '../../src/postgres/failures.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { createGenerator, type Generator } from '../support/generatedRows.ts';
import { freshDatabase } from '../support/postgres.ts';
import { makeRareCalls } from '../support/statementCalls.ts';
import type { Recorded, RecordedWorld } from '../support/statementRecorder.ts';
import { isFull } from '../support/suite.ts';
import { type Table, tables } from './postgres/schema.ts';
import { createPostgres, type PostgresModel, type Row, type View } from './postgres/server.ts';
import type { Values } from './postgres/statement.ts';
import { knownWords, lineOf, statementOf } from './postgres/statements.ts';
import { habitNames } from './world/habits.ts';

/** Few worlds that send all statements which simulated worlds are known to send: a greedy choice among thirteen. */
const worlds: readonly RecordedWorld[] = [
  { seed: 4, habits: habitNames },
  { seed: 3 },
  { seed: 5 },
  { seed: 10, habits: habitNames },
];
const rounds = isFull ? 40 : 3;
const callsPerRound = 4;
const rareCalls = 12;
const rowsMost = 25;

/** Times of Postgres's own clock, and a table that only people read: the model keeps neither. */
const unkept = { columns: new Set(['updated_at']), tables: new Set(['ops.payout_waited', 'model.locks']) };
/** Its rows are deleted with those that they refer to. */
const cascades = new Set(['ops.unreadable_transactions']);
/** Columns that no caller reads. */
const unread = /^(\?column\?|pg_notify|pg_advisory_xact_lock)$/;
/** Postgres returns the address of any of a payment's transfers. */
const undetermined = new Map([['SELECT DISTINCT ON (payment_id)', 'address']]);
/** Orders in which rows can be equal. */
const tied = /ORDER BY block_number$|ORDER BY u\.decided_at|ORDER BY settled_at /;

async function record(): Promise<Recorded> {
  const child = fork(new URL('../support/statementRecorder.ts', import.meta.url), { serialization: 'advanced' });
  child.send(worlds);
  const [recorded] = (await once(child, 'message')) as [Recorded];
  return recorded;
}

/** Ends a transaction whose changes nobody needs. */
class RolledBack extends Error {}

describe('the model of Postgres', function () {
  // A process of its own loads the whole service.
  this.timeout(1_200_000);
  let database: Database;
  let generator: Generator;
  let filled: readonly Table[];
  let nullable: ReadonlySet<string>;
  const statements = new Map<string, Values[]>();
  const schemas = new Map<string, string>();

  before(async () => {
    const recorded = await record();
    for (const [text, samples] of recorded.statements) statements.set(text, [...samples]);
    generator = createGenerator(randomOf('parity'), recorded);
    await addRareCalls(recorded);
    generator = createGenerator(randomOf('parity'), { ...recorded, statements });
    database = await freshDatabase();
    for (const set of projectionSets) {
      const { schema } = await openActive(database, set, await ddlOf(set.name));
      schemas.set(set.name, schema);
    }
    nullable = await nullableColumns();
    const used = [...statements.keys()].map((text) => text.replaceAll('"', '')).join('\n');
    filled = [...tables.values()].filter(
      ({ name }) => !unkept.tables.has(name) && new RegExp(`\\b${name}\\b`).test(used),
    );
  });

  async function addRareCalls({ pools }: Recorded): Promise<void> {
    const query: Sql['query'] = async (text, values = []) => {
      const samples = statements.get(text) ?? [];
      statements.set(text, [...samples, values]);
      return [];
    };
    const recording: SqlDatabase = { query, transaction: (work) => work({ query }) };
    const known = {
      chainIds: (pools.get('payments.source_chain_id') ?? []) as readonly ChainId[],
      times: generator.times as never,
      texts: (column: string) => (pools.get(column) ?? ['none']).filter((value) => value !== null).map(String),
      pick: generator.pick,
    };
    for (let left = rareCalls; left > 0; left -= 1) await makeRareCalls(recording, known);
  }

  const placeOf = ({ name, set }: Table): string => (set === null ? name : `${schemas.get(set)}.${name}`);

  async function nullableColumns(): Promise<ReadonlySet<string>> {
    const columns = await database.query<{ schema: string; name: string; column: string }>(
      `SELECT table_schema AS schema, table_name AS name, column_name AS column
         FROM information_schema.columns WHERE is_nullable = 'YES'`,
    );
    return new Set(columns.map(({ schema, name, column }) => `${schema}.${name}.${column}`));
  }

  const rowsIn = (sql: Sql, table: Table): Promise<readonly Row[]> => sql.query<Row>(`SELECT * FROM ${placeOf(table)}`);

  /** Fills both with rows whose columns are drawn one by one. */
  async function fill(): Promise<PostgresModel> {
    await database.transaction(async (sql) => {
      for (const table of filled.filter(({ name }) => name !== 'ops.projections')) {
        await sql.query(`DELETE FROM ${placeOf(table)}`);
        await insert(sql, table, generator.below(rowsMost + 1));
      }
    });
    const model = createPostgres(() => 0);
    for (const table of filled) for (const row of await rowsIn(database, table)) model.view.put(table.name, row);
    return model;
  }

  async function insert(sql: Sql, table: Table, count: number): Promise<void> {
    const place = placeOf(table);
    const rows = Array.from({ length: count }, () =>
      generator.rowOf(table, (column) => nullable.has(`${place}.${column}`)),
    );
    if (table.name === 'ops.unreadable_transactions') for (const row of rows) await noteFailure(sql, row);
    const json = JSON.stringify(rows, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
    await sql.query(
      `INSERT INTO ${place} SELECT * FROM json_populate_recordset(NULL::${place}, $1) ON CONFLICT DO NOTHING`,
      [json],
    );
  }

  /** A note of an unreadable transaction refers to a failure. */
  const noteFailure = (sql: Sql, { worker, key }: Row): Promise<unknown> =>
    createFailures(sql).note(worker, key, 'noted', '2026-01-05T09:00:00.000Z' as Instant);

  /** Compares one call. Its changes are rolled back. @param sql the round's transaction */
  async function compare(sql: Sql, model: PostgresModel, text: string, values: Values): Promise<void> {
    const line = lineOf(text);
    const isWrite = /\b(INSERT|UPDATE|DELETE|TRUNCATE)\b/.test(line);
    const detail = `${line}\nwith ${show(values)}`;
    const own = model.begin();
    const isPlainRead = /^(SELECT|WITH)\b/.test(line) && !isWrite && !/\bpg_|FOR UPDATE|FOR SHARE/.test(line);
    if (!isPlainRead) await sql.query('SAVEPOINT before_call');
    try {
      if (line.startsWith('INSERT INTO ops.unreadable_transactions'))
        for (const each of [sql, modelSql(own.view)]) await noteFailure(each, { worker: values[0], key: values[1] });
      const expected = await sql.query<Row>(text, values);
      compareAnswers(statementOf(text).run(own.view, values, text), expected, line, detail);
      for (const table of isWrite ? filled.filter((each) => line.includes(each.name) || cascades.has(each.name)) : [])
        assert.deepEqual(
          own.view.rows(table.name).map(keptOf(table)).toSorted(),
          (await rowsIn(sql, table)).map(keptOf(table)).toSorted(),
          `${table.name} after ${detail}`,
        );
    } finally {
      own.rollback();
      if (!isPlainRead) await sql.query('ROLLBACK TO SAVEPOINT before_call');
    }
  }

  it('answers each statement of the service as Postgres does, and changes the same rows', async () => {
    const failures = new Map<string, string>();
    for (let round = 0; round < rounds; round += 1) {
      const model = await fill();
      await database
        .transaction(async (sql) => {
          for (const [text, samples] of statements) {
            for (let call = 0; call < callsPerRound; call += 1) {
              await compare(sql, model, text, generator.valuesOf(samples)).catch((error: Error) => {
                failures.set(lineOf(text), error.message);
              });
            }
          }
          throw new RolledBack();
        })
        .catch((error: unknown) => {
          if (!(error instanceof RolledBack)) throw error;
        });
    }
    assert.deepEqual([...failures.values()], []);
  });

  it('has no statement that was not compared', () => {
    const compared = [...statements.keys()].map(lineOf);
    assert.deepEqual(
      knownWords.filter((words) => !compared.some((line) => line.includes(words))),
      [],
    );
  });
});

const modelSql = (view: View): Sql => ({
  query: async <R>(text: string, values: Values = []) => statementOf(text).run(view, values, text) as readonly R[],
});

/** The model may return more columns than Postgres. */
function compareAnswers(answered: readonly Row[], expected: readonly Row[], line: string, detail: string): void {
  const open = [...undetermined].find(([words]) => line.startsWith(words))?.[1];
  const names = Object.keys(expected[0] ?? {}).filter((name) => !unread.test(name) && name !== open);
  if (expected.length > 0 && names.length === 0 && line.startsWith('SELECT')) return;
  const inOrder = /ORDER BY (?!.*\))/.test(line) && !tied.test(line) ? identity : sorted;
  const own = answered.map((row) => textOf(Object.fromEntries(names.map((name) => [name, row[name]]))));
  const theirs = expected.map((row) => textOf(Object.fromEntries(names.map((name) => [name, row[name]]))));
  assert.deepEqual(inOrder(own), inOrder(theirs), detail);
}

const identity = (texts: readonly string[]) => texts;
const sorted = (texts: readonly string[]) => texts.toSorted();

/** The same types, as a migration and as Postgres spell them. */
const spelled = new Map([
  ['timestamp with time zone', 'timestamptz'],
  ['numeric(20,0)', 'numeric'],
]);
const isDecimal = /^-?\d+\.\d+$/;

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value !== 'string') return value ?? null;
  return isDecimal.test(value) ? value.replace(/\.?0+$/, '') : (spelled.get(value) ?? value);
}

const textOf = (row: Row): string =>
  JSON.stringify(
    Object.entries(row)
      .map(([name, value]) => [name, plain(value)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

const keptOf =
  ({ columns }: Table) =>
  (row: Row): string =>
    textOf(Object.fromEntries(columns.flatMap(({ name }) => (unkept.columns.has(name) ? [] : [[name, row[name]]]))));

const show = (values: Values): string =>
  JSON.stringify(values, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)).slice(0, 600);
