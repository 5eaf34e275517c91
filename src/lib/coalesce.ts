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
