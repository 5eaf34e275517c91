/** The coins that chains take their fees in: what the operator says one costs, and how much of it may be spent. */
import type { ChainId } from '../../../domain/chains.ts';
import { parseAmount } from '../../../domain/money.ts';
import type { Reader } from '../../environment/reader.ts';

export interface CoinSettings {
  readonly decimals: number;
  /** Of a whole coin, in millionths of a dollar. */
  readonly price_microUsd: bigint;
  /** Most that the signer lets transactions of any sixty minutes cost, in smallest units. */
  readonly perHour: bigint;
  /** The least that a payout on this chain is worth, in millionths of a dollar. */
  readonly leastPayout_microUsd: bigint;
}

/** Dollars for a coin, rather more than in most years: a fee that is too low is paid by the treasury. Coins an hour: some hundred payouts. */
const defaults: Readonly<Record<ChainId, { readonly price_usd: string; readonly perHour: string }>> = {
  1: { price_usd: '4000', perHour: '2' },
  8453: { price_usd: '4000', perHour: '0.5' },
  42161: { price_usd: '4000', perHour: '0.5' },
  56: { price_usd: '900', perHour: '2' },
  137: { price_usd: '0.5', perHour: '2000' },
  501: { price_usd: '200', perHour: '5' },
  1500: { price_usd: '0.4', perHour: '500' },
};

/** Half a cent: of the least that anyAmount takes, 0.02, the usual fee leaves a little more. */
const leastPayout_usd = '0.005';

export function readCoin(read: Reader, id: ChainId, decimals: number): CoinSettings {
  const name = `SIGNER_MAX_HOUR_COIN_${id}`;
  const perHour = parseAmount(read.text(name, defaults[id].perHour), decimals);
  read.check(typeof perHour === 'bigint', `${name} is not a number of coins like 0.5`);
  return {
    decimals,
    price_microUsd: read.microUsd(`COIN_PRICE_${id}`, defaults[id].price_usd),
    perHour: typeof perHour === 'bigint' ? perHour : 0n,
    leastPayout_microUsd: read.microUsd(`PAYOUT_MIN_USD_${id}`, leastPayout_usd),
  };
}
