/** Whether tables, and the public views that show them, are what the migrations make: else they could tell what no row holds. */
import type { Table } from '../../projections/apply.ts';
import { quoted, type Sql } from '../../projections/sql.ts';
import { type Finding, findingAt } from './findings.ts';

export interface TablesAudit {
  readonly findings: readonly Finding[];
  /** As they were made. The others are not read: reading a view can do anything. */
  readonly good: readonly Table[];
}

export interface TablesDeps {
  /** Whoever reads sees only `pg_catalog` without its name: definitions name every other schema. */
  readonly live: Sql;
  readonly own: Sql;
  readonly schemas: { readonly live: string; readonly own: string };
  readonly tables: ReadonlyMap<string, Table>;
}

const prefix = 'shown_';

/** Beside each table a view like that which the service makes in `public`. */
export async function showTables(sql: Sql, schema: string, names: Iterable<string>): Promise<void> {
  for (const name of names)
    await sql.query(
      `CREATE VIEW ${quoted(schema)}.${quoted(prefix + name)} AS SELECT * FROM ${quoted(schema)}.${quoted(name)}`,
    );
}

export async function auditTables({ live, own, schemas, tables }: TablesDeps): Promise<TablesAudit> {
  const due = await shapesIn(own, schemas.own);
  const [there, shown] = [await shapesIn(live, schemas.live), await shapesIn(live, 'public')];
  const findings: Finding[] = [];
  const good: Table[] = [];
  const tell = (table: string, message: string): void =>
    void findings.push(findingAt('tableWrong', { stream: table, revision: null, id: null }, message));
  for (const [name, table] of tables) {
    const [wanted, held] = [due.get(name), there.get(name)];
    if (wanted && wanted === held) good.push(table);
    else tell(name, `it is ${held ?? 'gone'}; the migrations make ${wanted}. Its rows were not compared`);
    const view = due.get(prefix + name)?.replaceAll(`${schemas.own}.`, `${schemas.live}.`);
    if (shown.get(name) !== view)
      tell(`public.${name}`, `it is ${shown.get(name) ?? 'gone'}; the service makes ${view}`);
  }
  for (const name of there.keys()) if (!tables.has(name)) tell(name, 'no migration makes it');
  return { findings, good };
}

/** Of what can be read like a table: its kind, columns, key, definition, and whatever may come between a statement and its rows. */
async function shapesIn(sql: Sql, schema: string): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.query<{ name: string; shape: string }>(
    `SELECT c.relname AS name, jsonb_build_object(
              'kind', c.relkind,
              'columns', (SELECT jsonb_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum)
                            FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
              'key', (SELECT i.indkey::text FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary),
              'policies', c.relrowsecurity,
              'triggers', (SELECT jsonb_agg(t.tgname) FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal),
              'rules', (SELECT jsonb_agg(r.rulename) FROM pg_rewrite r WHERE r.ev_class = c.oid AND r.rulename <> '_RETURN'),
              'heirs', EXISTS (SELECT 1 FROM pg_inherits h WHERE h.inhparent = c.oid),
              'shows', CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END)::text AS shape
       FROM pg_class c
      WHERE c.relnamespace = to_regnamespace($1) AND c.relkind IN ('r', 'v', 'm', 'f', 'p')`,
    [quoted(schema)],
  );
  return new Map(rows.map(({ name, shape }) => [name, shape]));
}
