import { epochMs, type Instant } from '../../domain/time.ts';
import { boundedTimes } from './cache.ts';

/** Calls `tell` at most once per key within `pause_ms`; drops the calls between. */
export function throttle<T>(
  pause_ms: number,
  clock: { now(): Instant },
  keyOf: (about: T) => string,
  tell: (about: T) => void,
): (about: T) => void {
  const toldAt = boundedTimes();
  return (about) => {
    const [key, now_ms] = [keyOf(about), epochMs(clock.now())];
    if (now_ms - (toldAt.get(key) ?? Number.NEGATIVE_INFINITY) < pause_ms) return;
    toldAt.set(key, now_ms);
    tell(about);
  };
}
