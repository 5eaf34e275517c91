/** Applies an app's policy to wrong money, and records one decision per case. */
import { smaller } from '../money.ts';
import type { Instant } from '../time.ts';
import type { PolicyRule, Verdict } from './amountPolicy.ts';
import type { BounceCode, PaymentEvent } from './events.ts';
import { type KnownSigner, provenShares } from './refundOrder.ts';
import { isSameAsset, type Payin, sumOf } from './sources.ts';
import type { Payment } from './state.ts';
import { orderedBy, type Refundable, refundable } from './state.ts';

interface Decided {
  readonly rule: PolicyRule;
  readonly verdict: Verdict;
  /** Payins of one chain and token; amounts are in its units. */
  readonly payins: readonly Payin[];
  readonly expected: string | null;
  readonly amount: bigint;
}

/** `[]` for a payment without a policy: all its wrong money is held, and no decision is recorded. */
function applied(
  p: Payment,
  { rule, verdict, payins, expected, amount }: Decided,
  now: Instant,
): readonly PaymentEvent[] {
  const [first] = payins;
  if (!p.terms.policy || !first) return [];
  const { chainId, token } = first.transfer;
  const facts = { chainId, token, transferIds: payins.map(({ id }) => id), expected };
  const sums = { received: sumOf(payins).toString(), amount: amount.toString() };
  return [{ type: 'PolicyApplied', data: { rule, verdict, ...facts, ...sums, decidedAt: now } }];
}

/** Money that cannot count is held, even if the verdict was accept. */
const unlessAccepted = (verdict: Verdict): Exclude<Verdict, 'accept'> => (verdict === 'accept' ? 'hold' : verdict);

/**
 * Returns why this money funds the payment although it is not the agreed money.
 *
 * @param p with the payins' source in force
 * @param short the rule that accepts less than agreed
 */
export function accepted(
  p: Payment,
  payins: readonly Payin[],
  short: 'tolerance' | 'under',
  now: Instant,
): readonly PaymentEvent[] {
  const { source, expiresAt } = p.terms;
  const accept = (rule: PolicyRule, of: readonly Payin[], amount: bigint) =>
    applied(p, { rule, verdict: 'accept', payins: of, expected: source.amount, amount }, now);
  const late = payins.filter(({ transfer }) => transfer.blockTime > expiresAt);
  const missing = BigInt(source.amount ?? 0) - sumOf(payins);
  const isOffered = p.sources.some((each) => isSameAsset(each, source));
  const isOnOfferedChain = p.sources.some(({ chainId }) => chainId === source.chainId);
  return [
    ...(isOffered ? [] : accept(isOnOfferedChain ? 'wrongToken' : 'wrongChain', payins, sumOf(payins))),
    ...accept('late', late, sumOf(late)),
    ...(missing > 0n ? accept(short, payins, missing) : []),
  ];
}

/** Excess after funding: from the funding money, and from other sources. @param p after it is funded */
export function over(p: Payment, now: Instant): readonly PaymentEvent[] {
  const { funded, terms, payins } = p;
  if (!funded || !terms.policy) return [];
  const verdict = terms.policy.over;
  const expected = terms.source.amount;
  const by = payins.filter(({ id }) => funded.transferIds.includes(id));
  const others = payins.filter(
    ({ standing, phase, id }) => standing === 'surplus' && phase === 'confirmed' && !told(p, id),
  );
  return [
    ...(funded.excess > 0n
      ? applied(p, { rule: 'over', verdict, payins: by, expected, amount: funded.excess }, now)
      : []),
    ...others.flatMap((payin) =>
      applied(p, { rule: 'over', verdict, payins: [payin], expected: null, amount: payin.amount }, now),
    ),
  ];
}

const told = (p: Payment, id: string): boolean => p.applied.some(({ transferIds }) => transferIds.includes(id));

/** A final payin that does not count. */
export function heldBy(p: Payment, payin: Payin, now: Instant): readonly PaymentEvent[] {
  const rule = ruleOf(p, payin);
  if (!rule || !p.terms.policy) return [];
  const verdict = unlessAccepted(p.terms.policy[rule]);
  return applied(p, { rule, verdict, payins: [payin], expected: null, amount: payin.amount }, now);
}

type MoneyRule = Exclude<PolicyRule, 'tolerance'>;

function ruleOf(p: Payment, { standing, transfer }: Payin): MoneyRule | undefined {
  if (standing === 'counted' || standing === 'otherSender') return undefined;
  if (standing !== 'surplus') return standing;
  if (p.closed?.kind !== 'bounced') return 'over';
  return transfer.blockTime > p.terms.expiresAt ? 'late' : ruleOfBounce[p.closed.code];
}

const ruleOfBounce: Partial<Record<BounceCode, MoneyRule>> = {
  amountTooLow: 'under',
  amountTooHigh: 'over',
  latePayin: 'late',
  wrongToken: 'wrongToken',
  wrongChain: 'wrongChain',
};

/**
 * Counted money that is too little or too much when its payment bounces, one entry per asset.
 *
 * @param payins all that counted
 */
export function bouncedBy(
  p: Payment,
  rule: 'under' | 'over',
  payins: readonly Payin[],
  now: Instant,
): readonly PaymentEvent[] {
  const { policy, source } = p.terms;
  if (!policy) return [];
  const verdict = unlessAccepted(policy[rule]);
  const ofOne = Map.groupBy(payins, ({ transfer }) => `${transfer.chainId} ${transfer.token.address}`);
  return [...ofOne.values()].flatMap((each) =>
    applied(p, { rule, verdict, payins: each, expected: source.amount, amount: sumOf(each) }, now),
  );
}

/**
 * Policy refunds that are not ordered yet, one per chain and token, up to the refundable amount. After an operator's call-off only the
 * operator orders again. Each is ordered as soon as the payer proves an address.
 */
export const policyRefunds = (p: Payment): readonly Refundable[] =>
  refundable(p).flatMap((entry) => {
    const marked = p.applied.filter((each) => each.verdict === 'refund' && isSameAsset(each, entry));
    const ordered = p.refunds.filter(({ order }) => isSameAsset(order, entry));
    const due =
      marked.reduce((sum, { amount }) => sum + BigInt(amount), 0n) -
      ordered.reduce((sum, refund) => sum + orderedBy(refund), 0n);
    if (due <= 0n) return [];
    return [{ ...entry, amount: smaller(due, entry.amount) }];
  });

/** Policy refunds that can be ordered now: their senders have proven an address. */
export const provenPolicyRefunds = (p: Payment, signers: readonly KnownSigner[] = []): readonly Refundable[] =>
  policyRefunds(p).flatMap((entry) => {
    const proven = provenShares(p, entry, signers).reduce((sum, { amount }) => sum + amount, 0n);
    return proven > 0n ? [{ ...entry, amount: smaller(entry.amount, proven) }] : [];
  });

export const policyRefundsDue = (p: Payment): boolean => p.applied.length > 0 && provenPolicyRefunds(p).length > 0;
