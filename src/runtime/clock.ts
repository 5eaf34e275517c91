import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../commands/ports.ts';
import { instant } from '../../domain/time.ts';

/** The text of the last millisecond: one request asks for the time several times. */
let last = { epoch_ms: 0, at: instant(0) };

export const systemClock: Clock = {
  now() {
    const epoch_ms = Date.now();
    if (epoch_ms !== last.epoch_ms) last = { epoch_ms, at: instant(epoch_ms) };
    return last.at;
  },
  sleep: (duration_ms, signal) =>
    delay(duration_ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    }),
};
