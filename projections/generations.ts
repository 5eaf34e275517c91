/** Generations of a projection set: each has its own schema and checkpoint; the public views use one of them. */
import type { LogPlace } from '../domain/decider.ts';
import type { ProjectionSet } from './projection.ts';
import { quoted, type Sql, type SqlDatabase } from './sql.ts';

export interface Generation {
  readonly set: string;
  readonly number: number;
  readonly schema: string;
  readonly status: 'building' | 'active';
  /** Log position that was read; null before the first event. */
  readonly position: bigint | null;
  /** Id of the event at the position, which may belong to another application; null in a checkpoint of an older version. */
  readonly eventId: string | null;
  /** Last event in the rows; null before it, and in a checkpoint of an older version. */
  readonly applied: LogPlace | null;
  readonly events: bigint;
}

/** DDL of a set's tables and indexes, run in a generation's schema. */
export interface SetDdl {
  readonly tables: string;
  readonly indexes: string;
}

/** Another version filled the rows: this version must rebuild them first. */
export class ProjectionOutdated extends Error {
  override readonly name = 'ProjectionOutdated';
  constructor(set: string, filled: number, code: number) {
    super(
      `read models "${set}" are of version ${filled}, this program's are ${code}: run npm run rebuild -- --set ${set}`,
    );
  }
}

/** Another runner moved the checkpoint or replaced the generation: nothing of the batch was written. */
export class FenceLost extends Error {
  override readonly name = 'FenceLost';
  constructor({ set, number }: Generation) {
    super(`another runner moved read models "${set}" (generation ${number}): read the checkpoint again`);
  }
}

interface Row {
  readonly generation: number;
  readonly version: number;
  readonly status: Generation['status'];
  readonly position: bigint | null;
  readonly event_id: string | null;
  readonly applied_position: bigint | null;
  readonly applied_id: string | null;
  readonly events: bigint;
}

const columns = 'generation, version, status, position, event_id, applied_position, applied_id, events';

const generationOf = (set: string, row: Row): Generation => ({
  set,
  number: row.generation,
  schema: `${set}_${row.generation}`,
  status: row.status,
  position: row.position,
  eventId: row.event_id,
  applied:
    row.applied_position === null || row.applied_id === null
      ? null
      : { position: row.applied_position, eventId: row.applied_id },
  events: row.events,
});

const rowsOf = (sql: Sql, set: string, status: string) =>
  sql.query<Row>(
    `SELECT ${columns} FROM ops.projections WHERE set_name = $1 AND status = $2 ORDER BY generation DESC`,
    [set, status],
  );

/** Only one process at a time may create or replace generations of a set. */
const lockSet = (tx: Sql, set: string) =>
  tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [`gen:${set}`]);

/** Generation behind the public views; a set's first one is created here, empty. @throws ProjectionOutdated */
export function openActive(db: SqlDatabase, set: ProjectionSet, ddl: SetDdl): Promise<Generation> {
  return db.transaction(async (tx) => {
    await lockSet(tx, set.name);
    const active = await readActive(tx, set);
    if (active) return active;
    const first = await addGeneration(tx, set, ddl);
    await tx.query(ddl.indexes);
    return await activate(tx, first);
  });
}

/** Generation behind the public views, without creating one; undefined before the first start. @throws ProjectionOutdated */
export async function readActive(sql: Sql, set: ProjectionSet): Promise<Generation | undefined> {
  const [active] = await rowsOf(sql, set.name, 'active');
  if (active && active.version !== set.version) throw new ProjectionOutdated(set.name, active.version, set.version);
  return active && generationOf(set.name, active);
}

/** A generation beside the active one: of an interrupted rebuild, or a new one. */
export function openBuilding(db: SqlDatabase, set: ProjectionSet, ddl: SetDdl): Promise<Generation> {
  return db.transaction(async (tx) => {
    await lockSet(tx, set.name);
    for (const left of await rowsOf(tx, set.name, 'building')) {
      if (left.version === set.version) return generationOf(set.name, left);
      await dropGeneration(tx, generationOf(set.name, left));
    }
    return await addGeneration(tx, set, ddl);
  });
}

async function addGeneration(tx: Sql, set: ProjectionSet, ddl: SetDdl): Promise<Generation> {
  const [row] = await tx.query<Row>(
    `INSERT INTO ops.projections (set_name, generation, version, status)
     SELECT $1, 1 + coalesce(max(generation), 0), $2, 'building' FROM ops.projections WHERE set_name = $1
     RETURNING ${columns}`,
    [set.name, set.version],
  );
  if (!row) throw new Error('INSERT … RETURNING answered no row');
  const generation = generationOf(set.name, row);
  await tx.query(`CREATE SCHEMA ${quoted(generation.schema)}`);
  await inSchema(tx, generation);
  await tx.query(ddl.tables);
  return generation;
}

/** Makes unqualified names refer to this generation's tables until the transaction ends. */
export const inSchema = (tx: Sql, { schema }: Pick<Generation, 'schema'>) =>
  tx.query(`SET LOCAL search_path = ${quoted(schema)}`);

/** Checkpoint after a batch. */
export type Checkpoint = Pick<Generation, 'eventId' | 'applied'> & { readonly position: bigint };

/**
 * Moves the checkpoint as the first statement of the batch's transaction. The row lock lets one runner through at a time; the
 * condition, only the runner that knows the current position.
 * @throws FenceLost
 */
export async function advance(tx: Sql, from: Generation, to: Checkpoint, events: number): Promise<Generation> {
  const { position, eventId, applied } = to;
  const moved = await tx.query(
    `UPDATE ops.projections
        SET position = $1, event_id = $2, applied_position = $3, applied_id = $4, events = events + $5, stopped = NULL, updated_at = now()
      WHERE set_name = $6 AND generation = $7 AND status = $8 AND position IS NOT DISTINCT FROM $9
      RETURNING 1`,
    [
      position,
      eventId,
      applied?.position ?? null,
      applied?.eventId ?? null,
      events,
      from.set,
      from.number,
      from.status,
      from.position,
    ],
    { prepared: true },
  );
  if (moved.length === 0) throw new FenceLost(from);
  return { ...from, ...to, events: from.events + BigInt(events) };
}

/** Writes the reason of a set's stop into its checkpoint; readiness reports it. */
export const markStopped = (sql: Sql, { set, number }: Generation, reason: string) =>
  sql.query('UPDATE ops.projections SET stopped = $1, updated_at = now() WHERE set_name = $2 AND generation = $3', [
    reason,
    set,
    number,
  ]);

/** Clears the reason at a start: the cause is fixed, or stops the set again. */
export const clearStopped = (sql: Sql, { set, number }: Generation) =>
  sql.query(
    'UPDATE ops.projections SET stopped = NULL WHERE set_name = $1 AND generation = $2 AND stopped IS NOT NULL',
    [set, number],
  );

/** Locks the active generation's checkpoint: its runner cannot commit until the transaction ends. */
export async function lockActive(tx: Sql, set: string): Promise<{ readonly events: bigint } | undefined> {
  const [active] = await tx.query<{ events: bigint }>(
    `SELECT events FROM ops.projections WHERE set_name = $1 AND status = 'active' FOR UPDATE`,
    [set],
  );
  return active;
}

/** Switches the public views to this generation. Retires the former one, whose runner loses the fence. */
export async function activate(tx: Sql, generation: Generation): Promise<Generation> {
  const { set, number, schema } = generation;
  await tx.query(`UPDATE ops.projections SET status = 'retired' WHERE set_name = $1 AND status = 'active'`, [set]);
  await tx.query(`UPDATE ops.projections SET status = 'active' WHERE set_name = $1 AND generation = $2`, [set, number]);
  await tx.query('SELECT ops.show_tables($1)', [schema]);
  return { ...generation, status: 'active' };
}

/** Drops generations that no view uses, once their last readers have finished. */
export const dropRetired = (db: SqlDatabase, set: string): Promise<void> => dropAll(db, set, 'retired');

/** Drops the generation of an interrupted rebuild, which cannot be continued. */
export const dropBuilding = (db: SqlDatabase, set: string): Promise<void> => dropAll(db, set, 'building');

const dropAll = (db: SqlDatabase, set: string, status: 'retired' | 'building'): Promise<void> =>
  db.transaction(async (tx) => {
    await lockSet(tx, set);
    for (const row of await rowsOf(tx, set, status)) await dropGeneration(tx, generationOf(set, row));
  });

async function dropGeneration(tx: Sql, { set, number, schema }: Generation): Promise<void> {
  await tx.query(`DROP SCHEMA IF EXISTS ${quoted(schema)} CASCADE`);
  await tx.query('DELETE FROM ops.projections WHERE set_name = $1 AND generation = $2', [set, number]);
}
