const rememberedMax = 10_000;

/** When something last happened, or is to happen next, by key; forgets the oldest. Losing it costs a needless check, never money. */
export function boundedTimes() {
  const times = new Map<string, number>();
  return {
    get: (key: string) => times.get(key),
    countAfter: (at_ms: number) => [...times.values()].filter((time_ms) => time_ms > at_ms).length,
    /** Infinity when there is none. */
    nextAfter: (at_ms: number) =>
      [...times.values()].reduce((next, time_ms) => (time_ms > at_ms ? Math.min(next, time_ms) : next), Infinity),
    set(key: string, at_ms: number) {
      times.delete(key);
      times.set(key, at_ms);
      if (times.size > rememberedMax) for (const oldest of times.keys()) return void times.delete(oldest);
    },
  };
}
