import { Unavailable } from '../../commands/ports.ts';

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
