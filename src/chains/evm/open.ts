import type { Address } from 'viem';
import type { ChainConfig, DepthSetting } from '../../config.ts';
import type { Ingester, PayoutRail } from '../ports.ts';
import { type Depth, defaultEvmChainConfig, type EvmChainConfig, isEvmChain } from './config.ts';
import { createEvmIngester } from './ingester.ts';
import { createEvmPayoutRail } from './payouts.ts';
import { createEvmRpc } from './rpc.ts';

export interface EvmChain {
  readonly ingester: Ingester;
  readonly rail: PayoutRail;
  /** How often the chain is looked at. */
  readonly poll_ms: number;
}

/** One configured chain: what watches it and what pays out on it share its nodes. Undefined for a chain of another family. */
export function openEvmChain(setting: ChainConfig, treasury: Address): EvmChain | undefined {
  if (!isEvmChain(setting.chainId)) return undefined;
  const config = evmConfig(setting, defaultEvmChainConfig(setting.chainId, setting.rpcUrls));
  const rpc = createEvmRpc(config);
  return {
    ingester: createEvmIngester(config, rpc),
    rail: createEvmPayoutRail(config, treasury, rpc),
    poll_ms: config.pollInterval_ms,
  };
}

/** The operator's settings over the chain's defaults. */
function evmConfig(setting: ChainConfig, defaults: EvmChainConfig): EvmChainConfig {
  const { confirmations, confirmationsLarge, payoutConfirmations, largeFrom_usd, poll_ms } = setting;
  return {
    ...defaults,
    depths: {
      final: confirmations ? depthOf(confirmations) : defaults.depths.final,
      finalLarge: confirmationsLarge ? depthOf(confirmationsLarge) : defaults.depths.finalLarge,
      payout: payoutConfirmations ? depthOf(payoutConfirmations) : defaults.depths.payout,
    },
    largeFrom_usd: largeFrom_usd === undefined ? defaults.largeFrom_usd : Number(largeFrom_usd),
    pollInterval_ms: poll_ms ?? defaults.pollInterval_ms,
  };
}

function depthOf({ blocks, tag }: DepthSetting): Depth {
  if (tag === null) return blocks;
  return blocks > 0 ? { tag, atLeast: blocks } : tag;
}
