/** The way to the event store: whether it can be reached, and how a call ends: in time or late, refused, or with its connection lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { BACKWARDS, END, ErrorType, type EventStoreDBClient } from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import { StreamConflict, Unavailable } from '../../commands/ports.ts';
import { withoutSecrets } from '../environment/reader.ts';
import { openClient } from './officialClient.ts';

/** The official client and what is known of the way to its server. */
export interface Connection {
  readonly client: EventStoreDBClient;
  readonly reach: Reachability;
  /** For messages: without the user and password a connection string may hold. */
  readonly server: string;
  /** @throws Unavailable when the store is known to be away: nothing has been sent */
  mustBeUp(): void;
  /** Runs a read. @throws Unavailable when the store cannot be reached */
  reading<T>(read: () => Promise<readonly T[]>): Promise<readonly T[]>;
}

export function connect(url: string, probe_ms: number): Connection {
  const client = openClient(url);
  const server = withoutSecrets(url);

  /** Any answer will do, also a refusal. */
  const probe = () =>
    readLastOfAll(client, probe_ms).catch((error) => {
      if (isConnectionLoss(error) || error instanceof Unavailable) throw error;
    });
  const reach = createReachability(probe);

  function mustBeUp(): void {
    if (!reach.up) throw new Unavailable(`the event store at ${server} cannot be reached; nothing was sent`);
  }

  /** A read is tried twice, because the first call after a broken connection may fail once more. */
  async function reading<T>(read: () => Promise<readonly T[]>): Promise<readonly T[]> {
    for (let retried = false; ; retried = true) {
      mustBeUp();
      try {
        return await read();
      } catch (error) {
        if (isDamaged(error)) throw new Unavailable(reasonOf(error), 1, { cause: error });
        if (!isConnectionLoss(error)) throw error;
        if (retried) {
          reach.lost();
          throw new Unavailable(`the event store at ${server} cannot be reached: ${reasonOf(error)}`, 1, {
            cause: error,
          });
        }
      }
    }
  }
  return { client, reach, server, mustBeUp, reading };
}

/** The log's last event, if there is one. */
export const readLastOfAll = (client: EventStoreDBClient, limit_ms: number) =>
  collect(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }), limit_ms, 'reading the log');

const probePause_ms = 200;

/**
 * Knows whether the store answers. While it does not, callers are turned away at once instead of being sent into a
 * timeout, and one probe finds out when it is back.
 */
interface Reachability {
  readonly up: boolean;
  /** Tell that a call lost its connection. */
  lost(): void;
  /** Resolves true as soon as the store is up, false when `within_ms` have passed. */
  whenUp(within_ms: number): Promise<boolean>;
  close(): void;
}

/** @param probe any harmless call to the store; it must settle within a bounded time */
function createReachability(probe: () => Promise<unknown>): Reachability {
  const closing = new AbortController();
  let down: Promise<void> | null = null;

  async function probing(): Promise<void> {
    for (;;) {
      await sleep(probePause_ms, undefined, { signal: closing.signal, ref: false });
      try {
        await probe();
        down = null;
        return;
      } catch {
        // Still away; the next probe follows.
      }
    }
  }

  return {
    get up() {
      return down === null;
    },
    lost() {
      if (down !== null || closing.signal.aborted) return;
      down = probing();
      down.catch(() => {});
    },
    async whenUp(within_ms) {
      if (closing.signal.aborted) return false;
      if (down === null) return true;
      const timer = new AbortController();
      const late = sleep(within_ms, undefined, { signal: timer.signal }).catch(() => {});
      await Promise.race([down.catch(() => {}), late]);
      timer.abort();
      return down === null && !closing.signal.aborted;
    },
    close() {
      closing.abort();
    },
  };
}

/** Settles as `work` does, or throws Unavailable after `limit_ms`; what comes later is ignored. */
export async function within<T>(work: Promise<T>, limit_ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unavailable(`${what} took longer than ${limit_ms} ms`)), limit_ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

interface Reading<T> extends AsyncIterable<T> {
  on(event: 'data', listener: (item: T) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  cancel(): Promise<void>;
}

/** All items of a read whose length its request bounds. */
export async function collect<T>(reading: Reading<T>, limit_ms: number, what: string): Promise<readonly T[]> {
  const items: T[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    reading.on('data', (item) => items.push(item));
    reading.on('error', reject);
    reading.on('end', resolve);
  });
  try {
    await within(ended, limit_ms, what);
  } catch (error) {
    if (error instanceof Unavailable) await reading.cancel();
    throw error;
  }
  return items;
}

const typeOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : undefined;

/** The server, or the way to it, is gone. */
export const isConnectionLoss = (error: unknown): boolean =>
  typeOf(error) === ErrorType.UNAVAILABLE || typeOf(error) === ErrorType.CANCELLED;

/** The store's data is not as it was written. */
const isDamaged = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === status.DATA_LOSS;

const unwritten: ReadonlySet<number> = new Set([status.RESOURCE_EXHAUSTED, status.DATA_LOSS]);

/** The store said, by this status, that it cannot write at present. Nothing was appended. */
export class NotAppended extends Unavailable {
  static of(code: number, reason: string): NotAppended | null {
    return unwritten.has(code) ? new NotAppended(`nothing was appended: ${reason}`) : null;
  }
}

export const isMissingStream = (error: unknown): boolean => typeOf(error) === ErrorType.STREAM_NOT_FOUND;

const refusals: ReadonlySet<string | undefined> = new Set([
  ErrorType.STREAM_DELETED,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.ACCESS_DENIED,
  ErrorType.MISSING_REQUIRED_METADATA_PROPERTY,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.UNSUPPORTED,
]);

/**
 * The error that an append ends with when the store has definitely refused it; undefined while the outcome is unknown.
 * A wrong version is told by a client error whose message may be empty and whose actual version may be 'no_stream'.
 */
export function definiteRefusal(error: unknown, stream: string, expected: bigint | 'no_stream'): unknown {
  if (typeOf(error) === ErrorType.WRONG_EXPECTED_VERSION) {
    const { actualVersion } = error as { actualVersion?: unknown };
    return new StreamConflict(stream, expected, typeof actualVersion === 'bigint' ? actualVersion : null);
  }
  if (error instanceof NotAppended) return error;
  return refusals.has(typeOf(error)) ? error : undefined;
}

export const reasonOf = (error: unknown): string =>
  (error instanceof Error && error.message) || typeOf(error) || String(error);
