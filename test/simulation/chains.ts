/** The chains of a simulated world. */
import type { ChainId } from '../../domain/chains.ts';
import { openEvmChain } from './chains/evm/chain.ts';
import { openSolanaChain } from './chains/solana/chain.ts';
import { openStellarChain } from './chains/stellar/chain.ts';
import type { OpenChain } from './kernel/ports.ts';

export const simulatedChains: readonly (readonly [ChainId, OpenChain])[] = [
  [1, openEvmChain],
  [137, openEvmChain],
  [1500, openStellarChain],
  [501, openSolanaChain],
];
