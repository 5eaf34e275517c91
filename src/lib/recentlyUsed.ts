/** A bounded cache. */
export interface RecentlyUsed<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

/**
 * Keeps at least the `least` entries used last and at most twice as many, in two generations. An entry that is used moves into the
 * younger one. When that is full it becomes the older, and the former older one is forgotten at once. (Removing the oldest entries
 * of a single Map one by one is slow: each removal walks over the slots of those removed before it.)
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
