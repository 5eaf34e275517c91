import type { SignedAttempt } from '../../../../domain/payment/events.ts';
import { higher } from '../../bigints.ts';
import { ask, object, whole } from '../../node/jsonRpc.ts';
import { PayoutBlocked } from '../../ports.ts';
import type { StellarFees } from '../config.ts';
import type { StellarNode } from '../rpc.ts';

/** Nodes replace a waiting transaction only for ten times its offer. */
const replacementFactor = 10n;

/**
 * What to offer for an operation now: what nine of ten lately paid at most, or our least offer. The network charges only what is needed.
 * @throws PayoutBlocked when the network asks for more than the configured maximum
 */
export async function freshInclusion(
  node: StellarNode,
  kind: 'inclusionFee' | 'sorobanInclusionFee',
  fees: StellarFees,
): Promise<bigint> {
  const p90 = await ask(node, 'getFeeStats', {}, (answer) => whole(object(object(answer)[kind])['p90']));
  return within(higher(fees.inclusion, p90), fees);
}

/** An offer that replaces an attempt and is no lower than today's. @throws PayoutBlocked above the configured maximum */
export const inclusionToReplace = ({ fee }: Pick<SignedAttempt, 'fee'>, fresh: bigint, fees: StellarFees): bigint =>
  within(higher(BigInt(fee['inclusion'] ?? '0') * replacementFactor, fresh), fees);

function within(inclusion: bigint, { inclusionMax }: StellarFees): bigint {
  if (inclusion <= inclusionMax) return inclusion;
  const message = `the network asks for ${inclusion} stroops per operation, the limit is ${inclusionMax}: wait, or raise the limit`;
  throw new PayoutBlocked('gas', message);
}
