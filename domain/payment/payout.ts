/** The payout leg: ordered once, recorded before it is sent, settled by the destination chain. */
import { type Decision, isRefusal, refuse } from '../decider.ts';
import { unitsText } from '../money.ts';
import type { Instant } from '../time.ts';
import { liveAttempts } from '../transfer/leg.ts';
import { type LegOwner, legOwner } from '../transfer/owner.ts';
import { tooLateToCallOff } from '../transfer/record.ts';
import { lostBacking } from './backing.ts';
import type { PaymentEvent } from './events.ts';
import { lostFunding } from './sources.ts';
import type { PaymentState, Refund } from './state.ts';

const noPayout = refuse('illegalStep', 'no payout is ordered for this payment');

/** A payout in a batch has only the batch's attempts. */
const ofBatch = ({ id }: { readonly id: string }) =>
  refuse('illegalStep', `this payout is paid with others: what becomes of batch ${id} becomes of it`);

export function requestPayout(p: PaymentState, now: Instant): Decision<PaymentEvent> {
  if (!p?.funded || p.closed) return refuse('illegalStep', 'only a funded payment is paid out');
  if (p.payout) return [];
  const { chainId, token, receiverAddress, receiverMemo } = p.terms.destination;
  const amount = unitsText(p.funded.payout);
  return [
    { type: 'PayoutRequested', data: { chainId, token, receiverAddress, receiverMemo, amount, requestedAt: now } },
  ];
}

const legVerbs = legOwner({
  prefix: 'Payout',
  legOf(p: PaymentState, _, verb) {
    const { payout = null, batch = null, closed = false } = p ?? {};
    if (verb === 'orphan') return batch ? null : payout;
    if (verb === 'sign' && (!payout || closed)) return noPayout;
    const isCopied = verb !== 'accept' && verb !== 'retry';
    return batch && isCopied ? ofBatch(batch) : (payout ?? noPayout);
  },
  guard(p, _, attempt) {
    if (!p?.payout) return noPayout;
    if (lostFunding(p) && liveAttempts(p.payout).length === 0)
      return refuse('illegalStep', 'the money that funded this payment left its chain: sign nothing until it is back');
    return p.payoutHeld !== null && !p.payout.attempts.some(({ signed }) => signed.hash === attempt.hash)
      ? refuse('illegalStep', `an operator holds this payout (${p.payoutHeld}): npm run payouts -- retry`)
      : undefined;
  },
});

export const payoutLeg: LegOwner<PaymentState, PaymentEvent> = {
  ...legVerbs,
  /** Resumes the payout, also after a hold. */
  retry(p, part, reason, now) {
    if (!p?.funded || p.closed || p.payout?.settled) return noPayout;
    const retried = p.payout ? legVerbs.retry(p, part, reason, now) : [];
    if (isRefusal(retried) || retried.length > 0 || p.payoutHeld === null) return retried;
    return [{ type: 'PayoutRetried', data: { reason, retriedAt: now } }];
  },
};

/**
 * Operator's decision: nothing more is signed for this payout until the operator retries it. Signed bytes can still land and settle it.
 * @param reason at most 400 characters, for merchants and support
 */
export function holdPayout(p: PaymentState, reason: string, now: Instant): Decision<PaymentEvent> {
  if (!p?.funded || p.closed || p.payout?.settled) return noPayout;
  return p.payoutHeld === null ? [{ type: 'PayoutHeld', data: { reason, heldAt: now } }] : [];
}

// Ordered refunds: recorded before they are sent, settled by their chain.

const noRefund = refuse('illegalStep', 'no such refund is ordered for this payment');

const refundOf = (p: PaymentState, refund: number): Refund | undefined =>
  p?.refunds.find((leg) => leg.refund === refund);

export const refundLeg: LegOwner<PaymentState, PaymentEvent> = legOwner({
  prefix: 'Refund',
  legOf: (p: PaymentState, refund) => refundOf(p, refund) ?? noRefund,
  guard(p, refund) {
    const leg = refundOf(p, refund);
    if (leg && leg.calledOff !== null)
      return refuse('illegalStep', `this refund was called off (${leg.calledOff}): sign nothing for it`);
    return p && leg && liveAttempts(leg).length === 0 && lostBacking(p, leg)
      ? refuse('illegalStep', 'the money that is to go back left its chain: sign nothing until it is back')
      : undefined;
  },
  extra: (_, refund) => ({ refund }),
});

/**
 * Operator's decision not to send a refund, for example because its address cannot receive the token. Its money is held again. Refused
 * while a signed attempt can land.
 * @param reason at most 400 characters, for merchants and support
 */
export function callOffRefund(p: PaymentState, refund: number, reason: string, now: Instant): Decision<PaymentEvent> {
  const leg = refundOf(p, refund);
  if (!leg) return noRefund;
  if (leg.calledOff !== null) return [];
  return tooLateToCallOff(leg) ?? [{ type: 'RefundCalledOff', data: { refund, reason, calledOffAt: now } }];
}
