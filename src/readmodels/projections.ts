/**
 * Runs a projection set: follows the log from its checkpoint, commits batch by batch, survives outages, stops at poison events; lets others
 * wait for its progress.
 */

import { exhaustMap, filter, from, map, merge, type Observable, Subject, take, takeUntil, timer } from 'rxjs';
import { type Codec, streamPrefixes } from '../../commands/codec.ts';
import { readStream } from '../../commands/handle.ts';
import {
  type Clock,
  type CrashPoint,
  type EventBatchRead,
  type EventStore,
  NewerEvent,
  Unavailable,
} from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { epochMs } from '../../domain/time.ts';
import { describeTables } from '../../projections/apply.ts';
import {
  type CommitDeps,
  commitBatch,
  type EventBatch,
  PoisonEvent,
  projectedChannel,
} from '../../projections/commit.ts';
import { createFold, introductionsIn, introductionsStream } from '../../projections/fold.ts';
import {
  clearStopped,
  FenceLost,
  type Generation,
  markStopped,
  openActive,
  ProjectionOutdated,
  readActive,
} from '../../projections/generations.ts';
import type { ProjectionSet } from '../../projections/projection.ts';
import type { Sql } from '../../projections/sql.ts';
import type { Database } from '../postgres/database.ts';
import type { Leases } from '../postgres/leases.ts';
import type { Notification } from '../postgres/listen.ts';
import { ddlOf } from '../postgres/migrate.ts';
import { systemClock } from '../process/system.ts';
import { LogSetBack, refuseSetBack } from './logSetBack.ts';

export interface ProjectionDeps {
  readonly store: Pick<EventStore, 'all' | 'read' | 'tail' | 'lastEvent' | 'eventAt'>;
  readonly database: Database;
  readonly codec: Pick<Codec, 'read'>;
  readonly set: ProjectionSet;
  readonly signal: AbortSignal;
  readonly crash?: CrashPoint;
  readonly move?: CommitDeps['move'];
  readonly clock?: Clock;
}

export interface RunProjections extends ProjectionDeps {
  readonly leases: Leases;
  readonly clock: Clock;
  /** Writes this version's introductions to the log before events are projected; repeated until it succeeds. @throws Unavailable */
  readonly introduce?: () => Promise<void>;
  readonly report?: (report: ProjectionReport) => void;
}

export type ProjectionReport =
  | {
      readonly kind: 'committed';
      readonly set: string;
      readonly events: number;
      readonly position: bigint;
      /** True at the log's end. */
      readonly live: boolean;
      /** Age of the batch's newest event at the commit of its rows; null for a batch without events. */
      readonly lag_ms: number | null;
    }
  | { readonly kind: 'retrying'; readonly set: string; readonly error: Error; readonly pause_ms: number }
  | { readonly kind: 'stopped'; readonly set: string; readonly error: unknown };

/** Events per transaction. While catching up, a large batch moves most payments through several events for one row's cost. */
export const batchSizes = { eventsMin: 10_000, eventsMax: 20_000 } as const;
/** If events are this dense, or the set may lag, a commit waits for more: a large commit costs little more than a small one. */
const crowd = { events: 5, gather_ms: 20 };
/**
 * Minimum interval for storing a position without events of ours: it is a commit, and other applications may write a thousand events a
 * second.
 */
const passedEvery_ms = 1_000;
const firstPause_ms = 100;
const pauseMax_ms = 5_000;

/**
 * Runs until the signal aborts. One process at a time runs a set, a standby takes over. Waits out outages, a switch to another generation,
 * and read models of another version until they are rebuilt; any other error is the program's own and stops the set.
 *
 * @throws PoisonEvent, NewerEvent, LogSetBack and other permanent errors; also recorded in the checkpoint's row
 */
export async function runProjections(options: RunProjections): Promise<void> {
  const { signal } = options;
  while (!signal.aborted) {
    try {
      await holdProjections(options);
      return;
    } catch (error) {
      if (!(error instanceof ProjectionOutdated)) throw error;
      // Without the lease: an instance of the version that filled the rows can continue them.
      await rebuilt(options);
    }
  }
}

/** A rebuild takes longer, and an operator starts it. */
const rebuiltPoll_ms = 1_000;

/** Resolves once the active rows are of this version, or the signal aborts. */
async function rebuilt({ database, set, clock, signal }: RunProjections): Promise<void> {
  while (!signal.aborted) {
    try {
      await readActive(database, set);
      return;
    } catch (error) {
      if (!(error instanceof ProjectionOutdated || error instanceof Unavailable)) throw error;
      await clock.sleep(rebuiltPoll_ms, signal);
    }
  }
}

async function holdProjections(options: RunProjections): Promise<void> {
  const { database, leases, clock, set, signal, introduce = async () => {}, report = () => {} } = options;
  const ddl = await ddlOf(set.name);
  let pause_ms = firstPause_ms;

  await leases.hold(`projections:${set.name}`, signal, async (held) => {
    while (!held.aborted) {
      try {
        await recognizeLog(options, held);
        await introduce();
        const active = await openActive(database, set, ddl);
        await clearStopped(database, active);
        await runGeneration({ ...options, signal: held }, active, (batch, position) => {
          pause_ms = firstPause_ms;
          const newest = batch.events.at(-1)?.metadata.at;
          const lag_ms = newest ? Math.max(0, epochMs(clock.now()) - epochMs(newest)) : null;
          report({ kind: 'committed', set: set.name, events: batch.events.length, position, live: batch.live, lag_ms });
        });
      } catch (error) {
        if (!passes(error)) {
          report({ kind: 'stopped', set: set.name, error });
          throw error;
        }
        report({ kind: 'retrying', set: set.name, error, pause_ms });
        await clock.sleep(pause_ms, held);
        pause_ms = Math.min(pause_ms * 2, pauseMax_ms);
      }
    }
  });
}

/**
 * Another log stops the set, and readiness reports it: otherwise the API would create payments whose payins are not detected. @throws
 * LogSetBack, Unavailable
 */
async function recognizeLog({ store, database, clock, set }: RunProjections, signal: AbortSignal): Promise<void> {
  try {
    await refuseSetBack(database, store, { clock, signal });
  } catch (error) {
    const active = error instanceof LogSetBack ? await readActive(database, set).catch(() => undefined) : undefined;
    if (active) await markStopped(database, active, String(error)).catch(() => {});
    throw error;
  }
}

/** Errors that a retry can cure. */
const passes = (error: unknown): error is Error =>
  (error instanceof Unavailable && !(error instanceof NewerEvent)) || error instanceof FenceLost;

async function runGeneration(
  deps: RunProjections,
  active: Generation,
  committed: (batch: EventBatch & { live: boolean }, position: bigint) => void,
): Promise<void> {
  const { store, database, clock, set, signal } = deps;
  const progress = await openProgress(deps, active);
  try {
    const options = { after: active.position, prefixes: streamPrefixes, ...batchSizes, signal };
    for await (const batch of follow(store, options)) {
      if (signal.aborted) break;
      await progress.apply(batch);
      committed(batch, batch.position);
      const gathers = set.unhurried || batch.events.length >= crowd.events;
      if (batch.live && gathers) await clock.sleep(crowd.gather_ms, signal);
    }
    await progress.end();
  } catch (error) {
    if (!passes(error)) await markStopped(database, progress.at, String(error)).catch(() => {});
    throw error;
  }
}

/** Progress of a generation that is being filled. */
export interface FillProgress {
  readonly at: Generation;
  /** Commits the events of a batch, or records that none up to its position are ours. */
  apply(batch: EventBatch): Promise<void>;
  /** Stores the last position without events of ours. */
  end(): Promise<void>;
}

/**
 * The checkpoint is always at an event: the last applied one, or a later one of another application. The store's own records are passed and
 * not stored.
 */
export async function openProgress(deps: ProjectionDeps, generation: Generation): Promise<FillProgress> {
  const { store, clock = systemClock } = deps;
  const commit = await committer(deps, generation);
  let at = generation;
  let passed: bigint | null = null;
  let stored_ms = Number.NEGATIVE_INFINITY;

  async function storePassed(): Promise<void> {
    if (passed === null) return;
    const there = await store.eventAt(passed);
    passed = null;
    if (there) at = await commit(at, { events: [], ...there });
  }

  return {
    get at() {
      return at;
    },
    async apply({ events, position, live }) {
      const last = events.at(-1);
      if (last) at = await commit(at, { events, position: last.position, ...(live !== undefined && { live }) });
      passed = position > (at.position ?? 0n) ? position : null;
      const now_ms = epochMs(clock.now());
      if (passed === null || now_ms - stored_ms < passedEvery_ms) return;
      stored_ms = now_ms;
      await storePassed();
    },
    end: storePassed,
  };
}

/** Commits batches to one generation; retries a permanently failing batch event by event, so only the poison event remains. */
export async function committer(
  { store, database, codec, set, move, crash = () => {} }: ProjectionDeps,
  generation: Generation,
): Promise<(from: Generation, batch: EventBatch) => Promise<Generation>> {
  const tables = await describeTables(database, generation.schema);
  // A rebuild may have switched since the generation was read, and dropped it.
  if (tables.size === 0) throw new FenceLost(generation);
  const fold = createFold({
    read: codec.read,
    introduced: introductionsIn(await readStream(store, introductionsStream), codec.read),
    history: (stream, before) => readStream(store, stream, { before }),
  });
  const deps: CommitDeps = { db: database, set, tables, fold, crash, ...(move && { move }) };

  return async (from, batch) => {
    if (batch.events.length === 0 && batch.position === from.position) return from;
    try {
      return await commitBatch(deps, from, batch);
    } catch (error) {
      if (passes(error) || batch.events.length === 0) throw error;
    }
    let at = from;
    for (const event of batch.events) {
      at = await commitBatch(deps, at, { events: [event], position: event.position }).catch((error: unknown) => {
        throw passes(error) || error instanceof PoisonEvent ? error : new PoisonEvent(event, error);
      });
    }
    return batch.position === at.position ? at : await commitBatch(deps, at, { events: [], position: batch.position });
  };
}

/** Batches of the log, read ahead. */
export interface FollowOptions {
  readonly after: bigint | null;
  readonly prefixes: readonly string[];
  /** Minimum events of a batch while catching up. */
  readonly eventsMin: number;
  /** Maximum events read ahead, rounded up to the store's batch. */
  readonly eventsMax: number;
  readonly signal: AbortSignal;
}

/**
 * The log's events, read ahead while the consumer is busy. All events that have arrived form the next batch: batches are large while
 * catching up or under load, and a single event is delivered at once.
 *
 * Ends when the signal aborts. @throws Unavailable if the subscription breaks
 */
export async function* follow(store: Pick<EventStore, 'all'>, options: FollowOptions): AsyncGenerator<EventBatchRead> {
  const { after, prefixes, eventsMin, eventsMax, signal } = options;
  const stop = new AbortController();
  let held: (EventBatchRead & { events: StoredEvent[] }) | null = null;
  let [news, room] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let ended = false;
  let failure: unknown;

  const readAhead = async () => {
    const source = store.all({ after, prefixes, signal: AbortSignal.any([signal, stop.signal]) });
    for await (const { events, position, live } of source) {
      held = { events: held?.events ?? [], position, live };
      held.events.push(...events);
      if (live || held.events.length >= eventsMin) news.resolve();
      if (held.events.length >= eventsMax) await room.promise;
      if (stop.signal.aborted) return;
    }
  };
  const reading = readAhead()
    .catch((error: unknown) => {
      failure = error;
    })
    .finally(() => {
      ended = true;
      news.resolve();
    });

  try {
    for (;;) {
      await news.promise;
      const batch: EventBatchRead | null = held;
      if (!batch) break;
      held = null;
      room.resolve();
      room = Promise.withResolvers();
      if (!ended) news = Promise.withResolvers();
      yield batch;
    }
    if (failure !== undefined) throw failure;
  } finally {
    stop.abort();
    room.resolve();
    await reading;
  }
}

/** Waits until the read models have reached a position. */
export interface WaitOptions {
  readonly timeout_ms?: number;
  readonly signal?: AbortSignal;
}

/**
 * Resolves once the read models contain everything up to the position, in any process that fills them.
 * @throws Unavailable after a timeout
 */
export type WaitUntilProjected = (position: bigint, options?: WaitOptions) => Promise<void>;

/**
 * Resolves once the read models contain every event of ours that is in the log now. Does not wait for events of other applications, whose
 * positions are stored only occasionally.
 * @returns position of the last of these events; that of the read models if there was nothing to wait for
 * @throws Unavailable after a timeout
 */
export type WaitUntilCaughtUp = (options?: WaitOptions) => Promise<bigint>;

const timeoutDefault_ms = 5_000;
/** Poll interval of the checkpoint while no notification arrives. */
const poll_ms = 100;

/** @param checkpoint of the read models */
export function caughtUpWaiter(
  store: Pick<EventStore, 'lastEvent'>,
  checkpoint: () => Promise<bigint>,
  projected: WaitUntilProjected,
): WaitUntilCaughtUp {
  return async (options) => {
    const position = await checkpoint();
    const last = await store.lastEvent(streamPrefixes, position);
    if (last === null) return position;
    await projected(last.position, options);
    return last.position;
  };
}

/** Position of a projection set; 0 before the first event. */
export async function checkpointOf(sql: Sql, set = 'work'): Promise<bigint> {
  const [row] = await sql.query<{ position: bigint | null }>(
    `SELECT position FROM ops.projections WHERE set_name = $1 AND status = 'active'`,
    [set],
  );
  return row?.position ?? 0n;
}

/** @param notifications contains at least the `projected` channel */
export function projectedWaiter(sql: Sql, notifications: Observable<Notification>, set = 'work'): WaitUntilProjected {
  return async (position, { timeout_ms = timeoutDefault_ms, signal } = {}) => {
    // Reads the checkpoint each time: a crashed Postgres may have lost its last rows.
    const checkpoint = () => checkpointOf(sql, set);
    if (position <= (await checkpoint())) return;
    const stop = new Subject<void>();
    const onAbort = () => stop.next();
    signal?.addEventListener('abort', onAbort, { once: true });
    const told = notifications.pipe(
      filter(({ channel, payload }) => channel === projectedChannel && payload.startsWith(`${set} `)),
      map(({ payload }) => BigInt(payload.slice(set.length + 1))),
    );
    const read = timer(0, poll_ms).pipe(exhaustMap(() => from(checkpoint())));
    try {
      const arrived = await new Promise<boolean>((resolve, reject) => {
        merge(told, read)
          .pipe(
            filter((at) => at >= position),
            take(1),
            takeUntil(merge(timer(timeout_ms), stop)),
          )
          .subscribe({ next: () => resolve(true), error: reject, complete: () => resolve(false) });
        if (signal?.aborted) stop.next();
      });
      if (!arrived)
        throw new Unavailable(`read models "${set}" have not come to ${position} in ${timeout_ms} ms: try again`);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  };
}
