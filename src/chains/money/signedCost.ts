import type { Instant } from '../../../domain/time.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { higher } from '../../lib/concurrency.ts';

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
