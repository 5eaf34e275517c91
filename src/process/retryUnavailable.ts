import { type Clock, Unavailable } from '../../commands/ports.ts';
import type { Telemetry } from './telemetry.ts';

export interface RetryDeps {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Receives each failure except the last. */
  readonly tell: (failure: Unavailable, pause_ms: number) => void;
}

/** Logs each retry of a start for the operator. */
export const startWaits =
  (logger: Pick<Telemetry['logger'], 'warn'>): RetryDeps['tell'] =>
  ({ message }, pause_ms) =>
    logger.warn({ pause_ms }, `the start waits: ${message}`);

const triesMost = 8;
const pause_ms = { first: 500, most: 8_000 };

/**
 * Retries `work` while it throws `Unavailable`: at most 8 attempts, with pauses of 0.5 s up to 8 s, about 30 s in all. For a start whose
 * store is slow or not there yet.
 * @throws the last error of `work`, or the first one that is not `Unavailable`
 */
export async function retryUnavailable<T>({ clock, tell }: RetryDeps, work: () => Promise<T>): Promise<T> {
  for (let tries = 1, next_ms = pause_ms.first; ; tries += 1, next_ms = Math.min(next_ms * 2, pause_ms.most)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unavailable) || tries >= triesMost) throw error;
      tell(error, next_ms);
      await clock.sleep(next_ms);
    }
  }
}
