/** The coins that chains charge their fees in. */
import { type ChainFamily, type ChainId, chainOf } from './chains.ts';

export const coinSymbols = ['ETH', 'BNB', 'POL', 'SOL', 'XLM'] as const;
export type CoinSymbol = (typeof coinSymbols)[number];

/** Stands where a token has its contract. No chain spells a contract so. */
export const coinAddress = 'coin';

export interface Coin {
  readonly symbol: CoinSymbol;
  readonly address: typeof coinAddress;
  readonly decimals: number;
}

const symbols: Readonly<Record<ChainId, CoinSymbol>> = {
  1: 'ETH',
  8453: 'ETH',
  42161: 'ETH',
  56: 'BNB',
  137: 'POL',
  501: 'SOL',
  1500: 'XLM',
};

/** Of the smallest unit: wei, lamports, stroops. */
const decimals: Readonly<Record<ChainFamily, number>> = { evm: 18, solana: 9, stellar: 7 };

/** Whether an asset is its chain's own coin. */
export const isCoin = ({ address }: { readonly address: string }): boolean => address === coinAddress;

export const coinOf = (chainId: ChainId): Coin => ({
  symbol: symbols[chainId],
  address: coinAddress,
  decimals: decimals[chainOf(chainId).family],
});
