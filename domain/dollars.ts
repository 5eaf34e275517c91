/** Converts amounts one to one: between two tokens, and between a token and US dollars. No other file of the service does this. */
import type { DollarSymbol } from './chain.ts';
import { type CoinSymbol, isCoin, microUsdDecimals, rescale, rescaleUp, type Units } from './money.ts';
import { assertDollar } from './pegs.ts';

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
