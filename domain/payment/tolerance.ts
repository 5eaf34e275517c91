/** How much less than agreed still pays. */
import { larger, microUsdDecimals, rescale, smaller } from '../money.ts';
import type { PaymentCreated } from './events.ts';
import { leastOf, type Source } from './sources.ts';

type Forgiving = Pick<PaymentCreated, 'policy' | 'destination'>;

/** In the source's units, by the app's policy; nothing where any amount is taken. Never so much that too little is left to pay out. */
export function forgivenOf(
  { policy, destination }: Forgiving,
  { amount, token }: Pick<Source, 'amount' | 'token'>,
): bigint {
  if (!policy || amount === null || destination.amount === null) return 0n;
  const { basisPoints, most_microUsd } = policy.tolerance;
  const share = (BigInt(amount) * BigInt(basisPoints)) / 10_000n;
  const most = rescale(BigInt(most_microUsd), microUsdDecimals, token.decimals);
  const spare = BigInt(destination.amount) - larger(BigInt(policy.leastPayout), 1n);
  const spared = rescale(larger(spare, 0n), destination.token.decimals, token.decimals);
  return smaller(smaller(share, most), spared);
}

/** The least that pays from this source. */
export const dueFrom = (terms: Forgiving, source: Pick<Source, 'amount' | 'limits' | 'token'>): bigint =>
  leastOf(source) - forgivenOf(terms, source);
