import type { Instant } from '../../../domain/time.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { higher } from '../../lib/inParallel.ts';

type Signed = Pick<SignedAttempt, 'account' | 'nonce' | 'fee' | 'signedAt'>;

/**
 * The most of its chain's coin, in smallest units, that attempts of one transfer may cost, as they are recorded: of those that share a
 * nonce, or have none, one lands, and the dearest counts.
 * @param since attempts that were signed before count no more
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

/** Gas and its price on EVM chains; elsewhere a sum, and what opening the receiver's account takes. */
const costOf = ({ gas = '0', maxFeePerGas = '0', maxFee = '0', rent = '0' }: Signed['fee']): bigint =>
  BigInt(gas) * BigInt(maxFeePerGas) + BigInt(maxFee) + BigInt(rent);
