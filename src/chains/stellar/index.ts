import { Keypair } from '@stellar/stellar-sdk';
import type { StellarTreasury } from '../../config/treasuries.ts';
import type { ChainConfig } from '../../config.ts';
import type { OpenFamily } from '../family.ts';
import { defaultStellarConfig, publicNetwork, type StellarConfig, stellarChainId } from './config.ts';
import { contractProblem } from './deposits/payinContract.ts';
import { createStellarDeposits } from './deposits/scheme.ts';
import { createStellarIngester } from './payins/ingester.ts';
import { createStellarPayoutRail } from './payouts/rail.ts';
import { createCanReceive } from './payouts/receivers.ts';
import { createStellarRpc } from './rpc.ts';

/** Null when Stellar is not served. */
export function openStellar(settings: readonly ChainConfig[], treasury: StellarTreasury | null): OpenFamily | null {
  const setting = settings.find(({ chainId }) => chainId === stellarChainId);
  if (!setting || !treasury) return null;
  const config = stellarConfig(setting, treasury);
  const rpc = createStellarRpc(config);
  return {
    family: 'stellar',
    chains: [
      {
        ingester: createStellarIngester(config, rpc),
        rail: createStellarPayoutRail(config, rpc),
        poll_ms: config.pollInterval_ms,
      },
    ],
    deposits: createStellarDeposits({ treasury: treasury.address, payinContract: treasury.payinContract }),
    canReceive: createCanReceive(rpc),
    misfit: (signal) => contractProblem(config, rpc, signal),
  };
}

/** The operator's settings over the network's defaults. */
export function stellarConfig(
  { rpcUrls, poll_ms }: Pick<ChainConfig, 'rpcUrls' | 'poll_ms'>,
  { address, payinContract, channelKeys }: Pick<StellarTreasury, 'address' | 'payinContract' | 'channelKeys'>,
): StellarConfig {
  const defaults = defaultStellarConfig({
    rpcUrls,
    networkPassphrase: publicNetwork,
    treasury: address,
    payinContract,
    channels: channelKeys.map((key) => Keypair.fromSecret(key).publicKey()),
  });
  return { ...defaults, pollInterval_ms: poll_ms ?? defaults.pollInterval_ms };
}
