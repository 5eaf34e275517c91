/** Wakes one consumer. While the consumer is busy, only the newest value is kept. */

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
