import type { Address } from 'viem';
import type { Treasury } from '../../config/treasuries.ts';
import type { ChainConfig, DepthSetting } from '../../config.ts';
import type { OpenChain, OpenFamily } from '../family.ts';
import { type Depth, defaultEvmChainConfig, type EvmChainConfig, isEvmChain } from './config.ts';
import { createEvmDeposits } from './deposits/scheme.ts';
import { createEvmIngester } from './payins/ingester.ts';
import { createEvmPayoutRail } from './payouts/rail.ts';
import { createEvmRpc } from './rpc.ts';

/** The EVM chains that the settings name; null when they name none. */
export function openEvm(settings: readonly ChainConfig[], treasury: Treasury | null): OpenFamily | null {
  if (!treasury) return null;
  const account = treasury.address as Address;
  return {
    family: 'evm',
    chains: settings.flatMap((setting) => openChain(setting, account)),
    deposits: createEvmDeposits({ treasury: account }),
    canReceive: null,
    misfit: null,
  };
}

function openChain(setting: ChainConfig, treasury: Address): OpenChain[] {
  if (!isEvmChain(setting.chainId)) return [];
  const config = evmConfig(setting, defaultEvmChainConfig(setting.chainId, setting.rpcUrls));
  const rpc = createEvmRpc(config);
  return [
    {
      ingester: createEvmIngester(config, rpc),
      rail: createEvmPayoutRail(config, treasury, rpc),
      poll_ms: config.pollInterval_ms,
    },
  ];
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
