/** Time that only goes forward, and what is to happen later in it. */
export interface Ticker {
  now_ms(): number;
  /** @returns what calls it off */
  after(wait_ms: number, run: () => void): () => void;
}

export const systemTicker: Ticker = {
  now_ms: () => performance.now(),
  after(wait_ms, run) {
    const timer = setTimeout(run, wait_ms);
    return () => clearTimeout(timer);
  },
};
