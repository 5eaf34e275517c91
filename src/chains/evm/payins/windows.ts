/** Stretches of a chain's time, in blocks. Those whose number matters by itself have a least, which slower chains keep. */
import type { Chain } from '../../../../domain/chains.ts';

const near_ms = 60_000;
const remembered_ms = 600_000;
const stepBack_ms = 300_000;
const recallStep_ms = 4_000;

export interface Windows {
  /**
   * Nearer to the head than this, blocks are read with a proof that the node has them; so are those that nobody else can vouch for. A
   * node behind a balancer may lag and answer a range with nothing.
   */
  readonly near_blocks: bigint;
  /** How far back a pass remembers blocks by their hashes, to say which of them a fork has removed. */
  readonly remembered_blocks: bigint;
  /** How far a pass steps back when it remembers no block that is still on the chain, as after a restart. Reading again is harmless. */
  readonly stepBack_blocks: bigint;
  /** How far apart the blocks are that a pass learns anew after a restart, but for the newest. */
  readonly recallStep_blocks: bigint;
}

export function windowsOf({ block_ms }: Pick<Chain, 'block_ms'>): Windows {
  const blocks = (time_ms: number, least: number) => BigInt(Math.max(least, Math.ceil(time_ms / block_ms)));
  return {
    near_blocks: blocks(near_ms, 64),
    remembered_blocks: blocks(remembered_ms, 256),
    stepBack_blocks: blocks(stepBack_ms, 128),
    recallStep_blocks: blocks(recallStep_ms, 1),
  };
}
