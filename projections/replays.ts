/** Read models as of a moment, in a separate schema: their tables, and one row with their progress. */
import { type AsOf, asOfText } from '../domain/asOf.ts';
import type { Instant } from '../domain/time.ts';
import type { EventBatch } from './commit.ts';
import { FenceLost, type Generation, inSchema, type SetDdl } from './generations.ts';
import { projectionSets } from './sets.ts';
import { quoted, type Sql, type SqlDatabase } from './sql.ts';

/** The schema is not one that a replay may fill, continue or drop. */
export class NoReplay extends Error {
  override readonly name = 'NoReplay';
}

export interface Replay extends Generation {
  /** Time of its newest event; null before the first one. */
  readonly at: Instant | null;
  readonly finished: boolean;
}

/** All sets together: one pass through the log fills them. */
export const replayedSet = {
  name: 'replay',
  version: 1,
  projections: projectionSets.flatMap(({ projections }) => projections),
  channels: {},
};

const versions = projectionSets.map(({ name, version }) => `${name} ${version}`).join(', ');
const mark = 'Read models as of a moment of the past';
const nameForm = /^[a-z][a-z0-9_]{0,39}$/;
const taken = new RegExp(
  `^(pg_.*|public|ops|information_schema|(${projectionSets.map(({ name }) => name).join('|')})(_.*)?)$`,
);

/** @throws NoReplay for a name that the service or Postgres uses */
export function checkReplayName(schema: string): void {
  if (!nameForm.test(schema) || taken.test(schema))
    throw new NoReplay(
      `"${schema}" cannot hold a replay: take a name such as audit_2026, in small letters, digits and _, that is not the service's`,
    );
}

interface Row {
  readonly versions: string;
  readonly position: bigint | null;
  readonly at: Instant | null;
  readonly events: bigint;
  readonly finished: boolean;
}

const replayOf = (schema: string, { position, at, events, finished }: Row): Replay => ({
  set: replayedSet.name,
  number: 0,
  schema,
  status: 'building',
  position,
  eventId: null,
  applied: null,
  events,
  at,
  finished,
});

const lock = (tx: Sql, schema: string) =>
  tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`replay:${schema}`]);

const rowOf = (sql: Sql, schema: string) =>
  sql.query<Row>(
    `SELECT versions, position, at, events, finished_at IS NOT NULL AS finished FROM ${quoted(schema)}.replay`,
  );

/**
 * Opens the schema or creates it; continues an interrupted replay, or a finished one of an earlier moment.
 * @throws NoReplay if the schema is not a replay's, of another version, or later than the moment
 */
export async function openReplay(db: SqlDatabase, schema: string, until: AsOf | null, ddl: SetDdl): Promise<Replay> {
  checkReplayName(schema);
  return db.transaction(async (tx) => {
    await lock(tx, schema);
    if (!(await exists(tx, schema))) await make(tx, schema, ddl);
    const [row] = await rowOf(tx, schema);
    if (!row) throw new NoReplay(`schema ${schema} says nothing of how far it is: drop it (--drop ${schema})`);
    if (row.versions !== versions)
      throw new NoReplay(
        `schema ${schema} was filled by another version (${row.versions}): drop it (--drop ${schema})`,
      );
    if (isBehind(until, row))
      throw new NoReplay(
        `schema ${schema} holds what came up to ${row.at}, position ${row.position}: drop it (--drop ${schema}), a replay does not go back`,
      );
    await tx.query(`UPDATE ${quoted(schema)}.replay SET until = $1`, [until && asOfText(until)]);
    return replayOf(schema, row);
  });
}

function isBehind(until: AsOf | null, { position, at }: Row): boolean {
  if (until === null || position === null) return false;
  return 'position' in until ? until.position < position : at !== null && until.time < at;
}

/** @throws NoReplay for a schema that is not a replay's */
async function exists(tx: Sql, schema: string): Promise<boolean> {
  const [found] = await tx.query<{ comment: string | null; checkpoint: string | null }>(
    `SELECT obj_description(oid, 'pg_namespace') AS comment, to_regclass($2)::text AS checkpoint
       FROM pg_namespace WHERE nspname = $1`,
    [schema, `${quoted(schema)}.replay`],
  );
  if (!found) return false;
  if (found.checkpoint === null || found.comment?.startsWith(mark) !== true)
    throw new NoReplay(`schema ${schema} is no replay: nothing of it is touched; take another name`);
  return true;
}

async function make(tx: Sql, schema: string, ddl: SetDdl): Promise<void> {
  await tx.query(`CREATE SCHEMA ${quoted(schema)}`);
  await tx.query(`COMMENT ON SCHEMA ${quoted(schema)} IS '${mark}: being filled'`);
  await inSchema(tx, { schema });
  await tx.query(ddl.tables);
  await tx.query(`CREATE TABLE replay (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    until text, position bigint, at timestamptz, events bigint NOT NULL DEFAULT 0, versions text NOT NULL, finished_at timestamptz)`);
  await tx.query(`COMMENT ON TABLE replay IS 'One row: as of when these tables are.'`);
  for (const [column, about] of Object.entries(columns))
    await tx.query(`COMMENT ON COLUMN replay.${column} IS '${about}'`);
  await tx.query('INSERT INTO replay (versions) VALUES ($1)', [versions]);
}

const columns = {
  until: 'What was asked for: a time, or a position in the log; null for all there was.',
  position: 'All events of the log up to this position are in these tables, and none behind it.',
  at: 'When the newest of these events was written.',
  events: 'How many they are.',
  versions: 'The versions of the read models.',
  finished_at: 'When it was filled; null while it is not whole.',
};

/** Moves the checkpoint as the first statement of the batch's transaction. @throws FenceLost if another replay fills the same schema */
export async function advanceReplay(tx: Sql, from: Generation, { events, position }: EventBatch): Promise<Replay> {
  const [row] = await tx.query<Row>(
    `UPDATE ${quoted(from.schema)}.replay SET position = $1, events = events + $2, at = coalesce($3, at), finished_at = NULL
      WHERE position IS NOT DISTINCT FROM $4
      RETURNING versions, position, at, events, false AS finished`,
    [position, events.length, events.at(-1)?.metadata.at ?? null, from.position],
  );
  if (!row) throw new FenceLost(from);
  return replayOf(from.schema, row);
}

/** Records in the schema which moment it holds. */
export async function finishReplay(
  db: SqlDatabase,
  { schema }: Pick<Replay, 'schema'>,
  indexes: string,
): Promise<Replay> {
  return await db.transaction(async (tx) => {
    await lock(tx, schema);
    await inSchema(tx, { schema });
    await tx.query(indexes);
    const [row] = await tx.query<Row>(
      `UPDATE replay SET finished_at = now() RETURNING versions, position, at, events, true AS finished`,
    );
    if (!row) throw new NoReplay(`schema ${schema} was dropped meanwhile`);
    const said = `${mark}: position ${row.position ?? 'none'}, ${row.at ?? 'before the first event'}. npm run replay -- --drop ${schema}`;
    await tx.query(`COMMENT ON SCHEMA ${quoted(schema)} IS '${said}'`);
    return replayOf(schema, row);
  });
}

/** @returns true if there was one. @throws NoReplay for a schema that is not a replay's */
export async function dropReplay(db: SqlDatabase, schema: string): Promise<boolean> {
  checkReplayName(schema);
  return db.transaction(async (tx) => {
    await lock(tx, schema);
    if (!(await exists(tx, schema))) return false;
    await tx.query(`DROP SCHEMA ${quoted(schema)} CASCADE`);
    return true;
  });
}
