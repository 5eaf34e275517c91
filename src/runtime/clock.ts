import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../commands/ports.ts';
import { instant } from '../../domain/time.ts';

export const systemClock: Clock = {
  now: () => instant(Date.now()),
  sleep: (duration_ms, signal) =>
    delay(duration_ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    }),
};
