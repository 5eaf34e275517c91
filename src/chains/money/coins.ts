/** Coins for fees: the operator's prices, and spending limits. */
import type { ChainId } from '../../../domain/chains.ts';
import { parseAmount } from '../../../domain/money.ts';
import type { Instant } from '../../../domain/time.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import type { Reader } from '../../environment/reader.ts';
import { higher } from '../../lib/concurrency.ts';

export interface CoinSettings {
  readonly decimals: number;
  /** Per whole coin, in millionths of a dollar. */
  readonly price_microUsd: bigint;
  /** Maximum cost of the signer's transactions in any sixty minutes, in smallest units. */
  readonly perHour: bigint;
  /** Minimum payout on this chain, in millionths of a dollar. */
  readonly leastPayout_microUsd: bigint;
}

/**
 * Dollars per coin, above the price of most years: if the price is too low, the treasury pays the difference. Coins per hour: some hundred
 * payouts.
 */
const defaults: Readonly<Record<ChainId, { readonly price_usd: string; readonly perHour: string }>> = {
  1: { price_usd: '4000', perHour: '2' },
  8453: { price_usd: '4000', perHour: '0.5' },
  42161: { price_usd: '4000', perHour: '0.5' },
  56: { price_usd: '900', perHour: '2' },
  137: { price_usd: '0.5', perHour: '2000' },
  501: { price_usd: '200', perHour: '5' },
  1500: { price_usd: '0.4', perHour: '500' },
};

/** Half a cent: slightly below what the usual fee leaves of anyAmount's minimum, 0.02. */
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

type Signed = Pick<SignedAttempt, 'account' | 'nonce' | 'fee' | 'signedAt'>;

/**
 * Maximum cost of one transfer's recorded attempts in the chain's coin, smallest units: only one attempt can land of those that share a
 * nonce, or have none, so the dearest counts.
 * @param since earlier attempts no longer count
 */
export function signedCost(attempts: readonly Signed[], since: Instant): bigint {
  const dearest = new Map<string, bigint>();
  for (const { account, nonce, fee, signedAt } of attempts) {
    if (signedAt < since) continue;
    const key = `${account}:${nonce}`;
    dearest.set(key, higher(dearest.get(key) ?? 0n, costOf(fee)));
  }
  return [...dearest.values()].reduce((sum, cost) => sum + cost, 0n);
}

/** Gas times its price on EVM chains; elsewhere the maximum fee, plus the rent of a new receiver's account. */
const costOf = ({ gas = '0', maxFeePerGas = '0', maxFee = '0', rent = '0' }: Signed['fee']): bigint =>
  BigInt(gas) * BigInt(maxFeePerGas) + BigInt(maxFee) + BigInt(rent);
