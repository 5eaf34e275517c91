/** A bounded cache. */
export interface RecentlyUsed<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

/**
 * Keeps at least the `least` entries used last and at most twice as many, in two generations: what is used moves into the
 * younger one; when that is full it becomes the older, and what was older is forgotten at once. (Taking the oldest entries
 * out of one Map one by one makes each removal walk over the places of those before it.)
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
