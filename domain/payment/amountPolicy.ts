/**
 * What an app lets happen with money that is not what was agreed. What is in force when a payment is created stands in its terms, so that
 * its stream alone explains each decision.
 */
import Type, { type Static } from 'typebox';
import { formatAmount, microUsdDecimals } from '../money.ts';
import { Amount, closed, oneOf } from '../schema.ts';
import { SourceTerms } from './shapes.ts';

/** accept: it pays. hold: it stays here until somebody decides. refund: it goes back once an address of the payer's is proven. */
export const verdicts = ['accept', 'hold', 'refund'] as const;
export type Verdict = (typeof verdicts)[number];
/** More than agreed cannot be accepted: nobody is paid more than he asked for. */
export const overVerdicts = ['hold', 'refund'] as const;

/** So much of an amount may be forgiven at most. */
export const toleranceMax = { basisPoints: 1_000, most_microUsd: 1_000_000_000n } as const;
/** Seven days. */
export const lateMax_minutes = 10_080;

const choices = {
  /** An amount may be short by both at most and still pays: the receiver gets that much less. */
  tolerance: Type.Object(
    { basisPoints: Type.Integer({ minimum: 0, maximum: toleranceMax.basisPoints }), most_microUsd: Amount },
    closed,
  ),
  /** Too little when the time to pay is over. */
  under: oneOf(verdicts),
  over: oneOf(overVerdicts),
  late: oneOf(verdicts),
  /** How long after the end money is accepted; 0 where late money is not. */
  lateWithin_minutes: Type.Integer({ minimum: 0, maximum: lateMax_minutes }),
  /** Another token of the catalogue on the same chain, one for one. */
  wrongToken: oneOf(verdicts),
  /** Another chain on which the payment's own deposit address is watched. */
  wrongChain: oneOf(verdicts),
};

export const AmountPolicy = Type.Object(choices, closed);

/** As a payment's terms keep it. */
export const PolicyTerms = Type.Object(
  {
    ...choices,
    /** The least that the receiver gets, in units of the destination. */
    leastPayout: Amount,
    /** What the payment can be paid from besides what its payer is offered; left out where there is nothing. */
    tolerated: Type.Optional(Type.Array(SourceTerms, { minItems: 1, maxItems: 12 })),
  },
  closed,
);

export const policyRules = ['tolerance', 'under', 'over', 'late', 'wrongToken', 'wrongChain'] as const;
export type PolicyRule = (typeof policyRules)[number];

export type AmountPolicy = Static<typeof AmountPolicy>;
export type PolicyTerms = Static<typeof PolicyTerms>;

/** Whatever was not agreed is held: the policy of an app that has set none. */
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

/** As people state it, amounts in dollars: what is left out is held, forgives nothing, or is not taken. */
export interface StatedPolicy {
  readonly tolerance?: { readonly basisPoints: number; readonly most: string };
  readonly under?: Verdict;
  readonly over?: AmountPolicy['over'];
  readonly late?: Verdict;
  readonly lateWithinMinutes?: number;
  readonly wrongToken?: Verdict;
  readonly wrongChain?: Verdict;
}

/** As people read it. */
export type ShownPolicy = Required<StatedPolicy>;

export const shownPolicy = ({ tolerance, lateWithin_minutes, ...verdicts }: AmountPolicy): ShownPolicy => ({
  ...verdicts,
  tolerance: {
    basisPoints: tolerance.basisPoints,
    most: formatAmount(BigInt(tolerance.most_microUsd), microUsdDecimals),
  },
  lateWithinMinutes: lateWithin_minutes,
});
