/** Client of the event store: reads, appends and subscriptions, with a limit on the calls in progress. */

import { type EventStore, type ReadOptions, Unavailable } from '../../commands/ports.ts';
import { assert, type LogPlace, placeOf, type StoredEvent } from '../../domain/decider.ts';
import { type AppendLimits, createAppendCall, createAppending } from './append.ts';
import type { OpenCalls, ReadQuery } from './calls.ts';
import { connectStore, lastOfAll, openClient, type Patience } from './connection.ts';
import { isInvalidPosition } from './failures.ts';
import { readCall } from './read.ts';
import { followAll, subscribeCall } from './subscription.ts';

export interface EventStoreOptions extends Partial<AppendLimits & Patience> {
  /** As in EVENTSTORE_URL. */
  readonly url: string;
  /** Default: the calls of `@eventstore/db-client`. */
  readonly calls?: OpenCalls;
  /** Limits of calls for requests. */
  readonly requests?: CallerLimits;
  /** Limits of calls for workers: requests never fill their queue. */
  readonly workers?: CallerLimits;
}

export interface OpenEventStore extends EventStore {
  /** The same store, with the workers' queue. */
  readonly workers: EventStore;
  /** Pending appends end with an unknown outcome: let callers finish first. */
  close(): Promise<void>;
}

/** An unbounded read of a longer stream is a mistake: it must be read in pages. */
const readLimit = 10_000;

/**
 * Timeout of a filtered read: the server sends nothing while it passes other applications' events, which would look like a dead connection.
 * It passes some 100,000 events in that time.
 */
const filteredRead_ms = 1_500;

/** About 100 appends in flight in total: more only add waiting. */
const defaults = {
  attempt_ms: 5_000,
  append_ms: 20_000,
  read_ms: 10_000,
  silence_ms: 4_000,
  requests: { inFlight: 84, queued: 2_000, wait_ms: 2_000, away_ms: 3_000 },
  workers: { inFlight: 16, queued: 10_000, wait_ms: 20_000, away_ms: 20_000 },
};

/** For programs of operators that append many events: a store that is busy for two minutes ends none of them. */
export const patientLimits = {
  append_ms: 120_000,
  requests: { ...defaults.requests, wait_ms: 120_000, away_ms: 120_000 },
};

/**
 * The event store behind `@eventstore/db-client` 6.2.1, with the parts that this client leaves to its caller: a timeout for appends,
 * resending after an unknown outcome, bounded concurrency, typed errors. Connects on first use.
 *
 * Open one per process: if a connection breaks, the client fails the pending appends of all its instances. (They would be sent again; it
 * only costs time.)
 */
export function openEventStore(options: EventStoreOptions): OpenEventStore {
  const { url, calls, read_ms, silence_ms, requests, workers, ...limits } = { ...defaults, ...options };
  const connection = connectStore(calls ?? eventStoreCalls(url), url, { read_ms, silence_ms });
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

  /** One event of the log, or none. @returns null also for a position that the server refuses, because no event begins there */
  async function one(wanted: Omit<ReadQuery, 'stream' | 'max'>): Promise<StoredEvent | null> {
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

  /** If nobody else writes to the store, its last event answers. Reading back to a match is bounded once there is one after `after`. */
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
      // The event at the position itself may match.
      const wanted: ReadQuery = { stream: null, from: after, backwards: false, max: 2, prefixes };
      const found = await connection.read(wanted, filteredRead_ms);
      return found.some(({ position }) => position > after);
    } catch (error) {
      // No event begins there: only reading back from the end can tell.
      if (isInvalidPosition(error)) return true;
      throw error;
    }
  }

  const appendFor = createAppending(connection, limits, read);
  const behind = (limited: CallQueue, append: EventStore['append']): EventStore => ({
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
    ...behind(createCallQueue('request', requests), appendFor(requests.away_ms)),
    workers: behind(createCallQueue('worker', workers), appendFor(workers.away_ms)),
    close: connection.close,
  };
}

export interface QueueLimits {
  /** Maximum concurrent calls. */
  readonly inFlight: number;
  /** Maximum waiting calls. */
  readonly queued: number;
  /** Maximum wait of a call. */
  readonly wait_ms: number;
}

export interface CallerLimits extends QueueLimits {
  /** Maximum wait for a store that became unavailable after something was sent. */
  readonly away_ms: number;
}

/**
 * Runs work at once or after a wait.
 * @throws Unavailable if too many wait already, or after the maximum wait: the work has not begun, nothing was sent
 */
export type CallQueue = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * A separate limiter prevents one kind of callers from starving another.
 * @param kind of callers, for messages
 */
export function createCallQueue(kind: string, limits: QueueLimits): CallQueue {
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
      // A slot is passed on, not released: `running` stays equal, so no newcomer can take it in between.
      const [next] = waiting;
      if (next) next();
      else running--;
    }
  };
}

/** Calls of `@eventstore/db-client`. @throws RangeError for an unusable address: the problem with EVENTSTORE_URL, without secrets */
export function eventStoreCalls(url: string): OpenCalls {
  const { client, drop, close } = openClient(url);
  return (heard) => ({
    append: createAppendCall(client, heard),
    read: (wanted) => readCall(client, heard, wanted),
    subscribe: (options, window, subscriber) => subscribeCall(client, options, window, subscriber),
    drop,
    close,
  });
}
