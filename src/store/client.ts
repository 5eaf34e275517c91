/** The client of the event store: reads, appends and subscriptions, with a limit on the calls in progress. */

import { type EventStore, type ReadOptions, Unavailable } from '../../commands/ports.ts';
import { assert, type LogPlace, placeOf, type StoredEvent } from '../../domain/decider.ts';
import { type AppendLimits, createAppending } from './append.ts';
import { connect, lastOfAll, type Patience } from './connection.ts';
import { isInvalidPosition } from './failures.ts';
import type { Wanted } from './read.ts';
import { followAll } from './subscription.ts';

export interface EventStoreOptions extends Partial<AppendLimits & Patience> {
  /** As in EVENTSTORE_URL. */
  readonly url: string;
  /** Callers on behalf of a request. */
  readonly requests?: CallerLimits;
  /** Callers that carry on payments: their queue is never full of requests. */
  readonly workers?: CallerLimits;
}

export interface OpenEventStore extends EventStore {
  /** The same store, with the queue that is kept for workers. */
  readonly workers: EventStore;
  /** Appends still under way end with their outcome unknown: let callers finish first. */
  close(): Promise<void>;
}

/** An unbounded read of a longer stream is a mistake: it must be read in pages. */
const readLimit = 10_000;

/**
 * A filtered read says nothing while the server passes other applications' events, which would look as if the connection had fallen silent:
 * it ends before that. The server passes some 100,000 events in that time.
 */
const filteredRead_ms = 1_500;

/** About 100 appends in flight in all: more only add waiting. */
const defaults = {
  attempt_ms: 5_000,
  append_ms: 20_000,
  read_ms: 10_000,
  silence_ms: 4_000,
  requests: { inFlight: 84, queued: 2_000, wait_ms: 2_000, away_ms: 3_000 },
  workers: { inFlight: 16, queued: 10_000, wait_ms: 20_000, away_ms: 20_000 },
};

/**
 * The event store behind `@eventstore/db-client` 6.2.1, with what that client leaves to its caller: a time limit on
 * appends, resending after an unknown outcome, bounded concurrency, typed errors. Nothing is connected before first use.
 *
 * Open one per process: when a connection breaks, the client fails the pending appends of all its instances. (They would
 * be sent again; it only costs time.)
 */
export function openEventStore(options: EventStoreOptions): OpenEventStore {
  const { url, read_ms, silence_ms, requests, workers, ...limits } = { ...defaults, ...options };
  const connection = connect(url, { read_ms, silence_ms });
  const { mustBeUp } = connection;

  async function read(
    stream: string,
    { from, backwards = false, max }: ReadOptions = {},
  ): Promise<readonly StoredEvent[]> {
    const events = await connection.read({ stream, from, backwards, max: max ?? readLimit + 1 });
    const whole = max !== undefined || events.length <= readLimit;
    assert(whole, `stream ${stream} is longer than ${readLimit} events: read it in pages`);
    return events;
  }

  async function tail(): Promise<bigint> {
    const [last] = await connection.read(lastOfAll);
    return last?.position ?? 0n;
  }

  /** One event of the log, or none. @returns null also for a position that the server refuses: no event begins there */
  async function one(wanted: Omit<Wanted, 'stream' | 'max'>): Promise<StoredEvent | null> {
    try {
      const limit_ms = wanted.prefixes && filteredRead_ms;
      const [event = null] = await connection.read({ stream: null, max: 1, ...wanted }, limit_ms);
      return event;
    } catch (error) {
      if (isInvalidPosition(error)) return null;
      throw error;
    }
  }

  async function eventAt(position: bigint): Promise<LogPlace | null> {
    if (position === 0n) return null;
    const event = await one({ from: position, backwards: false });
    return event?.position === position ? placeOf(event) : null;
  }

  /** Where nobody else writes to the store, its last event answers. Reading back to a match is bounded once there is one behind `after`. */
  async function lastEvent(prefixes: readonly string[], after = 0n): Promise<LogPlace | null> {
    const newest = await one({ backwards: true });
    if (newest === null || newest.position <= after) return null;
    if (prefixes.some((prefix) => newest.stream.startsWith(prefix))) return placeOf(newest);
    if (after > 0n && !(await isAnyBehind(prefixes, after))) return null;
    const match = await one({ backwards: true, prefixes });
    return match && match.position > after ? placeOf(match) : null;
  }

  async function isAnyBehind(prefixes: readonly string[], after: bigint): Promise<boolean> {
    try {
      // The event at the position itself may be a match.
      const wanted: Wanted = { stream: null, from: after, backwards: false, max: 2, prefixes };
      const found = await connection.read(wanted, filteredRead_ms);
      return found.some(({ position }) => position > after);
    } catch (error) {
      // No event begins there: only reading back from the end can say.
      if (isInvalidPosition(error)) return true;
      throw error;
    }
  }

  const appendFor = createAppending(connection, limits, read);
  const behind = (limited: Limiter, append: EventStore['append']): EventStore => ({
    async append(stream, expected, events) {
      assert(events.length > 0, `an append to ${stream} holds at least one event`);
      mustBeUp();
      return limited(() => append(stream, expected, events));
    },
    read,
    all: (wanted) => followAll(connection, wanted, tail),
    tail,
    lastEvent,
    eventAt,
  });

  return {
    ...behind(createLimiter('request', requests), appendFor(requests.away_ms)),
    workers: behind(createLimiter('worker', workers), appendFor(workers.away_ms)),
    close: connection.close,
  };
}

export interface Limits {
  /** How many run side by side. */
  readonly inFlight: number;
  /** How many more may wait their turn. */
  readonly queued: number;
  /** How long one may wait its turn. */
  readonly wait_ms: number;
}

export interface CallerLimits extends Limits {
  /** How long they wait for a store that went away after they had sent something. */
  readonly away_ms: number;
}

/**
 * Runs a piece of work at once or when its turn comes.
 * @throws Unavailable when too many wait already, or the turn does not come in time: the work has not begun, nothing was sent
 */
export type Limiter = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * A limiter of its own keeps one kind of callers from starving another.
 * @param kind of callers, for messages
 */
export function createLimiter(kind: string, limits: Limits): Limiter {
  const waiting = new Set<() => void>();
  let running = 0;

  function turn(): Promise<void> {
    if (waiting.size >= limits.queued) {
      return Promise.reject(new Unavailable(`too many ${kind} appends wait for the event store (${limits.queued})`));
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(start);
        reject(new Unavailable(`no ${kind} append could begin at the event store within ${limits.wait_ms} ms`));
      }, limits.wait_ms);
      const start = (): void => {
        clearTimeout(timer);
        waiting.delete(start);
        resolve();
      };
      waiting.add(start);
    });
  }

  return async (work) => {
    if (running >= limits.inFlight) await turn();
    else running++;
    try {
      return await work();
    } finally {
      // A turn is handed over, not given back: `running` stays, so that no newcomer slips in between.
      const [next] = waiting;
      if (next) next();
      else running--;
    }
  };
}
