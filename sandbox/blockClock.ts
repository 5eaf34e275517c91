/**
 * When a local EVM chain makes its next block. Anvil keeps every block in memory and copies a table of all of them for each
 * new one: a chain that nobody uses would fill the machine with empty blocks.
 */

/** One local chain, as the clock sees it. */
export interface ClockedChain {
  /** Whether a transaction waits, or the newest block holds one. */
  inUse(): Promise<boolean>;
  mine(): Promise<void>;
}

export interface BlockClockOptions {
  /** A chain makes a block at every tick for so long after it was used last, or after its clock was started. */
  readonly awake_ms: number;
  /** Milliseconds; only differences count. */
  readonly now: () => number;
}

/** @returns what to call once in each block time; between uses it only looks, and the chain makes its own blocks seldom */
export function createBlockClock(chain: ClockedChain, { awake_ms, now }: BlockClockOptions): () => Promise<void> {
  let used_ms = now();
  return async () => {
    if (await chain.inUse()) used_ms = now();
    if (now() - used_ms < awake_ms) await chain.mine();
  };
}
