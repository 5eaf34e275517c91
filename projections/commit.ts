/** Commits batches of events to one generation: rows and checkpoint together, or nothing. */
import { placeOf, type StoredEvent } from '../domain/decider.ts';
import { applyChanges, type Table, type Touched } from './apply.ts';
import type { Fold } from './fold.ts';
import { advance, type Generation } from './generations.ts';
import type { MovedBy, Projection, ProjectionSet, RowChange, SeenEventOf } from './projection.ts';
import type { Sql, SqlDatabase } from './sql.ts';

/** An event that cannot be projected. It is never skipped: its set stops until the program is fixed. */
export class PoisonEvent extends Error {
  override readonly name = 'PoisonEvent';
  readonly stored: Pick<StoredEvent, 'stream' | 'revision' | 'position' | 'type'>;
  constructor({ stream, revision, position, type }: StoredEvent, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`${type} (${stream}, revision ${revision}) cannot be projected: ${reason}`, { cause });
    this.stored = { stream, revision, position, type };
  }
}

export interface CommitDeps {
  readonly db: SqlDatabase;
  readonly set: ProjectionSet;
  readonly tables: ReadonlyMap<string, Table>;
  readonly fold: Fold;
  /** Moves the checkpoint. Default: the generation's. @throws FenceLost */
  readonly move?: (tx: Sql, from: Generation, batch: EventBatch) => Promise<Generation>;
  /** Called at points where a crash must neither lose nor repeat anything. */
  readonly crash: (point: string) => void | Promise<void>;
}

export interface EventBatch {
  readonly events: readonly StoredEvent[];
  readonly position: bigint;
  /** Id of the event at the position, if it is none of these events. */
  readonly eventId?: string;
  /** True if the log's end is reached. */
  readonly live?: boolean;
}

/**
 * Projects a batch and commits it on top of `from`.
 *
 * A crash before the commit rolls rows and checkpoint back, and the batch is read again. After the commit both are stored, and the
 * subscription continues after the batch. If a commit's answer is lost, the checkpoint says on the next read whether it happened.
 *
 * @returns the generation afterwards
 * @throws PoisonEvent, FenceLost, Unavailable
 */
export async function commitBatch(deps: CommitDeps, from: Generation, batch: EventBatch): Promise<Generation> {
  const { db, set, fold, tables, crash, move = moveGeneration } = deps;
  try {
    await fold.prepare(batch.events);
    const changes = project(deps, batch.events);
    const next = await db.transaction(
      async (tx) => {
        const moving = move(tx, from, batch);
        moving.catch(() => {});
        await crash(`projections.${set.name}.beforeRows`);
        const applying = applyChanges(tx, tables, changes);
        applying.catch(() => {});
        // In this order: a runner that lost the fence may find the tables dropped, which is no fault of an event.
        const advanced = await moving;
        const touched = await applying;
        if (from.status === 'active') await notify(tx, set, touched, batch.position);
        await crash(`projections.${set.name}.beforeCommit`);
        return advanced;
      },
      // A server crash loses rows and checkpoint together, and the log restores them.
      { durable: false },
    );
    await crash(`projections.${set.name}.afterCommit`);
    fold.keep(batch.live === true);
    return next;
  } catch (error) {
    fold.drop();
    throw error;
  }
}

function moveGeneration(tx: Sql, from: Generation, { position, events, eventId }: EventBatch): Promise<Generation> {
  const last = events.at(-1);
  const applied = last ? placeOf(last) : from.applied;
  const idThere = last?.position === position ? last.id : (eventId ?? null);
  return advance(tx, from, { position, eventId: idThere, applied }, events.length);
}

/** Projections of events and records get each event; those of states get one move per stream for the whole batch. */
export function project(
  { set, fold }: Pick<CommitDeps, 'set' | 'fold'>,
  events: readonly StoredEvent[],
): readonly RowChange[] {
  const byKind = Map.groupBy(set.projections, (projection) => projection.of);
  const changes: RowChange[] = [];
  const moves = new Map<string, MovedBy>();
  const take = (stored: StoredEvent, of: Projection['of'], moved: MovedBy) =>
    orPoison(stored, () => {
      for (const projection of byKind.get(of) ?? []) changes.push(...projection.project(moved as SeenEventOf));
    });
  for (const stored of events) {
    const seen = orPoison(stored, () => fold.see(stored));
    if (!seen) continue;
    take(stored, 'records', seen);
    if (!seen.event) continue;
    take(stored, 'events', seen);
    const { before } = moves.get(stored.stream) ?? seen;
    moves.set(stored.stream, { ...seen, before } as MovedBy);
  }
  for (const moved of moves.values()) take(moved.stored, 'states', moved);
  return changes;
}

function orPoison<T>(stored: StoredEvent, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw new PoisonEvent(stored, error);
  }
}

/** Channel for each commit of a live set, as `<set> <position>`. */
export const projectedChannel = 'projected';

/** Notifies all channels: a rebuilt generation may have changes without a notification. */
export async function notifyAll(tx: Sql, { channels }: ProjectionSet): Promise<void> {
  const all = [...new Set(Object.values(channels))];
  await tx.query(`SELECT pg_notify(channel, '') FROM unnest($1::text[]) AS told(channel)`, [all]);
}

/** Maximum messages per channel and commit; beyond it one empty message means: query again. */
const messagesMax = 100;

async function notify(tx: Sql, set: ProjectionSet, touched: Touched, position: bigint): Promise<void> {
  const byChannel = Map.groupBy(touched.keys(), (table) => set.channels[table]);
  const messages = [...byChannel].flatMap(([channel, tables]) => {
    if (channel === undefined) return [];
    const numbered = tables.flatMap((table) => touched.get(table) ?? []);
    const payloads = numbered.length > 0 && numbered.length <= messagesMax ? numbered : [''];
    return payloads.map((payload) => [channel, payload]);
  });
  messages.push([projectedChannel, `${set.name} ${position}`]);
  await tx.query(
    'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS told(channel, payload)',
    [messages.map(([channel]) => channel), messages.map(([, payload]) => payload)],
    { prepared: true },
  );
}
