/**
 * Identifies the event log by the last applied event. Positions alone cannot identify a log: the store writes its own records after the
 * last event, so a checkpoint may be after the last event, and another log may be longer than ours.
 */
import { streamPrefixes } from '../../commands/codec.ts';
import { type Clock, type EventStore, Unavailable } from '../../commands/ports.ts';
import { type LogPlace, placeOf } from '../../domain/decider.ts';
import type { Sql } from '../../projections/sql.ts';
import { notePayoutsToPause } from '../postgres/payoutWaits.ts';
import { systemClock } from '../process/system.ts';

/** The log was restored from a backup, or is another log. Nothing may run on it: read models and scans would miss its events. */
export class LogSetBack extends Error {
  override readonly name = 'LogSetBack';
  /** @param where the position, or the revision of a stream. @param found id of the event there */
  constructor(where: string, eventId: string, found: string | null) {
    super(
      `the event log has ${found === null ? 'no event' : `event ${found}`} at ${where}, but Postgres knows event ${eventId} there: ` +
        'the log was restored from a backup, or EVENTSTORE_URL names another log. ' +
        'If the log was restored, run npm run rebuild -- --log-restored before anything else (docs/operate/backup.md)',
    );
  }
}

type Log = Pick<EventStore, 'eventAt' | 'lastEvent' | 'read' | 'tail'>;

interface Options {
  readonly clock?: Pick<Clock, 'sleep'>;
  readonly signal?: AbortSignal;
}

/**
 * A leader that was frozen may lead for a few more seconds when it resumes, with an older log. So an event after that end is read again
 * before an error is reported. A log that extends further with another event there needs no second read: no leader returns an unreplicated
 * event.
 */
const confirmation = { tries: 11, pause_ms: 1_000 } as const;

const tables = { projections: 'ops.projections', followers: 'ops.followers' } as const;

/** A checkpoint of read models, or of a follower. */
interface Checkpoint {
  readonly table: keyof typeof tables;
  readonly name: string;
  /** Generation of read models: the live one, or one that a rebuild fills. */
  readonly generation: number | null;
  readonly position: bigint | null;
  readonly event_id: string | null;
  readonly applied_position: bigint | null;
  readonly applied_id: string | null;
}

/**
 * Compares every checkpoint with the log, and corrects unusable ones: see `corrected`.
 * @throws LogSetBack, Unavailable
 */
export async function refuseSetBack(sql: Sql, log: Log, options: Options = {}): Promise<void> {
  await Promise.all(
    (await readCheckpoints(sql)).map(async (checkpoint) => {
      const right = await corrected(sql, log, checkpoint, options);
      if (right !== null) await correct(sql, checkpoint, right);
    }),
  );
}

/** Compares every checkpoint with the log, and changes nothing. @throws LogSetBack, Unavailable */
export async function compareWithLog(sql: Sql, log: Log, options: Options = {}): Promise<void> {
  await Promise.all((await readCheckpoints(sql)).map((checkpoint) => corrected(sql, log, checkpoint, options)));
}

/** Names of the read models, and of the followers, whose last event is not in the log. @throws Unavailable */
export async function findLost(
  sql: Sql,
  log: Log,
  options: Options = {},
): Promise<Readonly<Record<keyof typeof tables, readonly string[]>>> {
  const lost = { projections: [] as string[], followers: [] as string[] };
  await Promise.all(
    (await readCheckpoints(sql)).map(async (checkpoint) => {
      try {
        await corrected(sql, log, checkpoint, options);
      } catch (error) {
        if (!(error instanceof LogSetBack)) throw error;
        lost[checkpoint.table].push(checkpoint.name);
      }
    }),
  );
  return lost;
}

/**
 * Restarts the scans of all chains at the restored log's end, and followers continue there: later progress was recorded in the lost part.
 * The next start pauses payouts, because lost payouts are unknown too. Run it before the read models are rebuilt, so a crash in between is
 * detected again.
 * @param followers names of those whose last event is lost
 */
export async function forgetLost(sql: Sql, end: bigint, followers: readonly string[] = []): Promise<void> {
  await notePayoutsToPause(sql);
  await sql.query('DELETE FROM ops.chain_cursors');
  await sql.query(
    `UPDATE ops.followers SET position = $1, event_id = NULL, applied_position = NULL, applied_id = NULL
      WHERE position > $1 OR name = ANY($2)`,
    [end, followers],
  );
}

async function readCheckpoints(sql: Sql): Promise<readonly Checkpoint[]> {
  const [projections, followers] = await Promise.all([
    sql.query<Omit<Checkpoint, 'table'>>(
      `SELECT set_name AS name, generation, position, event_id, applied_position, applied_id FROM ops.projections
        WHERE status IN ('active', 'building')`,
    ),
    sql.query<Omit<Checkpoint, 'table'>>(
      'SELECT name, NULL AS generation, position, event_id, applied_position, applied_id FROM ops.followers',
    ),
  ]);
  return [
    ...projections.map((row) => ({ table: 'projections' as const, ...row })),
    ...followers.map((row) => ({ table: 'followers' as const, ...row })),
  ];
}

/** Corrected checkpoint; null if it is right. */
type Correction = Pick<Checkpoint, 'position' | 'event_id' | 'applied_position' | 'applied_id'> | null;

/** Before the first event of a log. */
const beginning: Correction = { position: 0n, event_id: null, applied_position: null, applied_id: null };

/**
 * - The last applied event is not at its position: the log is not ours.
 * - The event at the position belongs to another application, and is gone (deleted, or in a restored part of a shared store): the
 * checkpoint
 * moves back to the last applied event. No event of ours was read in between.
 * - An older version wrote the checkpoint without an event: the log's last event before it is stored.
 */
async function corrected(sql: Sql, log: Log, checkpoint: Checkpoint, options: Options): Promise<Correction> {
  const { position, event_id, applied_position, applied_id } = checkpoint;
  if (position === null || position === 0n) return null;
  const isThere = async () => (await log.eventAt(position))?.eventId === event_id;
  if (applied_position === null || applied_id === null) {
    if (event_id === null) return adopted(sql, log, position, options);
    return (await isThere()) ? null : beginning;
  }
  const find = () => log.eventAt(applied_position);
  const endsBefore = async () => (await log.tail()) < applied_position;
  await recognize({ where: `position ${applied_position}`, eventId: applied_id, find, endsBefore }, options);
  if (position === applied_position || (await isThere())) return null;
  return { position: applied_position, event_id: applied_id, applied_position, applied_id };
}

interface Known {
  readonly where: string;
  readonly eventId: string;
  readonly find: () => Promise<LogPlace | null>;
  /** True if the leader's log ends before that position. */
  readonly endsBefore: () => Promise<boolean>;
}

async function recognize(known: Known, { clock = systemClock, signal }: Options): Promise<void> {
  const { where, eventId, find, endsBefore } = known;
  for (let tries = 1; ; tries += 1) {
    const found = await find();
    if (found?.eventId === eventId) return;
    const mayBeStale = found === null && (await endsBefore());
    if (!mayBeStale || tries === confirmation.tries) throw new LogSetBack(where, eventId, found?.eventId ?? null);
    await clock.sleep(confirmation.pause_ms, signal);
    if (signal?.aborted) throw new Unavailable('stopped before the event log was recognized');
  }
}

/**
 * The position alone says nothing about the log: it may be that of a record of the store's own. The newest event of the feed identifies it,
 * if there is one. Otherwise nothing is needed: the next batch stores a known event.
 */
async function adopted(sql: Sql, log: Log, position: bigint, options: Options): Promise<Correction> {
  const witness = await newestInFeed(sql);
  if (witness !== null) {
    const { payment_id, revision, event_id } = witness;
    const stream = `payment-${payment_id}`;
    const find = async () => {
      const [event] = await log.read(stream, { from: revision, max: 1 });
      return event ? placeOf(event) : null;
    };
    const endsBefore = async () => true;
    await recognize(
      { where: `revision ${revision} of stream ${stream}`, eventId: event_id, find, endsBefore },
      options,
    );
  }
  const last = await lastOwn(log);
  if (last === null || last.position > position) return null;
  const reached = (await log.eventAt(position)) ?? last;
  return {
    position: reached.position,
    event_id: reached.eventId,
    applied_position: last.position,
    applied_id: last.eventId,
  };
}

/** Too many events of other applications follow it: our next event stores it. */
const lastOwn = (log: Log): Promise<LogPlace | null> =>
  log.lastEvent(streamPrefixes).catch((error: unknown) => {
    if (error instanceof Unavailable) return null;
    throw error;
  });

interface Witness {
  readonly payment_id: string;
  readonly revision: bigint;
  readonly event_id: string;
}

async function newestInFeed(sql: Sql): Promise<Witness | null> {
  const [feed] = await sql.query<{ there: boolean }>(`SELECT to_regclass('app_events') IS NOT NULL AS there`);
  if (!feed?.there) return null;
  const [newest = null] = await sql.query<Witness>(
    'SELECT payment_id, revision, event_id FROM app_events ORDER BY at DESC, payment_id, revision DESC LIMIT 1',
  );
  return newest;
}

/** A runner that has moved the checkpoint meanwhile is more current: its position differs. */
async function correct(
  sql: Sql,
  { table, name, generation, position }: Checkpoint,
  right: NonNullable<Correction>,
): Promise<void> {
  const { event_id, applied_position, applied_id } = right;
  const key = table === 'projections' ? 'set_name = $5 AND generation = $7' : 'name = $5 AND $7::integer IS NULL';
  await sql.query(
    `UPDATE ${tables[table]} SET position = $1, event_id = $2, applied_position = $3, applied_id = $4
      WHERE ${key} AND position = $6`,
    [right.position, event_id, applied_position, applied_id, name, position, generation],
  );
}
