/**
 * Decides when a local EVM chain makes its next block. Anvil keeps every block in memory and copies a table of all of
 * them for each new one: an unused chain would fill the machine with empty blocks.
 */

/** One local chain in the view of the clock. */
export interface ClockedChain {
  /** True if a transaction is pending, or the newest block holds one. */
  inUse(): Promise<boolean>;
  mine(): Promise<void>;
}

export interface BlockClockOptions {
  /** Time with a block at every tick after the last use, or after the clock's start. */
  readonly awake_ms: number;
  /** Milliseconds; only differences count. */
  readonly now: () => number;
}

/** @returns function to call once per block time; between uses it only polls, and the chain rarely makes blocks */
export function createBlockClock(chain: ClockedChain, { awake_ms, now }: BlockClockOptions): () => Promise<void> {
  let used_ms = now();
  return async () => {
    if (await chain.inUse()) used_ms = now();
    if (now() - used_ms < awake_ms) await chain.mine();
  };
}
