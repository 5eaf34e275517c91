import type { SignedAttempt } from '../../../../domain/payment/events.ts';
import { higher } from '../../bigints.ts';
import { PayoutBlocked } from '../../ports.ts';
import type { StellarFees } from '../config.ts';
import { ask, malformed } from '../reads.ts';
import type { StellarNode } from '../rpc.ts';

/** Nodes replace a waiting transaction only for ten times its offer. */
const replacementFactor = 10n;

/**
 * What to offer for an operation now: above what nine of ten paid lately. Only what a crowd makes necessary is charged.
 * @throws PayoutBlocked when the network asks for more than the configured maximum
 */
export async function freshInclusion(
  node: StellarNode,
  kind: 'inclusionFee' | 'sorobanInclusionFee',
  fees: StellarFees,
): Promise<bigint> {
  const answer = await ask(node, 'getFeeStats', {});
  const p90 = (answer[kind] as { p90?: string } | undefined)?.p90;
  if (!/^\d{1,19}$/.test(p90 ?? '')) throw malformed(node, 'getFeeStats', kind);
  return within(higher(fees.inclusion, BigInt(p90 ?? 0)), fees);
}

/** An offer that replaces an attempt and is no lower than today's. @throws PayoutBlocked above the configured maximum */
export const inclusionToReplace = ({ fee }: Pick<SignedAttempt, 'fee'>, fresh: bigint, fees: StellarFees): bigint =>
  within(higher(BigInt(fee['inclusion'] ?? '0') * replacementFactor, fresh), fees);

function within(inclusion: bigint, { inclusionMax }: StellarFees): bigint {
  if (inclusion <= inclusionMax) return inclusion;
  const message = `the network asks for ${inclusion} stroops per operation, the limit is ${inclusionMax}: wait, or raise the limit`;
  throw new PayoutBlocked('gas', message);
}
