import { type Chain, type ChainId, chainOf } from '../../../domain/chains.ts';
import { defaultAgree } from '../node/agreement.ts';
import type { Agree } from '../node/nodes.ts';

export const solanaChainId = 501 satisfies ChainId;

export interface SolanaFees {
  /** Compute units that a transfer uses which creates the receiver's account. */
  readonly unitsUsual: number;
  /** Most compute units that one transaction may use. */
  readonly unitsMax: number;
  /** Millionths of a lamport for a compute unit: the least and the most that is offered for priority. */
  readonly priceMin_microLamports: bigint;
  readonly priceMax_microLamports: bigint;
}

export interface SolanaConfig {
  readonly chainId: typeof solanaChainId;
  /** In order of preference. They may hold API keys: never logged. */
  readonly rpcUrls: readonly string[];
  readonly agree: Agree;
  /** The wallet that pays out, and to whose token account deposits are swept. */
  readonly treasury: string;
  readonly pollInterval_ms: number;
  /** For one JSON-RPC call, its retries included. */
  readonly callTimeout_ms: number;
  readonly fees: SolanaFees;
}

export type SolanaSettings = Pick<SolanaConfig, 'rpcUrls' | 'treasury'>;

/** For a transaction's priority at most, unless the operator says otherwise: a thousandth of a SOL. */
export const priorityUsualMax_lamports = 1_000_000n;

const unitsMax = 200_000;
const microLamports = 1_000_000n;

/** A transfer uses 40,000 units or so. @param priorityMax_lamports what all units cost at the highest price */
export const solanaFees = (priorityMax_lamports = priorityUsualMax_lamports): SolanaFees => ({
  unitsUsual: 80_000,
  unitsMax,
  priceMin_microLamports: 1_000n,
  priceMax_microLamports: (priorityMax_lamports * microLamports) / BigInt(unitsMax),
});

/** The recommended settings, to be overridden by the operator's. */
export const defaultSolanaConfig = (settings: SolanaSettings): SolanaConfig => ({
  ...settings,
  agree: defaultAgree(settings.rpcUrls),
  chainId: solanaChainId,
  pollInterval_ms: 1_000,
  callTimeout_ms: 10_000,
  fees: solanaFees(),
});

/** Calls to a node that one pass has under way at most. */
export const callsAtOnce = 4;

export const solanaChain = (): Chain => chainOf(solanaChainId);

/** Lamports for each signature. */
export const signatureFee = 5_000n;
/** What a token account of 165 bytes must hold to be kept by the network, in lamports; it comes back when the account is closed. */
export const tokenAccountRent = 2_039_280n;
/** The same for a wallet: what it must not fall below. */
export const walletRent = 890_880n;
