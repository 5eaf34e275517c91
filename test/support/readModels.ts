/** Read models filled by hand: a generation, its committer, its rows. */
import { eventCodec, streamPrefixes } from '../../commands/codec.ts';
import type { CrashPoint, EventStore } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { activate, type Generation, openActive, openBuilding } from '../../projections/generations.ts';
import type { ProjectionSet } from '../../projections/projection.ts';
import type { Sql } from '../../projections/sql.ts';
import type { Database } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { committer } from '../../src/readmodels/projections.ts';

/** Everything in the log by now. */
export async function wholeLog(store: EventStore): Promise<readonly StoredEvent[]> {
  const stop = new AbortController();
  const events: StoredEvent[] = [];
  for await (const batch of store.all({ after: null, prefixes: streamPrefixes, signal: stop.signal })) {
    events.push(...batch.events);
    if (batch.live) break;
  }
  stop.abort();
  return events;
}

/** Activates a new generation and fills it, in batches of these sizes, each by a new runner. */
export async function fill(
  database: Database,
  store: EventStore,
  set: ProjectionSet,
  batches: readonly (readonly StoredEvent[])[],
  crash: CrashPoint = () => {},
): Promise<Generation> {
  const ddl = await ddlOf(set.name);
  await openActive(database, set, ddl);
  const building = await openBuilding(database, set, ddl);
  let at = await database.transaction((tx) => activate(tx, building));
  for (const events of batches) at = await proceed(database, store, set, at, events, crash);
  return at;
}

/** Commits more events to a generation, by a new runner. */
export async function proceed(
  database: Database,
  store: EventStore,
  set: ProjectionSet,
  at: Generation,
  events: readonly StoredEvent[],
  crash: CrashPoint = () => {},
): Promise<Generation> {
  const commit = await committer({ database, store, set, codec: eventCodec, crash, signal: never }, at);
  const last = events.at(-1);
  return last ? commit(at, { events, position: last.position }) : at;
}

const never = new AbortController().signal;

/** Every row of every table of a generation, in a fixed order. */
export async function rowsOf(sql: Sql, { schema }: Generation): Promise<Readonly<Record<string, readonly object[]>>> {
  const tables = await sql.query<{ name: string }>(
    'SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = $2 ORDER BY 1',
    [schema, 'r'],
  );
  const rows: Record<string, readonly object[]> = {};
  for (const { name } of tables) {
    rows[name] = await sql.query<object>(`SELECT * FROM ${schema}.${name} AS t ORDER BY t::text COLLATE "C"`);
  }
  return rows;
}
