/** Applies row changes in bulk: per table at most one statement for each kind of change. */
import { assert } from '../domain/decider.ts';
import type { Row, RowChange } from './projection.ts';
import { quoted, type Sql } from './sql.ts';

interface Column {
  readonly name: string;
  readonly type: string;
}

/** A table as the database describes it; the migrations define it. */
export interface Table {
  readonly name: string;
  readonly key: readonly Column[];
  readonly others: readonly Column[];
  /** Of all columns. */
  readonly names: ReadonlySet<string>;
  readonly statements: Readonly<Record<RowChange['op'], string>>;
}

/** @param schema of one generation */
export async function describeTables(sql: Sql, schema: string): Promise<ReadonlyMap<string, Table>> {
  const rows = await sql.query<{ table: string; name: string; type: string; key: boolean }>(
    `SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
            a.attnum = ANY (i.indkey) AS key
       FROM pg_class c
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
      WHERE c.relnamespace = $1::regnamespace
      ORDER BY c.relname, a.attnum`,
    [quoted(schema)],
  );
  return new Map(
    [...Map.groupBy(rows, ({ table }) => table)].map(([name, columns]) => {
      const key = columns.filter((column) => column.key);
      const others = columns.filter((column) => !column.key);
      const statements = statementsOf(`${quoted(schema)}.${quoted(name)}`, key, others);
      return [name, { name, key, others, names: new Set(columns.map((column) => column.name)), statements }];
    }),
  );
}

/** Rows travel as one JSON text: measured against one array per column, it is cheaper for both sides, with one row or thousands. */
function statementsOf(target: string, key: readonly Column[], others: readonly Column[]): Table['statements'] {
  const names = (columns: readonly Column[], prefix = '') =>
    columns.map(({ name }) => prefix + quoted(name)).join(', ');
  const given = (columns: readonly Column[]) =>
    `json_to_recordset($1::json) AS given(${columns.map(({ name, type }) => `${quoted(name)} ${type}`).join(', ')})`;
  const all = [...key, ...others];
  const replaced = others.map(({ name }) => `${quoted(name)} = excluded.${quoted(name)}`).join(', ');
  const sums = others.map(({ name }) => `sum(${quoted(name)})`).join(', ');
  const added = others
    .map(({ name }) => `${quoted(name)} = held.${quoted(name)} + excluded.${quoted(name)}`)
    .join(', ');
  const same = key.map(({ name }) => `held.${quoted(name)} = given.${quoted(name)}`).join(' AND ');
  return {
    upsert: `INSERT INTO ${target} (${names(all)}) SELECT ${names(all)} FROM ${given(all)}
             ON CONFLICT (${names(key)}) DO UPDATE SET ${replaced}`,
    remove: `DELETE FROM ${target} AS held USING ${given(key)} WHERE ${same}`,
    add: `INSERT INTO ${target} AS held (${names(all)}) SELECT ${names(key)}, ${sums} FROM ${given(all)} GROUP BY ${names(key)}
          ON CONFLICT (${names(key)}) DO UPDATE SET ${added}`,
  };
}

/** @returns the tables that were touched */
export async function applyChanges(
  sql: Sql,
  tables: ReadonlyMap<string, Table>,
  changes: readonly RowChange[],
): Promise<readonly string[]> {
  const byTable = Map.groupBy(changes, ({ table }) => table);
  for (const [name, ofTable] of byTable) {
    const table = tables.get(name);
    assert(table !== undefined, `no table ${name} in this generation: raise the set's version and rebuild it`);
    for (const change of ofTable) assertFits(table, rowOf(change));
    for (const [op, rows] of squash(table, ofTable)) await sql.query(table.statements[op], [jsonText(rows)]);
  }
  return [...byTable.keys()];
}

/** Without this, `json_to_recordset` would ignore a misspelt field and a removal without its key would remove nothing. */
function assertFits(table: Table, row: Row): void {
  for (const field in row)
    assert(table.names.has(field), `${table.name} has no column ${field}: correct the projection`);
  for (const { name } of table.key) assert(row[name] !== undefined, `a row of ${table.name} needs its key ${name}`);
}

/** Keeps the last change of each key. Additions all stay: the statement sums them up. */
function squash(table: Table, changes: readonly RowChange[]): ReadonlyMap<RowChange['op'], readonly Row[]> {
  const added = changes.filter(({ op }) => op === 'add');
  assert(added.length === 0 || added.length === changes.length, `${table.name} is either summed up or replaced`);
  const last = new Map<string, RowChange>();
  for (const change of changes) {
    if (change.op === 'add') continue;
    last.set(keyOf(table, rowOf(change)), change);
  }
  const kept = added.length > 0 ? added : [...last.values()];
  return new Map([...Map.groupBy(kept, ({ op }) => op)].map(([op, ofOp]) => [op, ofOp.map(rowOf)]));
}

const rowOf = (change: RowChange): Row => (change.op === 'remove' ? change.key : change.row);

function keyOf(table: Table, row: Row): string {
  if (table.key.length === 1) return String(row[table.key[0]?.name ?? '']);
  return JSON.stringify(table.key.map(({ name }) => row[name]));
}

/** Escapes that JSON allows and Postgres text cannot hold: U+0000 and halves of surrogate pairs, not preceded by an escaped backslash. */
const unstorable = /(?<=(?:^|[^\\])(?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

/** One bad character in a customer's text must not stop every payout: it becomes U+FFFD. */
export function jsonText(rows: readonly Row[]): string {
  const text = JSON.stringify(rows);
  return text.includes('\\u') ? text.replace(unstorable, '\ufffd') : text;
}
