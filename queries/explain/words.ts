/** What sentences about payments share. */
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { formatAmount } from '../../domain/money.ts';

export const chainName = (id: ChainId): string => chainOf(id).name;

interface Unit {
  readonly symbol: string;
  readonly decimals: number;
}

/** Smallest units as `10.01 USDC`. */
export const sum = (units: bigint | string, { symbol, decimals }: Unit): string =>
  `${formatAmount(BigInt(units), decimals)} ${symbol}`;
