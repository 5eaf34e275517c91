import type { ChainId } from '../../../domain/chains.ts';
import { assert } from '../../../domain/decider.ts';
import { defaultEvmChainConfig, type EvmChainConfig, isEvmChain } from '../../../src/chains/evm/config.ts';

/** A chain's default settings, impatient with nodes. */
export function evmConfig(chainId: ChainId, rpcUrls: readonly string[]): EvmChainConfig {
  assert(isEvmChain(chainId), `${chainId} is an EVM chain`);
  return { ...defaultEvmChainConfig(chainId, rpcUrls), callTimeout_ms: 3_000 };
}
