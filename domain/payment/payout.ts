/** The payout leg: ordered once, signed and recorded before it is sent, settled by what the destination chain shows. */
import { type Decision, isRefusal, refuse } from '../decider.ts';
import { unitsText } from '../money.ts';
import type { Instant } from '../time.ts';
import { liveAttempts, type TransferLeg } from '../transfer/leg.ts';
import * as transfer from '../transfer/record.ts';
import { tooLateToCallOff } from '../transfer/record.ts';
import type { DeathProof, SignedAttempt } from '../transfer/shapes.ts';
import { lostBacking } from './backing.ts';
import type { PaymentEvent } from './events.ts';
import { lostFunding } from './sources.ts';
import type { PaymentState, Refund } from './state.ts';

const noPayout = refuse('illegalStep', 'no payout is ordered for this payment');

/** A payout that is paid with others has no attempts but its batch's. */
const ofBatch = ({ id }: { readonly id: string }) =>
  refuse('illegalStep', `this payout is paid with others: what becomes of batch ${id} becomes of it`);

const recorded = (
  p: PaymentState,
  decide: (leg: TransferLeg) => Decision<transfer.LegEvent>,
): Decision<PaymentEvent> => (p?.payout ? transfer.prefixed('Payout', decide(p.payout), {}) : noPayout);

export function requestPayout(p: PaymentState, now: Instant): Decision<PaymentEvent> {
  if (!p?.funded || p.closed) return refuse('illegalStep', 'only a funded payment is paid out');
  if (p.payout) return [];
  const { chainId, token, receiverAddress, receiverMemo } = p.terms.destination;
  const amount = unitsText(p.funded.payout);
  return [
    { type: 'PayoutRequested', data: { chainId, token, receiverAddress, receiverMemo, amount, requestedAt: now } },
  ];
}

export function signPayout(p: PaymentState, attempt: SignedAttempt): Decision<PaymentEvent> {
  if (!p?.payout || p.closed) return noPayout;
  if (p.batch) return ofBatch(p.batch);
  if (lostFunding(p) && liveAttempts(p.payout).length === 0) {
    return refuse('illegalStep', 'the money that funded this payment left its chain: sign nothing until it is back');
  }
  if (p.payoutHeld !== null && !p.payout.attempts.some(({ signed }) => signed.hash === attempt.hash))
    return refuse('illegalStep', `an operator holds this payout (${p.payoutHeld}): npm run payouts -- retry`);
  return recorded(p, (leg) => transfer.sign(leg, attempt));
}

export const buryPayout = (p: PaymentState, attempts: readonly number[], proof: DeathProof): Decision<PaymentEvent> =>
  p?.batch ? ofBatch(p.batch) : recorded(p, (leg) => transfer.bury(leg, attempts, proof));

export const concludePayout = (p: PaymentState, outcome: transfer.Outcome, now: Instant): Decision<PaymentEvent> =>
  p?.batch ? ofBatch(p.batch) : recorded(p, (leg) => transfer.conclude(leg, outcome, now));

export const orphanPayout = (p: PaymentState, seen: transfer.Seen): Decision<PaymentEvent> =>
  p?.payout && !p.batch ? recorded(p, (leg) => transfer.orphan(leg, seen)) : [];

/** @param reason as for `holdPayout` */
export const acceptPayout = (p: PaymentState, reason: string, now: Instant): Decision<PaymentEvent> =>
  recorded(p, (leg) => transfer.accept(leg, reason, now));

/**
 * An operator's decision: nothing more is signed for this payout until he has it tried again. What is signed can still land and settle it.
 * @param reason at most 400 characters, for whoever asks why
 */
export function holdPayout(p: PaymentState, reason: string, now: Instant): Decision<PaymentEvent> {
  if (!p?.funded || p.closed || p.payout?.settled) return noPayout;
  return p.payoutHeld === null ? [{ type: 'PayoutHeld', data: { reason, heldAt: now } }] : [];
}

/** An operator's decision: the payout goes on, after his hold, a hundred attempts, or a transfer that brought nothing. @param reason as for `holdPayout` */
export function retryPayout(p: PaymentState, reason: string, now: Instant): Decision<PaymentEvent> {
  if (!p?.funded || p.closed || p.payout?.settled) return noPayout;
  const retried = p.payout ? recorded(p, (leg) => transfer.retry(leg, reason, now)) : [];
  if (isRefusal(retried) || retried.length > 0 || p.payoutHeld === null) return retried;
  return [{ type: 'PayoutRetried', data: { reason, retriedAt: now } }];
}

// Refunds that are ordered: signed and recorded before they are sent, settled by what their chain shows.

const noRefund = refuse('illegalStep', 'no such refund is ordered for this payment');

const refundOf = (p: PaymentState, refund: number): Refund | undefined =>
  p?.refunds.find((leg) => leg.refund === refund);

function refundRecorded(
  p: PaymentState,
  refund: number,
  decide: (leg: TransferLeg) => Decision<transfer.LegEvent>,
): Decision<PaymentEvent> {
  const leg = refundOf(p, refund);
  return leg ? transfer.prefixed('Refund', decide(leg), { refund }) : noRefund;
}

export function signRefund(p: PaymentState, refund: number, attempt: SignedAttempt): Decision<PaymentEvent> {
  const leg = refundOf(p, refund);
  if (leg && leg.calledOff !== null)
    return refuse('illegalStep', `this refund was called off (${leg.calledOff}): sign nothing for it`);
  if (p && leg && liveAttempts(leg).length === 0 && lostBacking(p, leg))
    return refuse('illegalStep', 'the money that is to go back left its chain: sign nothing until it is back');
  return refundRecorded(p, refund, (own) => transfer.sign(own, attempt));
}

export const buryRefund = (
  p: PaymentState,
  refund: number,
  attempts: readonly number[],
  proof: DeathProof,
): Decision<PaymentEvent> => refundRecorded(p, refund, (leg) => transfer.bury(leg, attempts, proof));

export const concludeRefund = (
  p: PaymentState,
  refund: number,
  outcome: transfer.Outcome,
  now: Instant,
): Decision<PaymentEvent> => refundRecorded(p, refund, (leg) => transfer.conclude(leg, outcome, now));

export const orphanRefund = (p: PaymentState, refund: number, seen: transfer.Seen): Decision<PaymentEvent> =>
  refundRecorded(p, refund, (leg) => transfer.orphan(leg, seen));

/** @param reason at most 400 characters, for whoever asks why */
export const acceptRefund = (p: PaymentState, refund: number, reason: string, now: Instant): Decision<PaymentEvent> =>
  refundRecorded(p, refund, (leg) => transfer.accept(leg, reason, now));

/** @param reason at most 400 characters, for whoever asks why */
export const retryRefund = (p: PaymentState, refund: number, reason: string, now: Instant): Decision<PaymentEvent> =>
  refundRecorded(p, refund, (leg) => transfer.retry(leg, reason, now));

/**
 * An operator's decision: it is not sent, for example because its address takes no such money. What it took is held again. Possible while
 * nothing that was signed for it can land.
 * @param reason at most 400 characters, for whoever asks why
 */
export function callOffRefund(p: PaymentState, refund: number, reason: string, now: Instant): Decision<PaymentEvent> {
  const leg = refundOf(p, refund);
  if (!leg) return noRefund;
  if (leg.calledOff !== null) return [];
  return tooLateToCallOff(leg) ?? [{ type: 'RefundCalledOff', data: { refund, reason, calledOffAt: now } }];
}
