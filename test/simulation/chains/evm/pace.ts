/**
 * How blocks of each network come in a simulation, and how deep its branches may differ: slower than they are, and shallower, so that a run
 * takes few steps. The service is configured to wait for one block more than a fork can remove.
 */
import type { EvmChainId } from '../../../../src/chains/evm/config.ts';

export interface Pace {
  readonly block_ms: number;
  /** Most blocks that a fork removes: what is deeper stays for ever. */
  readonly forkMost_blocks: number;
  /** Where the tag `finalized` is behind the head. */
  readonly finalized_blocks: number;
  /** What the service is told to wait for (CONFIRMATIONS): blocks or a tag, for small and for large sums. */
  readonly depth: string;
  readonly depthLarge: string;
  /** What the network charges for each transaction besides its gas (OP stack: for Ethereum's data). */
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

/** How often the service looks. */
export const pollOf_ms = ({ block_ms }: Pace): number => Math.max(3_000, block_ms / 2);
