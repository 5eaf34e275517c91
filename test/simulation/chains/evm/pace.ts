/**
 * Pace of each network's blocks in a simulation, and maximum fork depth: slower and shallower than in reality, so a run has few steps. The
 * service waits for one block more than a fork can remove.
 */
import type { EvmChainId } from '../../../../src/chains/evm/config.ts';

export interface Pace {
  readonly block_ms: number;
  /** Maximum blocks that a fork removes: deeper ones stay for ever. */
  readonly forkMost_blocks: number;
  /** Distance of the tag `finalized` to the head. */
  readonly finalized_blocks: number;
  /** The service's setting (CONFIRMATIONS): blocks or a tag, for small and for large sums. */
  readonly depth: string;
  readonly depthLarge: string;
  /** Additional fee per transaction (OP stack: for Ethereum's data). */
  readonly extraFee_wei: bigint;
}

export const paceOf: Readonly<Record<EvmChainId, Pace>> = {
  1: {
    block_ms: 6_000,
    forkMost_blocks: 3,
    finalized_blocks: 6,
    depth: '4',
    depthLarge: 'finalized',
    extraFee_wei: 0n,
  },
  8453: {
    block_ms: 4_000,
    forkMost_blocks: 4,
    finalized_blocks: 8,
    depth: '5',
    depthLarge: 'finalized',
    extraFee_wei: 2_000_000_000n,
  },
  42161: {
    block_ms: 4_000,
    forkMost_blocks: 2,
    finalized_blocks: 8,
    depth: '3',
    depthLarge: 'finalized',
    extraFee_wei: 0n,
  },
  137: {
    block_ms: 5_000,
    forkMost_blocks: 3,
    finalized_blocks: 4,
    depth: 'finalized',
    depthLarge: 'finalized+6',
    extraFee_wei: 0n,
  },
  56: {
    block_ms: 4_000,
    forkMost_blocks: 2,
    finalized_blocks: 3,
    depth: 'finalized+3',
    depthLarge: 'finalized+6',
    extraFee_wei: 0n,
  },
};

/** Poll interval of the service. */
export const pollOf_ms = ({ block_ms }: Pace): number => Math.max(3_000, block_ms / 2);
