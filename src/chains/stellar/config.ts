import { Networks } from '@stellar/stellar-sdk';
import { type Chain, type ChainId, chainOf } from '../../../domain/chains.ts';
import { defaultAgree } from '../node/agreement.ts';
import type { Agree } from '../node/nodes.ts';

export const stellarChainId = 1500 satisfies ChainId;

/**
 * Of the network, as this release was tried with it. The SDK decodes protocol 27; what 30 changes, ledger headers, is not read here
 * (test/chains/stellar/protocol30.test.ts).
 */
export const newestProtocol = 30;

/** The passphrase of the network that is served. */
export const publicNetwork: string = chainOf(stellarChainId).network ?? Networks.PUBLIC;

export interface StellarFees {
  /** Least offer for one operation, in stroops (10^-7 XLM): ten times the network's minimum, so that payouts land in a busy moment too. */
  readonly inclusion: bigint;
  /** Most that is offered for one operation. A replacement must offer ten times what it replaces. */
  readonly inclusionMax: bigint;
  /** What a contract call usually pays for its resources. */
  readonly resourcesUsual: bigint;
  /** Most that a contract call may pay for its resources. */
  readonly resourcesMax: bigint;
}

export interface StellarConfig {
  readonly chainId: typeof stellarChainId;
  /** In order of preference. They may hold API keys: never logged. */
  readonly rpcUrls: readonly string[];
  readonly agree: Agree;
  readonly networkPassphrase: string;
  /** The account (G…) that receives payins and pays out. */
  readonly treasury: string;
  /** Accounts (G…) that number payouts beside the treasury: a ledger takes one transaction of each account. */
  readonly channels: readonly string[];
  /** The contract (C…) of the intent `stellar_payin_contracts`; null where it is not offered. */
  readonly payinContract: string | null;
  readonly pollInterval_ms: number;
  /** For one JSON-RPC call, its retries included. */
  readonly callTimeout_ms: number;
  /** Most ledgers of one event query while catching up; nodes search 10,000 at most. */
  readonly rangeLedgersMax: number;
  /** How long a signed payout may land. */
  readonly validity_s: number;
  readonly fees: StellarFees;
}

export type StellarSettings = Pick<StellarConfig, 'rpcUrls' | 'networkPassphrase' | 'treasury' | 'payinContract'> &
  Partial<Pick<StellarConfig, 'channels'>>;

const pollLeast_ms = 500;
const xlm = 10_000_000n;

/** The recommended settings, to be overridden by the operator's. */
export const defaultStellarConfig = (settings: StellarSettings): StellarConfig => ({
  channels: [],
  agree: defaultAgree(settings.rpcUrls),
  ...settings,
  chainId: stellarChainId,
  pollInterval_ms: Math.max(pollLeast_ms, chainOf(stellarChainId).block_ms / 2),
  callTimeout_ms: 10_000,
  rangeLedgersMax: 5_000,
  validity_s: 300,
  fees: { inclusion: 1_000n, inclusionMax: xlm / 10n, resourcesUsual: xlm / 20n, resourcesMax: xlm },
});

export const stellarChain = (): Chain => chainOf(stellarChainId);
