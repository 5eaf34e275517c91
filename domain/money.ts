import { type ChainFamily, type ChainId, chainOf } from './chains.ts';

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
