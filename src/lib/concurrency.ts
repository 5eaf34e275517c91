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

/** Returns a function that runs work, `running` at a time, while at most `waiting` more wait. It returns undefined for work beyond that. */
export function createBoundedQueue(
  running: number,
  waiting: number,
): <T>(work: () => Promise<T>) => Promise<T> | undefined {
  let admitted = 0;
  const queue: (() => void)[] = [];
  const turn = (): Promise<void> => {
    admitted += 1;
    return admitted <= running ? Promise.resolve() : new Promise((resolve) => queue.push(resolve));
  };
  return (work) => {
    if (admitted >= running + waiting) return undefined;
    return turn()
      .then(work)
      .finally(() => {
        admitted -= 1;
        queue.shift()?.();
      });
  };
}

export interface Wakeup<W> {
  notify(value: W): void;
  end(): void;
  /** For one consumer. Ends with the wakeup. */
  readonly values: AsyncGenerator<W>;
}

/** @param signal ends the wakeup @param onEnd called once at the end, also if the consumer stops */
export function createWakeup<W>(signal: AbortSignal, onEnd: () => void): Wakeup<W> {
  let latest: { readonly value: W } | null = null;
  let woken = Promise.withResolvers<void>();
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    signal.removeEventListener('abort', end);
    onEnd();
    woken.resolve();
  };
  signal.addEventListener('abort', end, { once: true });

  async function* values(): AsyncGenerator<W> {
    try {
      for (;;) {
        await woken.promise;
        if (ended) return;
        woken = Promise.withResolvers();
        const next = latest;
        latest = null;
        if (next) yield next.value;
      }
    } finally {
      end();
    }
  }
  return {
    values: values(),
    end,
    notify(value) {
      latest = { value };
      woken.resolve();
    },
  };
}
