/** How what funded a payment is divided: received = payout + fee + excess + dust, to the last unit. */
import { assert } from '../decider.ts';
import { larger, rescale, smaller } from '../money.ts';
import type { Instant } from '../time.ts';
import type { Paid, Payin } from './counting.ts';
import type { BounceCode, PaymentCreated, PaymentEvent, PaymentEventData } from './events.ts';
import { type FeePolicy, feeOn, type RouteDecimals, type Split, splitAny } from './fees.ts';
import { isSameAsset } from './sources.ts';
import { forgivenOf } from './tolerance.ts';

export interface Divided extends Split {
  readonly rule: PaymentEventData<'PaymentFunded'>['rule'];
  readonly sourceAmount: bigint;
}

export type Outcome = Divided | BounceCode | 'notYet';

export const routeOf = ({ source, destination }: PaymentCreated): RouteDecimals => ({
  source: source.token.decimals,
  destination: destination.token.decimals,
});

const feePolicyOf = ({ fee }: PaymentCreated): FeePolicy => ({
  fixed: BigInt(fee.fixed),
  basisPoints: fee.basisPoints,
});

/** @param terms as they are when the payment is paid from where the money came */
export const divide = (terms: PaymentCreated, received: bigint): Outcome =>
  terms.type === 'anyAmount' ? divideWhatCame(terms, received) : divideAsAgreed(terms, received);

/** What is over the agreed amount is held and refundable; what is short by no more than the app's policy forgives, the receiver misses. */
function divideAsAgreed(terms: PaymentCreated, received: bigint): Outcome {
  const { source, destination } = terms;
  const agreed = { source: BigInt(source.amount ?? 0), payout: BigInt(destination.amount ?? 0) };
  assert(agreed.source > 0n && agreed.payout > 0n, 'an agreed payment has both amounts');
  const excess = received - agreed.source;
  if (excess < 0n)
    return -excess <= forgivenOf(terms, source)
      ? (lessThanAgreed(terms, received, agreedFee(terms)) ?? 'notYet')
      : 'notYet';
  const rule = excess > 0n ? 'overpaid' : 'agreed';
  return { rule, sourceAmount: agreed.source, fee: agreedFee(terms), payout: agreed.payout, excess, dust: 0n };
}

const agreedFee = ({ fee }: PaymentCreated): bigint => BigInt(fee.amount ?? 0);

/**
 * Less than agreed when the time is over, where the app's policy takes it: the fee is that of what came, and no more than was agreed.
 *
 * @returns undefined where too little is left to pay out, or any amount was taken
 */
export function divideUnder(terms: PaymentCreated, received: bigint): Divided | undefined {
  if (terms.type === 'anyAmount') return undefined;
  const [own, agreed] = [feeOn(received, feePolicyOf(terms), routeOf(terms)), agreedFee(terms)];
  return lessThanAgreed(terms, received, smaller(own, agreed));
}

function lessThanAgreed(terms: PaymentCreated, received: bigint, fee: bigint): Divided | undefined {
  if (received <= fee) return undefined;
  const route = routeOf(terms);
  const [left, agreed] = [
    rescale(received - fee, route.source, route.destination),
    BigInt(terms.destination.amount ?? 0),
  ];
  const payout = smaller(left, agreed);
  if (payout < larger(BigInt(terms.policy?.leastPayout ?? 0), 1n)) return undefined;
  const dust = received - fee - rescale(payout, route.destination, route.source);
  return { rule: 'short', sourceAmount: received, fee, payout, excess: 0n, dust };
}

/**
 * Too little may still be added to until the payment expires: a stranger's dust must not end it. A contract's limits hold for each call,
 * and only its sender's calls count.
 */
function divideWhatCame(terms: PaymentCreated, received: bigint): Outcome {
  const { intent, limits } = terms;
  if (limits && received < BigInt(limits.min)) return intent === null ? 'notYet' : 'amountTooLow';
  if (limits && received > BigInt(limits.max)) return 'amountTooHigh';
  const split = splitAny(received, feePolicyOf(terms), routeOf(terms));
  return split ? { ...split, rule: 'anyAmount', sourceAmount: received } : 'notYet';
}

/**
 * PaymentFunded with all its inputs.
 *
 * @param p as it is when it is paid from where the payins came
 */
export function funded(
  { terms, sources }: Pick<Paid, 'terms' | 'sources'>,
  payins: readonly Payin[],
  divided: Divided,
  now: Instant,
): PaymentEvent {
  const { rule, sourceAmount, fee, excess, dust, payout } = divided;
  const route = routeOf(terms);
  const received = payins.reduce((sum, { amount }) => sum + amount, 0n);
  const paidOut = rescale(payout, route.destination, route.source);
  assert(paidOut + fee + excess + dust === received, 'received = payout + fee + excess + dust');
  assert(excess >= 0n && dust >= 0n && fee >= 0n && payout > 0n, 'no part of a split is negative');
  const { chainId, token } = terms.source;
  return {
    type: 'PaymentFunded',
    data: {
      rule,
      transferIds: payins.map((payin) => payin.id),
      // Said where it is not what the payment was created with.
      ...(!isSameAsset(sources[0], terms.source) && { source: { chainId, tokenAddress: token.address } }),
      received: received.toString(),
      sourceAmount: sourceAmount.toString(),
      fee: fee.toString(),
      excess: excess.toString(),
      dust: dust.toString(),
      payout: payout.toString(),
      fundedAt: now,
    },
  };
}
