import { type Chain, type ChainId, chainOf } from '../../../domain/chains.ts';
import { defaultAgree } from '../node/agreement.ts';
import type { Agree } from '../node/nodes.ts';

export const solanaChainId = 501 satisfies ChainId;

export interface SolanaFees {
  /** Compute units of a transfer that creates the receiver's account. */
  readonly unitsUsual: number;
  /** Maximum compute units of one transaction. */
  readonly unitsMax: number;
  /** Minimum and maximum priority price, in millionths of a lamport per compute unit. */
  readonly priceMin_microLamports: bigint;
  readonly priceMax_microLamports: bigint;
}

export interface SolanaConfig {
  readonly chainId: typeof solanaChainId;
  /** In order of preference. They may contain API keys: never logged. */
  readonly rpcUrls: readonly string[];
  readonly agree: Agree;
  /** Wallet that pays out; deposits are swept to its token account. */
  readonly treasury: string;
  readonly pollInterval_ms: number;
  /** For one JSON-RPC call, including its retries. */
  readonly callTimeout_ms: number;
  readonly fees: SolanaFees;
}

export type SolanaSettings = Pick<SolanaConfig, 'rpcUrls' | 'treasury'>;

/** Default maximum for a transaction's priority: a thousandth of a SOL. */
export const priorityUsualMax_lamports = 1_000_000n;

const unitsMax = 200_000;
const microLamports = 1_000_000n;

/** A transfer uses some 40,000 units. @param priorityMax_lamports cost of all units at the highest price */
export const solanaFees = (priorityMax_lamports = priorityUsualMax_lamports): SolanaFees => ({
  unitsUsual: 80_000,
  unitsMax,
  priceMin_microLamports: 1_000n,
  priceMax_microLamports: (priorityMax_lamports * microLamports) / BigInt(unitsMax),
});

/** Recommended settings; the operator's settings override them. */
export const defaultSolanaConfig = (settings: SolanaSettings): SolanaConfig => ({
  ...settings,
  agree: defaultAgree(settings.rpcUrls),
  chainId: solanaChainId,
  pollInterval_ms: 1_000,
  callTimeout_ms: 10_000,
  fees: solanaFees(),
});

/** Maximum concurrent calls of one pass to a node. */
export const callsAtOnce = 4;

export const solanaChain = (): Chain => chainOf(solanaChainId);

/** Lamports per signature. */
export const signatureFee = 5_000n;
/** Rent deposit of an account of this many bytes, in lamports; it is returned when the account is closed. */
export const rentOf = (bytes: number): bigint => BigInt(128 + bytes) * 6_960n;
/** Rent of a token account. */
export const tokenAccountRent = rentOf(165);
/** Minimum balance of a wallet. */
export const walletRent = 890_880n;
