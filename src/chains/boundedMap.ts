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
