/** What was learnt lately, by key; forgets the oldest. Losing it costs asking again. */
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

/** Most moments that are remembered by key. */
const timesMax = 10_000;

/** Moments by key, in milliseconds: when something last happened or is due next. Forgets the oldest; that costs a needless check, never money. */
export function boundedTimes() {
  const times = new Map<string, number>();
  return {
    get: (key: string) => times.get(key),
    countAfter: (at_ms: number) => [...times.values()].filter((time_ms) => time_ms > at_ms).length,
    delete: (key: string) => void times.delete(key),
    /** Infinity when there is none. */
    nextAfter: (at_ms: number) =>
      [...times.values()].reduce((next, time_ms) => (time_ms > at_ms ? Math.min(next, time_ms) : next), Infinity),
    set(key: string, at_ms: number) {
      times.delete(key);
      times.set(key, at_ms);
      if (times.size > timesMax) for (const oldest of times.keys()) return void times.delete(oldest);
    },
  };
}
