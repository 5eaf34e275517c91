import { type Clock, Unavailable } from '../../commands/ports.ts';
import type { Telemetry } from './telemetry.ts';

export interface Patience {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Told of each failure that is not the last. */
  readonly tell: (failure: Unavailable, pause_ms: number) => void;
}

/** What a start tells an operator while it waits. */
export const startWaits =
  (logger: Pick<Telemetry['logger'], 'warn'>): Patience['tell'] =>
  ({ message }, pause_ms) =>
    logger.warn({ pause_ms }, `the start waits: ${message}`);

const triesMost = 8;
const pause_ms = { first: 500, most: 8_000 };

/**
 * Does what a start needs of a store that may be slow or not there yet: tried again, half a minute of pauses in all.
 * @throws what `work` throws last, or at once when that is not `Unavailable`
 */
export async function patiently<T>({ clock, tell }: Patience, work: () => Promise<T>): Promise<T> {
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
