import { type ChainId, chainOf } from '../../../domain/chains.ts';
import { defaultAgree } from '../node/agreement.ts';
import type { Agree } from '../node/nodes.ts';
import type { GasSettings } from '../settings.ts';

export const evmChainIds = [8453, 56, 1, 42161, 137] as const satisfies readonly ChainId[];
export type EvmChainId = (typeof evmChainIds)[number];

/** Chain id of nodes and transactions: on a test network it differs from the catalogue's id. */
export const networkId = (chainId: ChainId): number => Number(chainOf(chainId).network ?? chainId);

export const isEvmChain = (id: ChainId): id is EvmChainId => (evmChainIds as readonly ChainId[]).includes(id);

export type FinalityTag = 'safe' | 'finalized';

/**
 * Condition of finality: a number of blocks on top, the node's tag, or both. `after_ms`: the newest block's time is that much later;
 * `atLeast` is then the number of blocks in that time at the catalogue's pace, so a slow chain is no less deep.
 */
export type FinalityDepth =
  | number
  | FinalityTag
  | { readonly tag?: FinalityTag; readonly atLeast: number; readonly after_ms?: number };

export interface EvmFees {
  /** Maximum price per unit of gas: above it nothing is signed. */
  readonly maxFeePerGas_wei: bigint;
  /** Minimum tip, on chains whose validators ignore less. */
  readonly minTip_wei: bigint;
  /** Maximum tip, whatever nodes suggest. */
  readonly maxTip_wei: bigint;
  /** Minimum gas assumed for a transfer: estimates omit some chains' charges for data. */
  readonly gasUsual: bigint;
  /** Maximum gas of one transfer. */
  readonly gasMax: bigint;
}

export interface EvmChainConfig {
  readonly chainId: EvmChainId;
  /** In order of preference. They may contain API keys and are never logged. */
  readonly rpcUrls: readonly string[];
  readonly agree: Agree;
  readonly depths: {
    readonly final: FinalityDepth;
    readonly finalLarge: FinalityDepth;
    readonly payout: FinalityDepth;
  };
  /** Payins from this many whole tokens wait for `finalLarge`. */
  readonly largeFrom_usd: number;
  /** Maximum amount confirmed before `finalLarge`; payins beyond it wait. */
  readonly exposureMax_usd: bigint;
  readonly pollInterval_ms: number;
  /** Poll interval of the node's tags, in chain time: they move no faster, or nothing waits for them. */
  readonly tagEvery_ms: number;
  /** Timeout of one JSON-RPC call, including its retries. */
  readonly callTimeout_ms: number;
  /** Maximum blocks of one log query while catching up. */
  readonly rangeBlocksMax: number;
  readonly fees: EvmFees;
}

const gwei = 1_000_000_000n;
const milliGwei = gwei / 1_000n;

/** Depth as chain time on top of a block. */
export const after = (chainId: EvmChainId, after_ms: number, tag?: FinalityTag): FinalityDepth => ({
  atLeast: Math.ceil(after_ms / chainOf(chainId).block_ms),
  after_ms,
  ...(tag && { tag }),
});

const depths = (final: FinalityDepth, finalLarge: FinalityDepth, payout: FinalityDepth = final) => ({
  final,
  finalLarge,
  payout,
});
const fees = (
  max_gwei: bigint,
  minTip_milliGwei: bigint,
  maxTip_gwei: bigint,
  { gasUsual = 65_000n, gasMax = 500_000n } = {},
): EvmFees => ({
  maxFeePerGas_wei: max_gwei * gwei,
  minTip_wei: minTip_milliGwei * milliGwei,
  maxTip_wei: maxTip_gwei * gwei,
  gasUsual,
  gasMax,
});

/**
 * Finality per chain. Ethereum: the time of 12 blocks, large sums wait for Casper finality. Base and Arbitrum: 20 and 10 seconds of
 * sequencer blocks for small sums, for large ones the batch must be final on Ethereum. Polygon and BNB: their fast finality, with more time
 * for large sums.
 */
const perChain: Readonly<Record<EvmChainId, Pick<EvmChainConfig, 'depths' | 'largeFrom_usd' | 'fees'>>> = {
  1: { depths: depths(after(1, 144_000), 'finalized'), largeFrom_usd: 1_000, fees: fees(150n, 10n, 20n) },
  8453: {
    depths: depths(after(8453, 20_000), 'finalized'),
    largeFrom_usd: 1_000,
    fees: fees(5n, 0n, 2n, { gasUsual: 100_000n }),
  },
  // Arbitrum charges for Ethereum's data in units of gas: its gas figures are large and its price is small.
  42161: {
    depths: depths(after(42161, 10_000), 'finalized'),
    largeFrom_usd: 1_000,
    fees: fees(5n, 0n, 2n, { gasUsual: 200_000n, gasMax: 10_000_000n }),
  },
  137: {
    depths: depths('finalized', after(137, 128_000, 'finalized')),
    largeFrom_usd: 10_000,
    fees: fees(2_000n, 30_000n, 1_000n),
  },
  56: {
    depths: depths(after(56, 7_000, 'finalized'), after(56, 29_000, 'finalized')),
    largeFrom_usd: 1_000,
    fees: fees(20n, 50n, 10n),
  },
};

/** Ethereum's tags move by slots, Base's and Arbitrum's with Ethereum's; the other chains vote on each block. */
const tagEvery_ms: Readonly<Record<EvmChainId, number>> = {
  1: 12_000,
  8453: 12_000,
  42161: 12_000,
  137: 4_000,
  56: 5_000,
};

/** Ten payins just below the large limit. */
export const exposureFor = (largeFrom_usd: bigint): bigint => 10n * largeFrom_usd;

/** Reads several blocks together, often enough to detect a payin within a second and a half. */
const pollLeast_ms = 1_400;

/** The operator's limits override a chain's own. */
export function feesOf(chainId: EvmChainId, { gasMax, gasPriceMax_gwei, tipMax_gwei }: GasSettings): EvmFees {
  const { fees: own } = perChain[chainId];
  return {
    ...own,
    gasMax: gasMax ?? own.gasMax,
    maxFeePerGas_wei: gasPriceMax_gwei === undefined ? own.maxFeePerGas_wei : gasPriceMax_gwei * gwei,
    maxTip_wei: tipMax_gwei === undefined ? own.maxTip_wei : tipMax_gwei * gwei,
  };
}

/** Recommended settings of a chain; the operator's settings override them. */
export function defaultEvmChainConfig(chainId: EvmChainId, rpcUrls: readonly string[]): EvmChainConfig {
  return {
    chainId,
    rpcUrls,
    agree: defaultAgree(rpcUrls, BigInt(perChain[chainId].largeFrom_usd)),
    ...perChain[chainId],
    tagEvery_ms: tagEvery_ms[chainId],
    exposureMax_usd: exposureFor(BigInt(perChain[chainId].largeFrom_usd)),
    pollInterval_ms: Math.max(pollLeast_ms, chainOf(chainId).block_ms / 2),
    callTimeout_ms: 10_000,
    rangeBlocksMax: 2_000,
  };
}
