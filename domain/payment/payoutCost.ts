/** What a payout costs on its chain. Its payment's fee bears that, so that nobody drains the treasury by payments that cost more. */
import type { Token } from '../chains.ts';
import { dividedUp, larger, microUsdDecimals, rescaleUp } from '../money.ts';
import type { FeePolicy } from './fees.ts';

export interface PayoutCost {
  /** In millionths of a dollar, rounded up. */
  readonly cost_microUsd: bigint;
  /** The least that a receiver is paid, in millionths of a dollar. */
  readonly least_microUsd: bigint;
  /** Whether the cost is also that of the receiver's account for the token, which does not exist; left out where none is needed. */
  readonly opensAccount?: boolean;
}

/** What a chain's coin costs. */
export interface CoinPrice {
  /** Of a whole coin. */
  readonly price_microUsd: bigint;
  readonly decimals: number;
}

/** @param amount in the coin's smallest unit */
export const coinInMicroUsd = (amount: bigint, { price_microUsd, decimals }: CoinPrice): bigint =>
  dividedUp(amount * price_microUsd, 10n ** BigInt(decimals));

/** The fee that covers the cost, unless it need not: its fixed part is the cost where that is more. @param token of the source */
export function coveringFee(policy: FeePolicy, { decimals }: Token, { cost_microUsd }: PayoutCost): FeePolicy {
  const cost = rescaleUp(cost_microUsd, microUsdDecimals, decimals);
  return cost > policy.fixed && !policy.belowCost ? { ...policy, fixed: cost } : policy;
}

/** The least that a receiver is paid, in units of his token: never less than what paying it costs. */
export const leastPayout = ({ decimals }: Token, { cost_microUsd, least_microUsd }: PayoutCost): bigint =>
  rescaleUp(larger(cost_microUsd, least_microUsd), microUsdDecimals, decimals);
