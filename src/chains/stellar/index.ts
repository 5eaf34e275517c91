import { isUsdt0Chain } from '../../../domain/rebalance/usdt0.ts';
import type { Family } from '../family.ts';
import { createCanReceive } from '../money/receiverCheck.ts';
import type { ChainSettings } from '../settings.ts';
import { canonicalStellarAddress, canonicalStellarHash, stellarMessages } from './addresses.ts';
import { defaultStellarConfig, publicNetwork, type StellarConfig, stellarChainId } from './config.ts';
import { contractProblem, createStellarDeposits, stellarDepositOf } from './deposits/scheme.ts';
import { createStellarHealth } from './health.ts';
import { createStellarHistory } from './history.ts';
import { createStellarMintReader } from './mints.ts';
import { createStellarOftMessages } from './oftMessages.ts';
import { createStellarPayerTransactions, stellarWalletLink, stellarWalletOffer } from './payerTransactions.ts';
import { createStellarIngester } from './payins/ingester.ts';
import { obstacle } from './payouts/preflight.ts';
import { createStellarPayoutRail } from './payouts/rail.ts';
import { createStellarRelaying } from './relaying.ts';
import { createStellarRpc } from './rpc.ts';
import { createStellarRelaySigner } from './signer/relaySigner.ts';
import { createStellarSigner } from './signer/signer.ts';
import { readStellarTreasury, type StellarTreasury } from './treasury.ts';

/** Stellar: payins with a memo or through a contract, payouts numbered by the treasury and its channel accounts. */
export const stellar: Family<StellarTreasury> = {
  name: 'stellar',
  coinDecimals: 7,
  choosesDepth: false,
  canonicalAddress: (_chain, text) => canonicalStellarAddress(text),
  canonicalTxHash: canonicalStellarHash,
  messages: stellarMessages,
  walletLink: (payment, amount, sandbox) => stellarWalletLink(payment, amount, sandbox),
  walletOffer: stellarWalletOffer,
  readTreasury: readStellarTreasury,

  open([setting], treasury, { lines }) {
    const config = stellarConfig(setting, treasury);
    const rpc = createStellarRpc({ ...config, lines });
    return {
      family: 'stellar',
      chains: [
        {
          ingester: createStellarIngester(config, rpc),
          rail: createStellarPayoutRail(config, rpc),
          history: createStellarHistory(config, rpc),
          mints: createStellarMintReader(config, rpc),
          ...(isUsdt0Chain(stellarChainId) && { oftMessages: createStellarOftMessages(config, rpc) }),
          health: createStellarHealth(rpc, config),
          poll_ms: config.pollInterval_ms,
          payerTransactions: createStellarPayerTransactions(config, rpc),
          ...(treasury.relay && { relaying: createStellarRelaying(config, treasury.relay.address, rpc) }),
          unfitNodes: rpc.unfit,
        },
      ],
      deposits: createStellarDeposits({ treasury: treasury.address, payinContract: treasury.payinContract }),
      canReceive: createCanReceive(rpc, obstacle),
      misfit: (signal) => contractProblem(config, rpc, signal),
    };
  },

  derivesDepositFromPayment: true,
  async isOwnDeposit({ address, payinContract }, paymentId, deposit) {
    const own = stellarDepositOf({ treasury: address, payinContract }, paymentId, deposit.contract !== null);
    return (['scheme', 'address', 'memo', 'contract', 'contractMemo'] as const).every(
      (name) => own[name] === deposit[name],
    );
  },

  openSigner(treasury, { clock, spending, accountOf }) {
    const { key: secret, channels } = treasury;
    if (secret === null) return null;
    const channelSecrets = channels.flatMap((channel) => channel.secret ?? []);
    const own = {
      config: stellarConfig({}, treasury),
      evmAccount: accountOf('evm'),
      solanaAccount: accountOf('solana'),
    };
    return createStellarSigner({ secret, channelSecrets, ...own, clock, spending });
  },
  openRelaySigner(treasury, { clock, spending }) {
    const secret = treasury.relay?.key ?? null;
    if (secret === null) return null;
    return createStellarRelaySigner({ secret, config: stellarConfig({}, treasury), clock, spending });
  },
};

/** Applies the operator's settings over the network's defaults. */
function stellarConfig(
  { rpcUrls = [], poll_ms, agree, largeFrom_usd }: Partial<ChainSettings>,
  { address, payinContract, channels }: StellarTreasury,
): StellarConfig {
  const defaults = defaultStellarConfig({
    rpcUrls,
    networkPassphrase: publicNetwork,
    treasury: address,
    payinContract,
    channels: channels.map(({ account }) => account),
  });
  return {
    ...defaults,
    agree: { ...defaults.agree, ...agree, ...(largeFrom_usd !== undefined && { largeFrom_usd }) },
    pollInterval_ms: poll_ms ?? defaults.pollInterval_ms,
  };
}
