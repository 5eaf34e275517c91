/** The chains of a simulated world. */
import type { ChainId } from '../domain/chains.ts';
import { openEvmChain } from './chains/evm/chain.ts';
import type { OpenChain } from './kernel/ports.ts';

export const simulatedChains: readonly (readonly [ChainId, OpenChain])[] = [
  [1, openEvmChain],
  [137, openEvmChain],
];
