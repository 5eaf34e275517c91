import type { ChainId } from '../../../domain/chains.ts';
import { assert } from '../../../domain/decider.ts';
import { type Depth, defaultEvmChainConfig, type EvmChainConfig, isEvmChain } from '../../../src/chains/evm/config.ts';
import { createEvmIngester } from '../../../src/chains/evm/payins/ingester.ts';

/** A chain's default settings, impatient with nodes. */
export function evmConfig(chainId: ChainId, rpcUrls: readonly string[]): EvmChainConfig {
  assert(isEvmChain(chainId), `${chainId} is an EVM chain`);
  return { ...defaultEvmChainConfig(chainId, rpcUrls), callTimeout_ms: 3_000 };
}

/** An ingester of Base with shallow depths. */
export const ingesterOf = (urls: readonly string[], depths: { final?: Depth; finalLarge?: Depth } = {}) =>
  createEvmIngester({
    ...evmConfig(8453, urls),
    rangeBlocksMax: 1_000,
    depths: { final: 3, finalLarge: 6, payout: 3, ...depths },
  });
