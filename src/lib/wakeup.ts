/** Wakes one who waits. What is told while he is busy is one word: the newest. */

export interface Bell<W> {
  tell(word: W): void;
  end(): void;
  /** For one consumer. Ends with the bell. */
  readonly words: AsyncGenerator<W>;
}

/** @param signal ends it @param onEnd called once, however it ends: also when its consumer stops */
export function createBell<W>(signal: AbortSignal, onEnd: () => void): Bell<W> {
  let word: { readonly word: W } | null = null;
  let rung = Promise.withResolvers<void>();
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    signal.removeEventListener('abort', end);
    onEnd();
    rung.resolve();
  };
  signal.addEventListener('abort', end, { once: true });

  async function* words(): AsyncGenerator<W> {
    try {
      for (;;) {
        await rung.promise;
        if (ended) return;
        rung = Promise.withResolvers();
        const told = word;
        word = null;
        if (told) yield told.word;
      }
    } finally {
      end();
    }
  }
  return {
    words: words(),
    end,
    tell(next) {
      word = { word: next };
      rung.resolve();
    },
  };
}
