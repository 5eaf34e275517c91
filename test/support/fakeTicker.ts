import type { Ticker } from '../../src/chains/node/limiter.ts';

export interface FakeTicker extends Ticker {
  /** Advances time; due timers run at their time, with all their effects. */
  pass(duration_ms: number): Promise<void>;
}

/** Time that only the spec advances. */
export function fakeTicker(): FakeTicker {
  let now_ms = 0;
  let due: { readonly at_ms: number; readonly run: () => void }[] = [];
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    now_ms: () => now_ms,
    after(wait_ms, run) {
      const timer = { at_ms: now_ms + wait_ms, run };
      due.push(timer);
      return () => {
        due = due.filter((each) => each !== timer);
      };
    },
    async pass(duration_ms) {
      const end_ms = now_ms + duration_ms;
      await settle();
      for (;;) {
        const [first] = due.filter(({ at_ms }) => at_ms <= end_ms).sort((a, b) => a.at_ms - b.at_ms);
        if (!first) break;
        due = due.filter((each) => each !== first);
        now_ms = Math.max(now_ms, first.at_ms);
        first.run();
        await settle();
      }
      now_ms = end_ms;
    },
  };
}
