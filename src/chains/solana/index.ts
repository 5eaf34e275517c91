import type { DepositOwner, Family, RelaySignerNeeds } from '../family.ts';
import { createCanReceive } from '../money/receiverCheck.ts';
import type { ChainSettings } from '../settings.ts';
import { canonicalSolanaAddress, canonicalSolanaHash, solanaMessages } from './addresses.ts';
import { defaultSolanaConfig, type SolanaConfig, solanaChain, solanaChainId, solanaFees } from './config.ts';
import { createSolanaDeposits } from './deposits/scheme.ts';
import { createSolanaSweep } from './deposits/sweep.ts';
import { createSolanaHealth } from './health.ts';
import { createSolanaHistory } from './history.ts';
import { createSolanaMintReader } from './mints.ts';
import { createSolanaPayerTransactions, solanaWalletLink, solanaWalletOffer } from './payerTransactions.ts';
import { createSolanaIngester } from './payins/ingester.ts';
import { obstacleTo } from './payouts/preflight.ts';
import { createSolanaPayoutRail } from './payouts/rail.ts';
import { createPayoutReference } from './payouts/transaction.ts';
import { createPushes } from './pushes.ts';
import { createSolanaRelaying } from './relaying.ts';
import { createSolanaRpc } from './rpc.ts';
import { eventKey, ownerKey, ownerScheme, parseSolanaKey } from './signer/keys.ts';
import { createRecovery } from './signer/recovery.ts';
import { createSolanaRelaySigner, createSolanaSigner } from './signer/signer.ts';
import { readSolanaTreasury, type SolanaTreasury } from './treasury.ts';

/** Solana: one wallet per deposit, payouts without nonces. */
export const solana: Family<SolanaTreasury> = {
  name: 'solana',
  coinDecimals: 9,
  choosesDepth: false,
  hasPushes: true,
  canonicalAddress: canonicalSolanaAddress,
  canonicalTxHash: canonicalSolanaHash,
  messages: solanaMessages,
  readTreasury: readSolanaTreasury,
  walletLink: solanaWalletLink,
  walletOffer: (payment, amount, localRpcUrls) => solanaWalletOffer(payment, amount, localRpcUrls !== null),

  open([setting], treasury, { takeOwners, depositOwner = null, watch, lines }) {
    const config = solanaConfig(setting, treasury);
    const rpc = createSolanaRpc({ ...config, lines });
    const { wsUrls = [] } = setting;
    const { referenceKey } = treasury;
    return {
      family: 'solana',
      chains: [
        {
          ingester: createSolanaIngester(config, watch(solanaChainId), rpc),
          rail: createSolanaPayoutRail(config, createPayoutReference(referenceKey), rpc, eventAccounts(referenceKey)),
          mints: createSolanaMintReader(rpc),
          history: createSolanaHistory(rpc),
          openSweep: (paymentOf) =>
            createSolanaSweep(
              config,
              paymentOf,
              rpc,
              createRecovery({ ...config, depositSeed: treasury.depositSeed, rpc: rpc.as('late') }),
            ),
          health: createSolanaHealth(rpc),
          poll_ms: config.pollInterval_ms,
          ...(wsUrls.length > 0 && { pushes: createPushes({ chain: solanaChain(), urls: wsUrls, ...lines }) }),
          payerTransactions: createSolanaPayerTransactions(config, rpc),
          ...(treasury.relay && { relaying: createSolanaRelaying(config, treasury.relay.address, rpc) }),
          unfitNodes: rpc.unfit,
        },
      ],
      deposits: createSolanaDeposits(takeOwners, ownersOf(treasury, depositOwner)),
      canReceive: createCanReceive(rpc, obstacleTo),
      misfit: null,
    };
  },

  openSigner({ key, depositSeed, priorityMax_lamports }, { spending, accountOf }) {
    const parsed = key === null ? undefined : parseSolanaKey(key);
    const fees = solanaFees(priorityMax_lamports);
    return parsed && depositSeed ? createSolanaSigner({ key: parsed, depositSeed, fees, spending, accountOf }) : null;
  },

  openRelaySigner({ address: treasury, relay, depositSeed, priorityMax_lamports }, { spending, depositOwner }) {
    const key = relay?.key ? parseSolanaKey(relay.key) : undefined;
    const fees = solanaFees(priorityMax_lamports);
    const ownerOf = ownersOf({ depositSeed }, depositOwner);
    const depositAt = ownerOf && (async (salt: string) => (await ownerOf(salt)).address);
    return key && depositAt ? createSolanaRelaySigner({ key, depositAt, treasury, fees, spending }) : null;
  },

  derivesDepositFromPayment: false,
  isOwnDeposit: async ({ depositSeed: seed }, _paymentId, { address, scheme, salt }) =>
    seed !== null && scheme === ownerScheme && ownerKey(seed, salt).address === address,

  depositOwners: ({ depositSeed: seed }) => (seed === null ? null : (salt) => ownerOf(seed, salt)),
};

/** Accounts of the messages of burns; null on an instance that prepares nothing. */
const eventAccounts = (secret: Uint8Array | null) =>
  secret === null ? null : (reference: string) => eventKey(secret, reference).address;

const ownerOf = (seed: string, salt: string): DepositOwner => ({
  ...{ address: ownerKey(seed, salt).address, scheme: ownerScheme, salt },
});

/** Derives deposit addresses with the seed of this instance, or else at the separate signer; null without both. */
const ownersOf = (
  { depositSeed: seed }: Pick<SolanaTreasury, 'depositSeed'>,
  remote: RelaySignerNeeds['depositOwner'],
): RelaySignerNeeds['depositOwner'] => (seed === null ? remote : async (salt) => ownerOf(seed, salt));

/** Applies the operator's settings over the network's defaults. */
function solanaConfig(
  { rpcUrls, poll_ms, agree, largeFrom_usd }: ChainSettings,
  { address: treasury, priorityMax_lamports }: SolanaTreasury,
): SolanaConfig {
  const defaults = defaultSolanaConfig({ rpcUrls, treasury });
  return {
    ...defaults,
    agree: { ...defaults.agree, ...agree, ...(largeFrom_usd !== undefined && { largeFrom_usd }) },
    pollInterval_ms: poll_ms ?? defaults.pollInterval_ms,
    fees: solanaFees(priorityMax_lamports),
  };
}
