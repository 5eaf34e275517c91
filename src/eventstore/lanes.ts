import { Unavailable } from '../../commands/ports.ts';

export interface LaneLimits {
  /** How many run side by side. */
  readonly inFlight: number;
  /** How many more may wait their turn. */
  readonly queued: number;
  /** How long one may wait its turn. */
  readonly wait_ms: number;
}

/** Runs work with bounded concurrency. Work refused by a lane has not begun: nothing was sent. */
export type Lane = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * A lane of its own keeps one kind of callers from starving another.
 * The lane's answers throw Unavailable when the queue is full or a turn does not come in time.
 */
export function createLane(name: string, limits: LaneLimits): Lane {
  const waiting = new Set<() => void>();
  let running = 0;

  function turn(): Promise<void> {
    if (waiting.size >= limits.queued) {
      return Promise.reject(new Unavailable(`the event store's ${name} lane is full (${limits.queued} waiting)`));
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(start);
        reject(new Unavailable(`no turn on the event store's ${name} lane within ${limits.wait_ms} ms`));
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
