import { setTimeout as sleep } from 'node:timers/promises';
import { patience_ms } from './patience.ts';

const retryPause_ms = 20;

/**
 * Repeats a call while the event store is unavailable, as callers of the product do. An append must repeat the same events: the store may
 * have written them. Any other failure ends it, also `ForeignPosition`.
 */
export async function whenAvailable<T>(call: () => Promise<T>): Promise<T> {
  for (const until_ms = performance.now() + patience_ms; ; await sleep(retryPause_ms)) {
    try {
      return await call();
    } catch (error) {
      if ((error as Error).name !== 'Unavailable' || performance.now() > until_ms) throw error;
    }
  }
}
