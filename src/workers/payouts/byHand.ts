/** An operator's decision about a stuck payout. Each decision is recorded with its reason and actor. */
import { type By, currentState, type Handle, type Handled } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import { type BatchState, dissolveBatch, payoutBatch } from '../../../domain/batch/batch.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { copyBatch } from '../../../domain/payment/batched.ts';
import { bounceImpossible } from '../../../domain/payment/close.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import * as payout from '../../../domain/payment/payout.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import type { Instant } from '../../../domain/time.ts';
import type { TransferLeg } from '../../../domain/transfer/leg.ts';
import type { LegOwner } from '../../../domain/transfer/owner.ts';
import type { TransferKey } from '../../../domain/transfer/shapes.ts';
import { type UnmatchedEvent, type UnmatchedState, unmatched } from '../../../domain/unmatched.ts';
import { callOffUnmatchedRefund, unmatchedRefundLeg, unmatchedRefundsOwed } from '../../../domain/unmatchedRefund.ts';
import { buriable } from './impossible.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
}

export interface ByHand {
  readonly paymentId: string;
  /** At most 400 characters, for merchants and support. */
  readonly reason: string;
}

type Outcome = Promise<Handled<PaymentState> | Refusal>;

const paymentNotFound = refuse('paymentNotFound', 'there is no such payment');

/**
 * Nothing more is signed for the payout until it is retried. Signed attempts can still land, and are in the payment's stream when this
 * returns: an operator who finds none there may pay by hand.
 *
 * Crash after PayoutHeld: its batch may still be signed, and nobody knows that it is held. Holding it again removes it from the batch.
 */
export async function holdPayout(deps: Deps, byHand: ByHand, by: By): Outcome {
  const held = await decide(deps, byHand, by, holding);
  if (isRefusal(held) || !held.state?.batch) return held;
  const { batch, terms } = held.state;
  const out = await outOfBatch(deps, batch.id, terms, by);
  return isRefusal(out) ? out : { ...out, appended: held.appended + out.appended };
}

/** Dissolves the batch; if it is signed already, the payment gets the attempt. */
async function outOfBatch(
  { handle, clock }: Deps,
  id: string,
  { paymentId, appId }: Pick<Payment['terms'], 'paymentId' | 'appId'>,
  by: By,
): Outcome {
  const why = `an operator holds the payout of ${paymentId}`;
  const dissolve = (state: BatchState) => dissolveBatch(state, why, clock.now());
  const dissolved = await handle(payoutBatch, id, dissolve, { ...by, appId: null });
  if (isRefusal(dissolved) && dissolved.refused !== 'illegalStep') return dissolved;
  const batch = await currentState(handle, payoutBatch, id);
  const copy = (p: PaymentState) => (batch ? copyBatch(p, id, batch, clock.now()) : []);
  return handle(paymentDecider, paymentId, copy, { ...by, appId });
}

const holding = (p: PaymentState, _: number, reason: string, now: Instant) => payout.holdPayout(p, reason, now);
const bouncing = (p: PaymentState, _: number, reason: string, now: Instant) => bounceImpossible(p, reason, now);

/** Resumes the payout after a hold, after its last attempt, or after a transfer that brought nothing. */
export const retryPayout = (deps: Deps, byHand: ByHand, by: By): Outcome =>
  decide(deps, byHand, by, payout.payoutLeg.retry);

/** Counts a short payout as settled: the receiver has the full amount. */
export const acceptPayout = (deps: Deps, byHand: ByHand, by: By): Outcome =>
  decide(deps, byHand, by, payout.payoutLeg.accept);

/** Bounces a payment whose receiver cannot be paid, so its money is refundable. Refused while an attempt can land. */
export const bouncePayout = (deps: Deps, byHand: ByHand, by: By): Outcome => decide(deps, byHand, by, bouncing);

/** @param verb of a payout, or of the refund with the number `part` */
async function decide(
  { handle, clock }: Deps,
  { paymentId, reason, part = 1 }: ByHand & { readonly part?: number },
  by: By,
  verb: Verb<PaymentState, PaymentEvent>,
): Outcome {
  const payment = await currentState(handle, paymentDecider, paymentId);
  if (!payment) return paymentNotFound;
  const facts = { ...by, appId: payment.terms.appId };
  return handle(paymentDecider, paymentId, (state) => verb(state, part, reason, clock.now()), facts);
}

/** An operator's decision as a stream's verb. */
type Verb<S, E> = LegOwner<S, E>['retry'];

/** Declares the payout's attempts dead: none can land any more, and the operator verified that none did. */
export async function buryPayout(
  { handle, rail }: Pick<Deps, 'handle'> & { readonly rail: Pick<PayoutRail, 'canLand' | 'fate'> },
  { paymentId, reason }: ByHand,
  by: By,
  signal: AbortSignal,
): Outcome {
  const payment = await currentState(handle, paymentDecider, paymentId);
  if (!payment) return paymentNotFound;
  const buried = await buriable(rail, payment.payout, signal);
  if (isRefusal(buried)) return buried;
  const facts = { ...by, appId: payment.terms.appId };
  return handle(paymentDecider, paymentId, (p) => payout.payoutLeg.bury(p, 1, buried, declared(reason)), facts);
}

const declared = (reason: string) => ({ reason: 'declared', detail: reason }) as const;

// An operator's decision about a stuck refund, of a payment or of unmatched money. Each decision is recorded with its reason and actor.

export interface RefundKey extends TransferKey {
  readonly kind: 'refund' | 'unmatchedRefund';
}

export interface RefundByHand {
  readonly key: RefundKey;
  /** At most 400 characters, for merchants and support. */
  readonly reason: string;
}

export type RefundDecided = Promise<{ readonly appended: number } | Refusal>;

/** A decision as the verb of either kind of stream. */
interface RefundVerb {
  readonly ofPayment: Verb<PaymentState, PaymentEvent>;
  readonly ofUnmatched: Verb<UnmatchedState, UnmatchedEvent>;
}

const callOff: RefundVerb = { ofPayment: payout.callOffRefund, ofUnmatched: callOffUnmatchedRefund };
const retry: RefundVerb = { ofPayment: payout.refundLeg.retry, ofUnmatched: unmatchedRefundLeg.retry };
const accept: RefundVerb = { ofPayment: payout.refundLeg.accept, ofUnmatched: unmatchedRefundLeg.accept };

/** Calls the refund off: its money is held again, and can be refunded to another address. */
export const callOffRefund = (deps: Deps, byHand: RefundByHand, by: By): RefundDecided =>
  decideRefund(deps, byHand, by, callOff);

/** Resumes the refund after its last attempt, or after a transfer that brought nothing. */
export const retryRefund = (deps: Deps, byHand: RefundByHand, by: By): RefundDecided =>
  decideRefund(deps, byHand, by, retry);

/** Counts a short refund as settled: the receiver has the full amount. */
export const acceptRefund = (deps: Deps, byHand: RefundByHand, by: By): RefundDecided =>
  decideRefund(deps, byHand, by, accept);

/** Declares its attempts dead: none can land any more, and the operator verified that none did. It is signed again. */
export async function buryRefund(
  deps: Deps & { readonly railOf: (chainId: ChainId) => Pick<PayoutRail, 'canLand' | 'fate'> | undefined },
  byHand: RefundByHand,
  by: By,
  signal: AbortSignal,
): RefundDecided {
  const leg = await loadRefundLeg(deps.handle, byHand.key);
  if (isRefusal(leg)) return leg;
  const rail = deps.railOf(leg.order.chainId);
  if (!rail) return refuse('invalidRequest', `chain ${leg.order.chainId} is not configured here: nobody can be asked`);
  const buried = await buriable(rail, leg, signal);
  if (isRefusal(buried)) return buried;
  return decideRefund(deps, byHand, by, {
    ofPayment: (state, part, reason) => payout.refundLeg.bury(state, part, buried, declared(reason)),
    ofUnmatched: (state, part, reason) => unmatchedRefundLeg.bury(state, part, buried, declared(reason)),
  });
}

/** Leg of the refund; refused if there is none. */
export async function loadRefundLeg(handle: Handle, { kind, id, part }: RefundKey): Promise<TransferLeg | Refusal> {
  const leg =
    kind === 'refund'
      ? (await currentState(handle, paymentDecider, id))?.refunds.find(({ refund }) => refund === part)
      : unmatchedRefundsOwed(await currentState(handle, unmatched, id)).find(({ key }) => key.part === part)?.leg;
  return leg ?? noSuch;
}

const noSuch = refuse('notFound', 'there is no such refund: npm run refunds -- list');

function decideRefund(deps: Deps, { key, reason }: RefundByHand, by: By, verb: RefundVerb): RefundDecided {
  const { kind, id, part } = key;
  if (kind === 'refund') return decide(deps, { paymentId: id, part, reason }, by, verb.ofPayment);
  const { handle, clock } = deps;
  return handle(unmatched, id, (state) => verb.ofUnmatched(state, part, reason, clock.now()), { ...by, appId: null });
}
