/** Replaces src/process/system.ts: the run's clock and randomness, and crashes at the service's own crash points. */
import { uuidV8 } from '../../../commands/paymentId.ts';
import { instant } from '../../../domain/time.ts';
import type * as real from '../../../src/process/system.ts';
import { never } from '../kernel/process.ts';
import { survives, theRun } from '../kernel/run.ts';
import { randomBytes, randomUUID } from './crypto.ts';
import { setTimeout as delay } from './timersPromises.ts';

export const systemClock: typeof real.systemClock = {
  now: () => instant(Math.floor(theRun().agenda.now_ms())),
  sleep: (duration_ms, signal) =>
    delay(duration_ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    }),
};

export const randomIds: typeof real.randomIds = {
  eventId: () => randomUUID(),
  paymentId: () => uuidV8(randomBytes(16)),
  secret: () => randomBytes(32).toString('hex'),
};

export const crashPointFrom: typeof real.crashPointFrom = () => (point) =>
  survives(`at.${point}`) ? undefined : never<void>();

export const childEnvironment: typeof real.childEnvironment = () => ({});
