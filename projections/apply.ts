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
  /** Names of all columns. */
  readonly names: ReadonlySet<string>;
  readonly statements: Readonly<Record<RowChange['op'] | 'sweep', string>>;
}

/** @param schema of one generation; a dropped one has no tables */
export async function describeTables(sql: Sql, schema: string): Promise<ReadonlyMap<string, Table>> {
  const rows = await sql.query<{ table: string; name: string; type: string; key: boolean }>(
    `SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
            a.attnum = ANY (i.indkey) AS key
       FROM pg_class c
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
      WHERE c.relnamespace = to_regnamespace($1)
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

/** Rows travel as one JSON text: as measured, this is cheaper for both sides than one array per column, for one row or thousands. */
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
             ON CONFLICT (${names(key)}) DO ${others.length === 0 ? 'NOTHING' : `UPDATE SET ${replaced}`}`,
    remove: `DELETE FROM ${target} AS held USING ${given(key)} WHERE ${same}`,
    add: `INSERT INTO ${target} AS held (${names(all)}) SELECT ${names(key)}, ${sums} FROM ${given(all)} GROUP BY ${names(key)}
          ON CONFLICT (${names(key)}) DO UPDATE SET ${added}`,
    // Deletes rows whose sums are zero: otherwise a row would depend on how its events were batched.
    sweep: `DELETE FROM ${target} AS held USING ${given(key)} WHERE ${same} AND ${others.map(({ name }) => `held.${quoted(name)} = 0`).join(' AND ')}`,
    number: numbering(target, key, others),
  };
}

/**
 * Continues each group's numbers after one look-up per group. The checkpoint's row is locked, so nobody else numbers rows meanwhile.
 * Returns the groups with their newest numbers.
 */
function numbering(target: string, key: readonly Column[], others: readonly Column[]): string {
  const group = key.slice(0, -1);
  const list = (columns: readonly Column[], prefix = '') => columns.map(({ name }) => prefix + quoted(name)).join(', ');
  const number = quoted(key.at(-1)?.name ?? '');
  const given = [...group, ...others];
  const typed = given.map(({ name, type }) => `${quoted(name)} ${type}`).join(', ');
  const same = group.map(({ name }) => `held.${quoted(name)} = groups.${quoted(name)}`).join(' AND ');
  return `WITH given AS (SELECT * FROM ROWS FROM (json_to_recordset($1::json) AS (${typed})) WITH ORDINALITY AS given(${list(given)}, nth)),
      counted AS MATERIALIZED (SELECT groups.*, coalesce((SELECT max(held.${number}) FROM ${target} AS held WHERE ${same}), 0) AS newest
                    FROM (SELECT DISTINCT ${list(group)} FROM given) AS groups),
      numbered AS (INSERT INTO ${target} (${list(group)}, ${number}, ${list(others)})
                   SELECT ${list(group)}, newest + row_number() OVER (PARTITION BY ${list(group)} ORDER BY nth), ${list(others)}
                     FROM given JOIN counted USING (${list(group)})
                   RETURNING ${list(group)}, ${number})
    SELECT concat_ws(' ', ${list(group)}, max(${number})) AS news FROM numbered GROUP BY ${list(group)}`;
}

/** Changed tables; for numbered rows with `<group> <newest number>` of each group that grew. */
export type Touched = ReadonlyMap<string, readonly string[]>;

/** Sends all statements at once. */
export async function applyChanges(
  sql: Sql,
  tables: ReadonlyMap<string, Table>,
  changes: readonly RowChange[],
): Promise<Touched> {
  const byTable = [...Map.groupBy(changes, ({ table }) => table)];
  const squashed = byTable.map(([name, ofTable]) => {
    const table = tables.get(name);
    assert(table !== undefined, `no table ${name} in this generation: raise the set's version and rebuild it`);
    for (const change of ofTable) assertFits(table, change);
    return { table, byOp: [...squash(table, ofTable)] };
  });
  const touched = squashed.map(async ({ table, byOp }) => {
    const news = await Promise.all(byOp.map(([op, rows]) => applyRows(sql, table, op, rows)));
    return [table.name, news.flat()] as const;
  });
  return new Map(await Promise.all(touched));
}

/**
 * These changes find existing rows by the unique index of their key at any table size. Others are planned each time: a plan that was made
 * for an empty table would read all of it.
 */
const goesByUniqueIndex: ReadonlySet<RowChange['op']> = new Set(['upsert', 'add']);

/** @returns `<group> <newest number>` for numbered rows */
async function applyRows(
  sql: Sql,
  table: Table,
  op: RowChange['op'],
  rows: readonly Row[],
): Promise<readonly string[]> {
  const text = jsonText(rows);
  const how = { prepared: goesByUniqueIndex.has(op) };
  const numbered = await sql.query<{ news: string }>(table.statements[op], [text], how);
  if (op === 'add' && rows.some(takesAway)) await sql.query(table.statements.sweep, [text]);
  return numbered.map(({ news }) => news);
}

/** `json_to_recordset` would ignore a misspelt field, and a removal without its key would remove nothing. */
function assertFits(table: Table, change: RowChange): void {
  const row = rowOf(change);
  for (const field in row)
    assert(table.names.has(field), `${table.name} has no column ${field}: correct the projection`);
  const key = change.op === 'number' ? table.key.slice(0, -1) : table.key;
  assert(key.length > 0, `${table.name} has no key to number rows by`);
  for (const { name } of key) assert(row[name] !== undefined, `a row of ${table.name} needs its key ${name}`);
}

/** Keeps the last change of each key. Keeps all additions, which the statement sums up, and all numbered rows. */
function squash(table: Table, changes: readonly RowChange[]): ReadonlyMap<RowChange['op'], readonly Row[]> {
  const whole = changes.filter(({ op }) => op === 'add' || op === 'number');
  const oneKind = whole.length === changes.length && new Set(whole.map(({ op }) => op)).size === 1;
  assert(whole.length === 0 || oneKind, `${table.name} is either summed up, or numbered, or replaced`);
  const last = new Map<string, RowChange>();
  for (const change of changes) {
    if (whole.length > 0) break;
    last.set(keyOf(table, rowOf(change)), change);
  }
  const kept = whole.length > 0 ? whole : [...last.values()];
  return new Map([...Map.groupBy(kept, ({ op }) => op)].map(([op, ofOp]) => [op, ofOp.map(rowOf)]));
}

const takesAway = (row: Row): boolean => Object.values(row).some((value) => String(value).startsWith('-'));

const rowOf = (change: RowChange): Row => (change.op === 'remove' ? change.key : change.row);

function keyOf(table: Table, row: Row): string {
  if (table.key.length === 1) return String(row[table.key[0]?.name ?? '']);
  return JSON.stringify(table.key.map(({ name }) => row[name]));
}

/** Escapes that JSON allows and Postgres text cannot hold: U+0000 and lone surrogates, not preceded by an escaped backslash. */
const unstorable = /(?<=(?:^|[^\\])(?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

/** An invalid character in a customer's text becomes U+FFFD, so it cannot stop every payout. */
export function jsonText(rows: readonly Row[]): string {
  const text = JSON.stringify(rows);
  return text.includes('\\u') ? text.replace(unstorable, '\ufffd') : text;
}
