/**
 * Compares read models with the log: the same projections fill tables of a separate schema, up to the live tables' position, and every row
 * is compared. The live tables are read in one snapshot; nothing of theirs is locked or written.
 */
import { eventCodec, streamPrefixes } from '../../commands/codec.ts';
import { readStream } from '../../commands/handle.ts';
import type { EventStore } from '../../commands/ports.ts';
import type { Instant } from '../../domain/time.ts';
import { applyChanges, describeTables, type Table } from '../../projections/apply.ts';
import { project } from '../../projections/commit.ts';
import { createFold, introductionsIn, introductionsStream } from '../../projections/fold.ts';
import type { ProjectionSet } from '../../projections/projection.ts';
import { quoted, type Sql } from '../../projections/sql.ts';
import type { Database } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { follow } from '../../src/readmodels/projections.ts';
import { createCollector, type Finding, findingAt } from './findings.ts';

export interface TablesAudit {
  readonly findings: readonly Finding[];
  /** Unchanged tables. Others are not read: reading a view can execute anything. */
  readonly good: readonly Table[];
}

export interface TablesDeps {
  /** Readers see only `pg_catalog` without a schema name: definitions name every other schema. */
  readonly live: Sql;
  readonly own: Sql;
  readonly schemas: { readonly live: string; readonly own: string };
  readonly tables: ReadonlyMap<string, Table>;
}

const prefix = 'shown_';

/** Creates a view for each table, like the service's in `public`. */
export async function showTables(sql: Sql, schema: string, names: Iterable<string>): Promise<void> {
  for (const name of names)
    await sql.query(
      `CREATE VIEW ${quoted(schema)}.${quoted(prefix + name)} AS SELECT * FROM ${quoted(schema)}.${quoted(name)}`,
    );
}

/** Checks that tables, and the public views over them, match the migrations. A changed view could return rows that do not exist. */
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

/** For anything readable like a table: its kind, columns, key, definition, and anything that may change a statement's rows. */
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

export interface ReadModelsDeps {
  /** The service's own view. */
  readonly store: Pick<EventStore, 'all' | 'read'>;
  /** Its statements may take long. */
  readonly database: Database;
  readonly set: ProjectionSet;
  /** Earlier events are in the rows by now. */
  readonly settledBefore: Instant;
  readonly signal: AbortSignal;
  readonly progress?: (part: 'filling' | 'comparing', done: number) => void;
}

export interface ReadModelsReport {
  readonly rows: number;
  readonly tables: number;
  readonly findings: readonly Finding[];
  readonly found: number;
  /** Number of findings of each code and table. */
  readonly kinds: Readonly<{ [kind: string]: number }>;
}

const batch = { eventsMin: 5_000, eventsMax: 10_000 } as const;
const rowsAtOnce = 2_000;

interface Live {
  readonly schema: string;
  readonly position: bigint | null;
  readonly version: number;
}

/** Crash anywhere: the schema stays, and the next audit drops it first. @throws Unavailable */
export async function auditReadModels(deps: ReadModelsDeps): Promise<ReadModelsReport> {
  const { database, set } = deps;
  const schema = `audit_${set.name}`;
  const ddl = await ddlOf(set.name);
  try {
    return await database.transaction(async (snapshot) => {
      await snapshot.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
      await snapshot.query(definitionsInFull);
      const live = await liveOf(snapshot, set);
      const tables = await database.transaction(async (tx) => {
        await tx.query(`DROP SCHEMA IF EXISTS ${quoted(schema)} CASCADE`);
        await tx.query(`CREATE SCHEMA ${quoted(schema)}`);
        await tx.query(`SET LOCAL search_path = ${quoted(schema)}`);
        await tx.query(ddl.tables);
        const made = await describeTables(tx, schema);
        await showTables(tx, schema, made.keys());
        return made;
      });
      await fill(deps, schema, live.position);
      const late = await lateness(deps, live);
      return await database.transaction((own) => compareTables(deps, { snapshot, own, live, schema, tables, late }));
    });
  } finally {
    await database.query(`DROP SCHEMA IF EXISTS ${quoted(schema)} CASCADE`);
  }
}

const definitionsInFull = 'SET LOCAL search_path = pg_catalog';

/** Rows of an older log match their own checkpoint: setting both back hides newer events. */
async function lateness(
  { store, set, settledBefore, signal }: ReadModelsDeps,
  { position }: Live,
): Promise<readonly Finding[]> {
  for await (const { events, live } of store.all({ after: position, prefixes: streamPrefixes, signal })) {
    const [next] = events;
    if (!next && !live) continue;
    if (!next || next.metadata.at >= settledBefore) return [];
    const where = { stream: set.name, revision: null, id: null };
    const what = `they hold nothing after position ${position ?? 'none'}; ${next.stream} went on at ${next.position}, ${next.metadata.at}`;
    return [findingAt('rowsOld', where, what)];
  }
  return [];
}

async function liveOf(snapshot: Sql, { name, version }: ProjectionSet): Promise<Live> {
  const [active] = await snapshot.query<{ generation: number; version: number; position: bigint | null }>(
    `SELECT generation, version, position FROM ops.projections WHERE set_name = $1 AND status = 'active'`,
    [name],
  );
  if (!active) throw new Error(`read models "${name}" do not exist yet: start the service once`);
  if (active.version !== version)
    throw new Error(
      `read models "${name}" have version ${active.version}, and this program has version ${version}: audit with the version of the service`,
    );
  return { schema: `${name}_${active.generation}`, position: active.position, version };
}

/** Uses the product's projections, because the rows must follow from them. */
async function fill(
  { store, database, set, signal, progress }: ReadModelsDeps,
  schema: string,
  until: bigint | null,
): Promise<void> {
  if (until === null) return;
  const tables = await describeTables(database, schema);
  const fold = createFold({
    read: eventCodec.read,
    introduced: introductionsIn(await readStream(store, introductionsStream), eventCodec.read),
    history: (stream, before) => readStream(store, stream, { before }),
  });
  for await (const { events, position, live } of follow(store, {
    after: null,
    prefixes: streamPrefixes,
    ...batch,
    signal,
  })) {
    const own = events.filter((event) => event.position <= until);
    await fold.prepare(own);
    const changes = project({ set, fold }, own);
    await database.transaction((tx) => applyChanges(tx, tables, changes), { durable: false });
    fold.keep(live);
    progress?.('filling', Number(position < until ? position : until) / Number(until));
    if (live || position >= until) return;
  }
  signal.throwIfAborted();
}

interface Sides {
  readonly snapshot: Sql;
  readonly own: Sql;
  readonly live: Live;
  readonly schema: string;
  readonly tables: ReadonlyMap<string, Table>;
  readonly late: readonly Finding[];
}

async function compareTables(
  { progress }: ReadModelsDeps,
  { snapshot, own, live, schema, tables, late }: Sides,
): Promise<ReadModelsReport> {
  const results = createCollector(({ code, stream }) => `${code} ${stream.split(' ', 1)[0]}`);
  let [rows, done] = [0, 0];
  await own.query(definitionsInFull);
  const schemas = { live: live.schema, own: schema };
  const { findings, good } = await auditTables({ live: snapshot, own, schemas, tables });
  for (const finding of [...late, ...findings]) results.find(finding);
  for (const table of good) {
    const due = rowsIn(own, schema, table)[Symbol.asyncIterator]();
    const there = rowsIn(snapshot, live.schema, table)[Symbol.asyncIterator]();
    let [a, b] = [await due.next(), await there.next()];
    while (!a.done || !b.done) {
      const key = a.done || (!b.done && b.value.key < a.value.key) ? b.value?.key : a.value?.key;
      const [wanted, held] = [
        !a.done && a.value.key === key ? a.value : null,
        !b.done && b.value.key === key ? b.value : null,
      ];
      rows += 1;
      const finding = differenceOf(table, wanted ?? undefined, held ?? undefined);
      if (finding) results.find(finding);
      if (wanted) a = await due.next();
      if (held) b = await there.next();
    }
    done += 1;
    progress?.('comparing', done / good.length);
  }
  return { rows, tables: tables.size, findings: results.found(), found: results.count(), kinds: results.kinds() };
}

interface RowText {
  /** Primary key as JSON. */
  readonly key: string;
  readonly row: string;
}

/** In the order of their keys, in pages. */
async function* rowsIn(sql: Sql, schema: string, { name, key }: Table): AsyncGenerator<RowText> {
  const cursor = quoted(`audit ${schema} ${name}`);
  const columns = key.map((column) => `t.${quoted(column.name)}`).join(', ');
  await sql.query(
    `DECLARE ${cursor} NO SCROLL CURSOR FOR
     SELECT jsonb_build_array(${columns})::text COLLATE "C" AS key, to_jsonb(t)::text AS row
       FROM ${quoted(schema)}.${quoted(name)} AS t ORDER BY 1`,
  );
  for (;;) {
    const rows = await sql.query<RowText>(`FETCH ${rowsAtOnce} FROM ${cursor}`);
    yield* rows;
    if (rows.length < rowsAtOnce) break;
  }
  await sql.query(`CLOSE ${cursor}`);
}

function differenceOf({ name }: Table, wanted: RowText | undefined, held: RowText | undefined): Finding | undefined {
  const where = { stream: `${name} ${(wanted ?? held)?.key}`, revision: null, id: null };
  if (!held) return findingAt('rowMissing', where, `the log makes ${wanted?.row.slice(0, 300)}`);
  if (!wanted) return findingAt('rowUnknown', where, `Postgres has ${held.row.slice(0, 300)}`);
  if (wanted.row === held.row) return undefined;
  const [due, there] = [JSON.parse(wanted.row), JSON.parse(held.row)] as [object, object];
  const fields = Object.entries(due).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify((there as { [name: string]: unknown })[field]),
  );
  const told = fields.map(
    ([field, value]) =>
      `${field} is ${JSON.stringify((there as { [name: string]: unknown })[field])}, the log makes ${JSON.stringify(value)}`,
  );
  return findingAt('rowDiffers', where, told.join('; ').slice(0, 600));
}
