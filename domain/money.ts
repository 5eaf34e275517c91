/** Amounts: smallest units, decimal texts, coins, and conversions one to one. */
import type { DollarSymbol } from './chain.ts';
import { assertDollar, type ChainFamily, type ChainId, chainOf } from './chains.ts';

/** An amount in a token's smallest unit. Never a JavaScript number. */
export type Units = bigint & { readonly __brand: 'Units' };

/** Maximum digits of a decimal text; longer texts are refused before parsing. */
const digitsMax = 60;

/** Decimals of dollar amounts. */
export const microUsdDecimals = 6;

export const units = (value: bigint): Units => value as Units;

/** Units as events store them: digits without sign or leading zeros. */
export const unitsText = (value: bigint): string => value.toString();

export type AmountError = 'notDecimal' | 'tooManyDecimals' | 'tooLong';

/**
 * Reads a decimal text like `10.00` into smallest units, exactly: nothing is rounded.
 *
 * @param text plain decimal notation; no sign, exponent or grouping
 * @param decimals of the token, 0 to 18
 */
export function parseAmount(text: string, decimals: number): Units | AmountError {
  if (text.length > digitsMax) return 'tooLong';
  const match = /^(0|[1-9]\d*)(?:\.(\d+))?$/.exec(text);
  if (!match) return 'notDecimal';
  const fraction = (match[2] ?? '').replace(/0+$/, '');
  if (fraction.length > decimals) return 'tooManyDecimals';
  return units(BigInt((match[1] ?? '0') + fraction.padEnd(decimals, '0')));
}

/** Prints units as a decimal text with at least two places: `10.00`, `0.0199999`. */
export function formatAmount(value: bigint, decimals: number): string {
  const sign = value < 0n ? '-' : '';
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${sign}${whole}.${fraction.padEnd(2, '0')}`;
}

/** Converts between decimals, rounding down. The remainder is `value - rescale(rescale(value, from, to), to, from)`, in `from` units. */
export function rescale(value: bigint, from: number, to: number): Units {
  return units(to >= from ? value * 10n ** BigInt(to - from) : value / 10n ** BigInt(from - to));
}

/** Rounds down to what `decimals` places can represent; the result stays in `scale` units. */
export const floorTo = (value: bigint, scale: number, decimals: number): Units =>
  decimals >= scale ? units(value) : rescale(rescale(value, scale, decimals), decimals, scale);

/** Larger of two amounts in the same unit. */
export const larger = (a: bigint, b: bigint): bigint => (b > a ? b : a);
export const smaller = (a: bigint, b: bigint): bigint => (b < a ? b : a);

/** Rounds up, so a price is never short by a fraction. */
export const dividedUp = (value: bigint, by: bigint): bigint => (value + by - 1n) / by;

/** Converts between decimals, rounding up. */
export const rescaleUp = (value: bigint, from: number, to: number): Units =>
  to >= from ? rescale(value, from, to) : units(dividedUp(value, 10n ** BigInt(from - to)));

/** Rounds up to what `decimals` places can represent; the result stays in `scale` units. */
export const ceilTo = (value: bigint, scale: number, decimals: number): Units =>
  decimals >= scale ? units(value) : rescale(rescaleUp(value, scale, decimals), decimals, scale);

// Coins in which chains charge their fees.

export const coinSymbols = ['ETH', 'BNB', 'POL', 'SOL', 'XLM'] as const;
export type CoinSymbol = (typeof coinSymbols)[number];

/** Used as a coin's token address. No chain has a contract with this name. */
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

/** Decimals of the smallest unit: wei, lamports, stroops. */
const decimals: Readonly<Record<ChainFamily, number>> = { evm: 18, solana: 9, stellar: 7 };

/** True if an asset is its chain's own coin. */
export const isCoin = ({ address }: { readonly address: string }): boolean => address === coinAddress;

export const coinOf = (chainId: ChainId): Coin => ({
  symbol: symbols[chainId],
  address: coinAddress,
  decimals: decimals[chainOf(chainId).family],
});

// Conversions one to one: between two tokens, and between a token and US dollars. No other file of the service does this.

/** A unit that amounts are counted in: a token, or a part of a dollar. */
export interface DollarUnit {
  readonly symbol: DollarSymbol | 'USD';
  readonly decimals: number;
}

export const usDollar = { symbol: 'USD', decimals: 0 } as const;
export const usCent = { symbol: 'USD', decimals: 2 } as const;
export const usMillionth = { symbol: 'USD', decimals: microUsdDecimals } as const;

/** Converts an amount, rounding down. @throws PriceMissing */
export function convert(amount: bigint, from: DollarUnit, to: DollarUnit): Units {
  assertDollar(from.symbol);
  assertDollar(to.symbol);
  return rescale(amount, from.decimals, to.decimals);
}

/** Converts an amount, rounding up. @throws PriceMissing */
export function convertUp(amount: bigint, from: DollarUnit, to: DollarUnit): Units {
  assertDollar(from.symbol);
  assertDollar(to.symbol);
  return rescaleUp(amount, from.decimals, to.decimals);
}

/** Decimals of the two tokens of a route, which are both pegged to the dollar. Only `dollarRoute` makes it. */
export interface RouteDecimals {
  readonly source: number;
  readonly destination: number;
  readonly peg: 'usd';
}

/** @throws PriceMissing */
export function dollarRoute(source: DollarUnit, destination: DollarUnit): RouteDecimals {
  assertDollar(source.symbol);
  assertDollar(destination.symbol);
  return { source: source.decimals, destination: destination.decimals, peg: 'usd' };
}

interface Asset<S extends string> {
  readonly symbol: S;
  readonly address: string;
  readonly decimals: number;
}

/** Returns the asset if it is a token; undefined for a chain's coin, whose price the operator sets. */
export const tokenIn = <S extends string>(asset: Asset<S>): Asset<Exclude<S, CoinSymbol>> | undefined =>
  isCoin(asset) ? undefined : (asset as Asset<Exclude<S, CoinSymbol>>);
