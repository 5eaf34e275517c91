/** How blocks of each network come, and how deep its branches may differ. The service's own depths are all deeper (src/chains/evm/config.ts). */
import type { EvmChainId } from '../../../src/chains/evm/config.ts';

export interface Pace {
  readonly block_ms: number;
  /** Blocks that are made at a time, so that fast chains do not take a step for each. */
  readonly together: number;
  /** Most blocks that a fork removes: what is deeper stays for ever. */
  readonly forkMost_blocks: number;
  /** Where the tag `finalized` is behind the head. */
  readonly finalized_blocks: number;
  /** What the network charges for each transaction besides its gas (OP stack: for Ethereum's data). */
  readonly extraFee_wei: bigint;
}

export const paceOf: Readonly<Record<EvmChainId, Pace>> = {
  1: { block_ms: 12_000, together: 1, forkMost_blocks: 9, finalized_blocks: 24, extraFee_wei: 0n },
  8453: { block_ms: 200, together: 5, forkMost_blocks: 75, finalized_blocks: 300, extraFee_wei: 2_000_000_000n },
  42161: { block_ms: 250, together: 4, forkMost_blocks: 28, finalized_blocks: 240, extraFee_wei: 0n },
  137: { block_ms: 2_000, together: 1, forkMost_blocks: 5, finalized_blocks: 5, extraFee_wei: 0n },
  56: { block_ms: 450, together: 2, forkMost_blocks: 6, finalized_blocks: 6, extraFee_wei: 0n },
};
