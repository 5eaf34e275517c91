/**
 * An app's policy for wrong amounts. A payment's terms hold the policy that was in force at creation, so its stream alone explains each
 * decision.
 */
import Type, { type Static } from 'typebox';
import { formatAmount, microUsdDecimals } from '../money.ts';
import { Amount, closed, oneOf } from '../schema.ts';
import { SourceTerms } from './shapes.ts';

/**
 * accept: the money counts. hold: the treasury keeps it until an operator or the owner decides. refund: it is refunded once the payer
 * proves an address.
 */
export const verdicts = ['accept', 'hold', 'refund'] as const;
export type Verdict = (typeof verdicts)[number];
/** Overpayment cannot be accepted: a receiver never gets more than agreed. */
export const overVerdicts = ['hold', 'refund'] as const;

/** Maximum tolerance. */
export const toleranceMax = { basisPoints: 1_000, most_microUsd: 1_000_000_000n } as const;
/** Seven days. */
export const lateMax_minutes = 10_080;

const choices = {
  /** A shortfall within both bounds still pays: the receiver gets that much less. */
  tolerance: Type.Object(
    { basisPoints: Type.Integer({ minimum: 0, maximum: toleranceMax.basisPoints }), most_microUsd: Amount },
    closed,
  ),
  /** Verdict on an underpayment when the payment's time is over. */
  under: oneOf(verdicts),
  over: oneOf(overVerdicts),
  late: oneOf(verdicts),
  /** Minutes after expiry in which late money is accepted; 0 if it is not accepted. */
  lateWithin_minutes: Type.Integer({ minimum: 0, maximum: lateMax_minutes }),
  /** Verdict on another catalogue token on the same chain, exchanged 1:1. */
  wrongToken: oneOf(verdicts),
  /** Verdict on another chain on which the payment's deposit address is watched. */
  wrongChain: oneOf(verdicts),
};

export const AmountPolicy = Type.Object(choices, closed);

/** Policy as stored in a payment's terms. */
export const PolicyTerms = Type.Object(
  {
    ...choices,
    /** Minimum payout, in destination units. */
    leastPayout: Amount,
    /** Sources that count although payers are not offered them; omitted if there are none. */
    tolerated: Type.Optional(Type.Array(SourceTerms, { minItems: 1, maxItems: 12 })),
  },
  closed,
);

export const policyRules = ['tolerance', 'under', 'over', 'late', 'wrongToken', 'wrongChain'] as const;
export type PolicyRule = (typeof policyRules)[number];

export type AmountPolicy = Static<typeof AmountPolicy>;
export type PolicyTerms = Static<typeof PolicyTerms>;

/** Default policy: all wrong amounts are held. */
export const holdAll: AmountPolicy = {
  tolerance: { basisPoints: 0, most_microUsd: '0' },
  under: 'hold',
  over: 'hold',
  late: 'hold',
  lateWithin_minutes: 0,
  wrongToken: 'hold',
  wrongChain: 'hold',
};

export const isSamePolicy = (a: AmountPolicy, b: AmountPolicy): boolean =>
  a.tolerance.basisPoints === b.tolerance.basisPoints &&
  a.tolerance.most_microUsd === b.tolerance.most_microUsd &&
  a.lateWithin_minutes === b.lateWithin_minutes &&
  (['under', 'over', 'late', 'wrongToken', 'wrongChain'] as const).every((rule) => a[rule] === b[rule]);

/** Policy as requests write it, amounts in dollars. Defaults: hold; no tolerance; late money refused. */
export interface StatedPolicy {
  readonly tolerance?: { readonly basisPoints: number; readonly most: string };
  readonly under?: Verdict;
  readonly over?: AmountPolicy['over'];
  readonly late?: Verdict;
  readonly lateWithinMinutes?: number;
  readonly wrongToken?: Verdict;
  readonly wrongChain?: Verdict;
}

/** Policy as answers return it. */
export type ShownPolicy = Required<StatedPolicy>;

export const shownPolicy = ({ tolerance, lateWithin_minutes, ...verdicts }: AmountPolicy): ShownPolicy => ({
  ...verdicts,
  tolerance: {
    basisPoints: tolerance.basisPoints,
    most: formatAmount(BigInt(tolerance.most_microUsd), microUsdDecimals),
  },
  lateWithinMinutes: lateWithin_minutes,
});
