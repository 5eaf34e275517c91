/**
 * Those who ask for the same thing while it is being read wait for one more reading, all together: whatever is answered was read after it
 * was asked for. With one at a time nobody waits; many cost two readings at a time.
 */
export function joined<V>(read: (key: string) => Promise<V>): (key: string) => Promise<V> {
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
