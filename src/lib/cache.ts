/** Caches, bounded maps, and functions that drop or share repeated calls. */
import { epochMs, type Instant, plus } from '../../domain/time.ts';

/** Only for facts that may be this much older than the request, which excludes app settings. */
const cacheLife_ms = 500;
const cachedMax = 10_000;

/** Caches found answers for 500 ms, at most 10,000 of them; concurrent callers share one query. Misses and failures are not cached. */
export function ttlCache<V>(
  find: (key: string) => Promise<V | null>,
  clock: { now(): Instant },
): (key: string) => Promise<V | null> {
  const entries = new Map<string, { readonly answer: Promise<V | null>; readonly until: Instant }>();

  return (key) => {
    const now = clock.now();
    const known = entries.get(key);
    if (known && now < known.until) return known.answer;
    const answer = find(key);
    entries.delete(key);
    entries.set(key, { answer, until: plus(now, cacheLife_ms) });
    if (entries.size > cachedMax) dropOldest();
    const forget = () => {
      if (entries.get(key)?.answer === answer) entries.delete(key);
    };
    answer.then((found) => {
      if (found === null) forget();
    }, forget);
    return answer;
  };

  function dropOldest(): void {
    const oldest = entries.keys().next();
    if (!oldest.done) entries.delete(oldest.value);
  }
}

/** Map of at most `most` entries; drops the oldest. */
export function boundedMap<T>(most: number) {
  const known = new Map<string, T>();
  return {
    get: (key: string): T | undefined => known.get(key),
    set(key: string, value: T): void {
      known.delete(key);
      known.set(key, value);
      if (known.size > most) for (const oldest of known.keys()) return void known.delete(oldest);
    },
  };
}

/** Maximum number of times in `boundedTimes`. */
const timesMax = 10_000;

/** Times by key, in milliseconds. Drops the oldest beyond 10,000; a dropped time costs a needless check, never money. */
export function boundedTimes() {
  const times = new Map<string, number>();
  return {
    get: (key: string) => times.get(key),
    countAfter: (at_ms: number) => [...times.values()].filter((time_ms) => time_ms > at_ms).length,
    delete: (key: string) => void times.delete(key),
    /** Infinity if there is none. */
    nextAfter: (at_ms: number) =>
      [...times.values()].reduce((next, time_ms) => (time_ms > at_ms ? Math.min(next, time_ms) : next), Infinity),
    set(key: string, at_ms: number) {
      times.delete(key);
      times.set(key, at_ms);
      if (times.size > timesMax) for (const oldest of times.keys()) return void times.delete(oldest);
    },
  };
}

/** A bounded cache. */
export interface RecentlyUsed<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

/**
 * Keeps at least the `least` most recently used entries and at most twice as many, in two generations. A used entry moves to the younger
 * generation. When that is full it becomes the older one, and the former older one is dropped at once. (Removing the oldest entries of a
 * single Map one by one is slow: each removal walks over the slots of earlier removals.)
 */
export function recentlyUsed<V>(least: number): RecentlyUsed<V> {
  let young = new Map<string, V>();
  let old = new Map<string, V>();

  function set(key: string, value: V): void {
    if (young.size >= least && !young.has(key)) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  }

  return {
    set,
    get(key) {
      const known = young.get(key);
      if (known !== undefined) return known;
      const aged = old.get(key);
      if (aged !== undefined) set(key, aged);
      return aged;
    },
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
  };
}

/**
 * Coalesces concurrent reads of one key: calls during a read share the next read, so no answer is older than its call. Any number of
 * callers costs at most one read at a time and one queued read per key.
 */
export function coalesce<V>(read: (key: string) => Promise<V>): (key: string) => Promise<V> {
  const reading = new Map<string, Promise<V>>();
  const next = new Map<string, Promise<V>>();

  function begin(key: string): Promise<V> {
    const mine = read(key).finally(() => {
      if (reading.get(key) === mine) reading.delete(key);
    });
    reading.set(key, mine);
    return mine;
  }

  return (key) => {
    const under = reading.get(key);
    if (!under) return begin(key);
    const waiting = next.get(key);
    if (waiting) return waiting;
    const mine = under
      .catch(() => {})
      .then(() => {
        next.delete(key);
        return begin(key);
      });
    next.set(key, mine);
    return mine;
  };
}

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
