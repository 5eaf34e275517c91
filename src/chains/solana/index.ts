import type { SolanaTreasury } from '../../config/treasuries.ts';
import type { ChainConfig } from '../../config.ts';
import type { OpenFamily } from '../family.ts';
import { defaultSolanaConfig, type SolanaConfig, solanaChainId } from './config.ts';
import { createSolanaDeposits, type Owner } from './deposits/scheme.ts';
import { createSolanaIngester } from './payins/ingester.ts';
import type { Watch } from './payins/scanner.ts';
import { createSolanaPayoutRail } from './payouts/rail.ts';
import { createCanReceive } from './payouts/receivers.ts';
import { createSolanaRpc } from './rpc.ts';

/** What Solana needs of the service's own memory. */
export interface SolanaNeeds {
  /** Addresses that nobody else gets and no payment has. */
  readonly takeOwners: (max: number) => Promise<readonly Owner[]>;
  readonly watch: Watch;
}

/** Null when Solana is not served. */
export function openSolana(
  settings: readonly ChainConfig[],
  treasury: SolanaTreasury | null,
  { takeOwners, watch }: SolanaNeeds,
): OpenFamily | null {
  const setting = settings.find(({ chainId }) => chainId === solanaChainId);
  if (!setting || !treasury) return null;
  const config = solanaConfig(setting, treasury);
  const rpc = createSolanaRpc(config);
  return {
    family: 'solana',
    chains: [
      {
        ingester: createSolanaIngester(config, watch, rpc),
        rail: createSolanaPayoutRail(config, rpc),
        poll_ms: config.pollInterval_ms,
      },
    ],
    deposits: createSolanaDeposits(takeOwners),
    canReceive: createCanReceive(rpc),
    misfit: null,
  };
}

/** The operator's settings over the network's defaults. */
export function solanaConfig(
  { rpcUrls, poll_ms }: Pick<ChainConfig, 'rpcUrls' | 'poll_ms'>,
  { address: treasury }: Pick<SolanaTreasury, 'address'>,
): SolanaConfig {
  const defaults = defaultSolanaConfig({ rpcUrls, treasury });
  return { ...defaults, pollInterval_ms: poll_ms ?? defaults.pollInterval_ms };
}
