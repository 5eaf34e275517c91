/**
 * Runs the work of one key in order of arrival, and the work of different keys concurrently. Appends to one stream wait for each other
 * instead of failing at its revision. The queue has no bound of its own: the caller bounds it.
 */
export function serializeByKey(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const mine = (last.get(key) ?? Promise.resolve()).then(work, work);
    const settled = mine.catch(() => {});
    last.set(key, settled);
    void settled.then(() => {
      if (last.get(key) === settled) last.delete(key);
    });
    return mine;
  };
}
