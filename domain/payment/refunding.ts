/** Refunds that are ordered: signed and recorded before they are sent, settled by what their chain shows. */
import { type Decision, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import { liveAttempts, type TransferLeg } from '../transfer/leg.ts';
import * as transfer from '../transfer/record.ts';
import { tooLateToCallOff } from '../transfer/rules.ts';
import type { DeathProof, SignedAttempt } from '../transfer/shapes.ts';
import { lostBacking } from './backing.ts';
import type { PaymentEvent } from './events.ts';
import type { PaymentState, Refund } from './state.ts';

const noRefund = refuse('illegalStep', 'no such refund is ordered for this payment');

const refundOf = (p: PaymentState, refund: number): Refund | undefined =>
  p?.refunds.find((leg) => leg.refund === refund);

function recorded(
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
  return recorded(p, refund, (own) => transfer.sign(own, attempt));
}

export const buryRefund = (
  p: PaymentState,
  refund: number,
  attempts: readonly number[],
  proof: DeathProof,
): Decision<PaymentEvent> => recorded(p, refund, (leg) => transfer.bury(leg, attempts, proof));

export const concludeRefund = (
  p: PaymentState,
  refund: number,
  outcome: transfer.Outcome,
  now: Instant,
): Decision<PaymentEvent> => recorded(p, refund, (leg) => transfer.conclude(leg, outcome, now));

export const orphanRefund = (p: PaymentState, refund: number, seen: transfer.Seen): Decision<PaymentEvent> =>
  recorded(p, refund, (leg) => transfer.orphan(leg, seen));

/** @param reason at most 400 characters, for whoever asks why */
export const acceptRefund = (p: PaymentState, refund: number, reason: string, now: Instant): Decision<PaymentEvent> =>
  recorded(p, refund, (leg) => transfer.accept(leg, reason, now));

/** @param reason at most 400 characters, for whoever asks why */
export const retryRefund = (p: PaymentState, refund: number, reason: string, now: Instant): Decision<PaymentEvent> =>
  recorded(p, refund, (leg) => transfer.retry(leg, reason, now));

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
