import { Networks } from '@stellar/stellar-sdk';
import { type Chain, type ChainId, chainOf } from '../../../domain/chains.ts';
import { defaultAgree } from '../node/agreement.ts';
import type { Agree } from '../node/nodes.ts';

export const stellarChainId = 1500 satisfies ChainId;

/**
 * Newest protocol that this release was tested with. The SDK decodes protocol 27; what 30 changes, ledger headers, is not read here
 * (test/chains/stellar/protocol30.test.ts).
 */
export const newestProtocol = 30;

/** Passphrase of the served network. */
export const publicNetwork: string = chainOf(stellarChainId).network ?? Networks.PUBLIC;

export interface StellarFees {
  /** Minimum offer per operation, in stroops (10^-7 XLM): ten times the network's minimum, so payouts land under load too. */
  readonly inclusion: bigint;
  /** Maximum offer per operation. A replacement must offer ten times what it replaces. */
  readonly inclusionMax: bigint;
  /** Usual resource fee of a contract call. */
  readonly resourcesUsual: bigint;
  /** Maximum resource fee of a contract call. */
  readonly resourcesMax: bigint;
}

export interface StellarConfig {
  readonly chainId: typeof stellarChainId;
  /** In order of preference. They may contain API keys: never logged. */
  readonly rpcUrls: readonly string[];
  readonly agree: Agree;
  readonly networkPassphrase: string;
  /** Account (G…) that receives payins and pays out. */
  readonly treasury: string;
  /** Accounts (G…) that number payouts besides the treasury: a ledger accepts one transaction per account. */
  readonly channels: readonly string[];
  /** Contract (C…) of the intent `stellar_payin_contracts`; null if it is not offered. */
  readonly payinContract: string | null;
  readonly pollInterval_ms: number;
  /** For one JSON-RPC call, including its retries. */
  readonly callTimeout_ms: number;
  /** Maximum ledgers of one event query while catching up; nodes search at most 10,000. */
  readonly rangeLedgersMax: number;
  /** Validity of a signed payout. */
  readonly validity_s: number;
  readonly fees: StellarFees;
}

export type StellarSettings = Pick<StellarConfig, 'rpcUrls' | 'networkPassphrase' | 'treasury' | 'payinContract'> &
  Partial<Pick<StellarConfig, 'channels'>>;

const pollLeast_ms = 500;
const xlm = 10_000_000n;

/** Recommended settings; the operator's settings override them. */
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
