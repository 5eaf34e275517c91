import { setTimeout as sleep } from 'node:timers/promises';

const probePause_ms = 200;

/**
 * Knows whether the store answers. While it does not, callers are turned away at once instead of being sent into a
 * timeout, and one probe finds out when it is back.
 */
export interface Reachability {
  readonly up: boolean;
  /** Tell that a call lost its connection. */
  lost(): void;
  /** Resolves true as soon as the store is up, false when `within_ms` have passed. */
  whenUp(within_ms: number): Promise<boolean>;
  close(): void;
}

/** @param probe any harmless call to the store; it must settle within a bounded time */
export function createReachability(probe: () => Promise<unknown>): Reachability {
  const closing = new AbortController();
  let down: Promise<void> | null = null;

  async function probing(): Promise<void> {
    for (;;) {
      await sleep(probePause_ms, undefined, { signal: closing.signal, ref: false });
      try {
        await probe();
        down = null;
        return;
      } catch {
        // Still away; the next probe follows.
      }
    }
  }

  return {
    get up() {
      return down === null;
    },
    lost() {
      if (down !== null || closing.signal.aborted) return;
      down = probing();
      down.catch(() => {});
    },
    async whenUp(within_ms) {
      if (closing.signal.aborted) return false;
      if (down === null) return true;
      const timer = new AbortController();
      const late = sleep(within_ms, undefined, { signal: timer.signal }).catch(() => {});
      await Promise.race([down.catch(() => {}), late]);
      timer.abort();
      return down === null && !closing.signal.aborted;
    },
    close() {
      closing.abort();
    },
  };
}
