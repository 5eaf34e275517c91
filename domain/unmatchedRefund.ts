/** The refund of money that no payment takes up: signed and recorded before it is sent, settled by what its chain shows. */
import { type Decision, refuse } from './decider.ts';
import { transferId } from './payment/events.ts';
import type { Instant } from './time.ts';
import { referenceOf } from './transfer/key.ts';
import type { TransferLeg } from './transfer/leg.ts';
import type { Owed } from './transfer/owed.ts';
import * as transfer from './transfer/record.ts';
import type { DeathProof, SignedAttempt } from './transfer/shapes.ts';
import { stepOf } from './transfer/step.ts';
import type { UnmatchedEvent, UnmatchedState } from './unmatched.ts';

/** Undefined where nothing is to go back, or an operator sends it by hand. */
export function unmatchedRefundOwed(state: UnmatchedState): Owed | undefined {
  if (!state?.refund) return undefined;
  const key = { kind: 'unmatchedRefund', id: transferId(state.transfer), part: 1 } as const;
  const purpose = { kind: 'refund', reference: referenceOf(key) } as const;
  return { key, purpose, appId: null, leg: state.refund, step: stepOf(state.refund) };
}

const noRefund = refuse('illegalStep', 'no refund of this money is ordered that the service sends');

const recorded = (
  state: UnmatchedState,
  decide: (leg: TransferLeg) => Decision<transfer.LegEvent>,
): Decision<UnmatchedEvent> =>
  state?.refund ? transfer.prefixed('UnmatchedRefund', decide(state.refund), {}) : noRefund;

export const signUnmatchedRefund = (state: UnmatchedState, attempt: SignedAttempt): Decision<UnmatchedEvent> =>
  recorded(state, (leg) => transfer.sign(leg, attempt));

export const buryUnmatchedRefund = (
  state: UnmatchedState,
  attempts: readonly number[],
  proof: DeathProof,
): Decision<UnmatchedEvent> => recorded(state, (leg) => transfer.bury(leg, attempts, proof));

export const concludeUnmatchedRefund = (
  state: UnmatchedState,
  outcome: transfer.Outcome,
  now: Instant,
): Decision<UnmatchedEvent> => recorded(state, (leg) => transfer.conclude(leg, outcome, now));

export const orphanUnmatchedRefund = (state: UnmatchedState, seen: transfer.Seen): Decision<UnmatchedEvent> =>
  recorded(state, (leg) => transfer.orphan(leg, seen));

/** @param reason at most 400 characters, for whoever asks why */
export const acceptUnmatchedRefund = (state: UnmatchedState, reason: string, now: Instant): Decision<UnmatchedEvent> =>
  recorded(state, (leg) => transfer.accept(leg, reason, now));

/** @param reason at most 400 characters, for whoever asks why */
export const retryUnmatchedRefund = (state: UnmatchedState, reason: string, now: Instant): Decision<UnmatchedEvent> =>
  recorded(state, (leg) => transfer.retry(leg, reason, now));
