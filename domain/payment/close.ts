/** How a payment ends without a payout: it expires or bounces. */
import type { ChainId } from '../chains.ts';
import { assert, type Decision, refuse } from '../decider.ts';
import { dollarRoute, larger, type RouteDecimals, rescale, smaller } from '../money.ts';
import type { Instant } from '../time.ts';
import { canLand } from '../transfer/leg.ts';
import { fallenShort } from '../transfer/record.ts';
import type { BounceCode, PaymentCreated, PaymentEvent, PaymentEventData } from './events.ts';
import { type FeePolicy, feeOn, type Split, splitAny } from './fees.ts';
import { accepted, bouncedBy, over } from './policy.ts';
import {
  allCounted,
  awaitedChains,
  counted,
  forgivenOf,
  isSameAsset,
  type Paid,
  type Payin,
  paidFrom,
  type Standing,
  sourceOf,
  sumOf,
} from './sources.ts';
import { evolve, type Payment, type PaymentState } from './state.ts';

// Division of the money that funded a payment: received = payout + fee + excess + dust, exactly.

export interface Divided extends Split {
  readonly rule: PaymentEventData<'PaymentFunded'>['rule'];
  readonly sourceAmount: bigint;
}

export type Division = Divided | BounceCode | 'notYet';

export const routeOf = ({ source, destination }: PaymentCreated): RouteDecimals =>
  dollarRoute(source.token, destination.token);

const feePolicyOf = ({ fee }: PaymentCreated): FeePolicy => ({
  fixed: BigInt(fee.fixed),
  basisPoints: fee.basisPoints,
});

/** @param terms of the source that the money came from */
export const divideReceived = (terms: PaymentCreated, received: bigint): Division =>
  terms.type === 'anyAmount' ? divideWhatCame(terms, received) : divideAsAgreed(terms, received);

/** Money above the agreed amount is held and refundable. A shortfall within the policy's tolerance reduces the payout. */
function divideAsAgreed(terms: PaymentCreated, received: bigint): Division {
  const { source, destination } = terms;
  const agreed = { source: BigInt(source.amount ?? 0), payout: BigInt(destination.amount ?? 0) };
  assert(agreed.source > 0n && agreed.payout > 0n, 'an agreed payment has both amounts');
  const excess = received - agreed.source;
  if (excess < 0n)
    return -excess <= forgivenOf(terms, source)
      ? (lessThanAgreed(terms, received, agreedFee(terms, -excess)) ?? 'notYet')
      : 'notYet';
  const rule = excess > 0n ? 'overpaid' : 'agreed';
  return { rule, sourceAmount: agreed.source, fee: agreedFee(terms), payout: agreed.payout, excess, dust: 0n };
}

/** @param missing of the agreed amount, in source units: it takes from the rounding first, so that the receiver loses no more than before it */
const agreedFee = ({ fee }: PaymentCreated, missing = 0n): bigint =>
  BigInt(fee.amount ?? 0) - smaller(BigInt(fee.rounding ?? 0), missing);

/**
 * Less than agreed at expiry, if the app's policy accepts that. The fee is computed from what arrived, up to the agreed fee.
 *
 * @returns undefined if too little is left to pay out, or the payment accepted any amount
 */
export function divideUnder(terms: PaymentCreated, received: bigint): Divided | undefined {
  if (terms.type === 'anyAmount') return undefined;
  const missing = larger(BigInt(terms.source.amount ?? 0) - received, 0n);
  const [own, agreed] = [feeOn(received, feePolicyOf(terms), routeOf(terms)), agreedFee(terms, missing)];
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
 * An underpaid payment stays open until it expires, so a stranger's dust cannot end it. A contract's limits apply per call, and only its
 * sender's calls count.
 */
function divideWhatCame(terms: PaymentCreated, received: bigint): Division {
  const { intent, limits } = terms;
  if (limits && received < BigInt(limits.min)) return intent === null ? 'notYet' : 'amountTooLow';
  if (limits && received > BigInt(limits.max)) return 'amountTooHigh';
  const split = splitAny(received, feePolicyOf(terms), routeOf(terms));
  return split ? { ...split, rule: 'anyAmount', sourceAmount: received } : 'notYet';
}

/**
 * PaymentFunded with all its inputs.
 *
 * @param p with the payins' source in force
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
      // Stored only if it differs from the created source.
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

export interface Scanned {
  /** Chain time up to which a chain has been scanned at final depth: the service's own clock never expires a paid payment. */
  readonly scannedTo: (chainId: ChainId) => Instant | null;
  readonly now: Instant;
}

/** Ends a payment that was not funded in time. Every chain that can pay it must be scanned past its end. */
export function expire(p: PaymentState, { scannedTo, now }: Scanned): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'there is no such payment');
  if (p.funded || p.closed) return [];
  const [chainTime] = awaitedChains(p)
    .map((chainId) => scannedTo(chainId) ?? '')
    .sort();
  if (!isPast(chainTime, p.terms.expiresAt)) {
    return refuse('illegalStep', `a chain is scanned to ${chainTime}, not yet past ${p.terms.expiresAt}: wait`);
  }
  const onTime = allCounted(p);
  if (onTime.some((payin) => payin.phase === 'detected')) {
    return refuse('illegalStep', 'a payin that was on time is not final yet: wait');
  }
  if (onTime.length > 0) return endShort(p, onTime, now);
  return [{ type: 'PaymentExpired', data: { chainTime, expiredAt: now } }, ...closeHeld(p, now)];
}

/** Underpaid at expiry: the payment pays out what arrived if the app's policy accepts that, else it bounces. */
function endShort(p: Payment, onTime: readonly Payin[], now: Instant): readonly PaymentEvent[] {
  const payins = ofOneSource(p, onTime);
  const source = payins[0] && sourceOf(p, payins[0].transfer);
  if (p.terms.policy?.under === 'accept' && source) {
    const paid = paidFrom(p, source);
    const divided = divideUnder(paid.terms, sumOf(payins));
    if (divided) return fundedBy(paid, payins, { divided, short: 'under' }, now);
  }
  return [...bouncedBy(p, 'under', onTime, now), bounced(p, 'amountTooLow', payins, now)];
}

/** @param p with the payins' source in force */
export function fundedBy(
  p: Payment,
  payins: readonly Payin[],
  { divided, short }: { readonly divided: Divided; readonly short: 'tolerance' | 'under' },
  now: Instant,
): readonly PaymentEvent[] {
  const event = funded(p, payins, divided, now);
  const after = evolve(p, event);
  return [...accepted(p, payins, short, now), event, ...(after ? over(after, now) : [])];
}

const isPast = (chainTime: Instant | '' | undefined, end: Instant): chainTime is Instant =>
  chainTime !== undefined && chainTime > end;

/** Payins from the payer's chosen source, else from the source of the first money. */
function ofOneSource(p: Payment, [first, ...others]: readonly Payin[]): readonly Payin[] {
  const chosen = counted(p);
  if (chosen.length > 0 || !first) return chosen;
  return [first, ...others.filter(({ transfer }) => isSameAsset(transfer, first.transfer))];
}

/** Bounces a payment whose money cannot be paid out: late, another token, another chain, another sender. */
export function closeHeld(p: Payment, now: Instant): readonly PaymentEvent[] {
  const held = p.payins.find((payin) => payin.phase === 'confirmed' && codeOf[payin.standing]);
  const code = held && codeOf[held.standing];
  return code ? [bounced(p, code, [held], now)] : [];
}

const codeOf: Partial<Record<Standing, BounceCode>> = {
  late: 'latePayin',
  wrongToken: 'wrongToken',
  wrongChain: 'wrongChain',
  otherSender: 'otherSender',
};

/**
 * Bounces a funded payment whose payout is impossible. Nothing signed for it can land, and nothing will be signed. The money becomes
 * refundable. The cents of a cashback withdrawal return to the merchant's account.
 *
 * @param note the reason, at most 400 characters
 */
export function bounceImpossible(p: PaymentState, note: string, now: Instant): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'there is no such payment');
  if (p.closed?.kind === 'bounced') return [];
  if (!p.funded) return refuse('illegalStep', 'the payment is not funded: there is no payout that could be impossible');
  if (p.batch)
    return refuse('illegalStep', `its payout is paid with others (batch ${p.batch.id}): wait until that lets it go`);
  if (p.payout?.attempts.some(canLand))
    return refuse(
      'illegalStep',
      'an attempt of its payout can still land: wait for its fate, or npm run payouts -- bury',
    );
  if (p.payoutHeld !== null)
    return refuse(
      'illegalStep',
      `an operator holds its payout (${p.payoutHeld}): npm run payouts -- retry comes before`,
    );
  if (p.payout?.short) return fallenShort(p.payout, p.payout.short);
  return [
    {
      type: 'PaymentBounced',
      data: {
        code: 'payoutImpossible',
        received: p.funded.received.toString(),
        ...assetOf(p, p.terms.source),
        note,
        bouncedAt: now,
      },
    },
  ];
}

/** @param payins of one chain and token */
export const bounced = (p: Payment, code: BounceCode, payins: readonly Payin[], now: Instant): PaymentEvent => ({
  type: 'PaymentBounced',
  data: {
    code,
    received: sumOf(payins).toString(),
    ...assetOf(p, payins[0]?.transfer ?? p.terms.source),
    bouncedAt: now,
  },
});

type Asset = NonNullable<PaymentEventData<'PaymentBounced'>['asset']>;

/** Stored only if it differs from the created source. */
const assetOf = ({ sources }: Payment, { chainId, token }: Asset): { readonly asset?: Asset } =>
  isSameAsset(sources[0], { chainId, token }) ? {} : { asset: { chainId, token } };
