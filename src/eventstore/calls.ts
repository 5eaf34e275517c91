/** How a call to the event store begins, when its turn comes, and ends: in time or late, refused, or with its connection lost. */
import { ErrorType } from '@eventstore/db-client';
import { StreamConflict, Unavailable } from '../../commands/ports.ts';

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
  return refusals.has(typeOf(error)) ? error : undefined;
}

export const reasonOf = (error: unknown): string =>
  (error instanceof Error && error.message) || typeOf(error) || String(error);

export interface Limits {
  /** How many run side by side. */
  readonly inFlight: number;
  /** How many more may wait their turn. */
  readonly queued: number;
  /** How long one may wait its turn. */
  readonly wait_ms: number;
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
