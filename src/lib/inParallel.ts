/** Processes items concurrently, at most `max` at a time. Starts no item after an error. @returns the results in the order of the items */
export async function inParallel<T, R>(
  items: readonly T[],
  max: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<readonly R[]> {
  const results = new Array<R>(items.length);
  const waiting = items.entries();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      if (failed) return;
      try {
        results[index] = await work(item, index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(max, items.length) }, worker));
  return results;
}

export const lower = (a: bigint, b: bigint): bigint => (b < a ? b : a);
export const higher = (a: bigint, b: bigint): bigint => (b > a ? b : a);
