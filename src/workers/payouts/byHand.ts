/** What an operator decides about a payout that does not go on by itself. Each decision is recorded with its reason and who made it. */
import { type By, currentState, type Handle, type Handled } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import { type BatchState, dissolveBatch, payoutBatch } from '../../../domain/batch/batch.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { type Decision, isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { copyBatch } from '../../../domain/payment/batched.ts';
import { bounceImpossible } from '../../../domain/payment/close.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import * as payout from '../../../domain/payment/payout.ts';
import * as refunding from '../../../domain/payment/payout.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import type { Instant } from '../../../domain/time.ts';
import type { TransferLeg } from '../../../domain/transfer/leg.ts';
import type { TransferKey } from '../../../domain/transfer/shapes.ts';
import { type UnmatchedEvent, type UnmatchedState, unmatched } from '../../../domain/unmatched.ts';
import * as unmatchedRefund from '../../../domain/unmatchedRefund.ts';
import { buriable } from './impossible.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
}

export interface ByHand {
  readonly paymentId: string;
  /** At most 400 characters, for whoever asks why. */
  readonly reason: string;
}

type Outcome = Promise<Handled<PaymentState> | Refusal>;

const paymentNotFound = refuse('paymentNotFound', 'there is no such payment');

/**
 * Nothing more is signed for the payout until it is tried again. What is signed can still land, and stands in the payment's stream when this
 * returns: who finds no attempt there may pay by hand.
 *
 * Crash after PayoutHeld: its batch may still be signed, and nobody was told that it is held. Held again, it leaves the batch.
 */
export async function holdPayout(deps: Deps, byHand: ByHand, by: By): Outcome {
  const held = await decide(deps, byHand, by, payout.holdPayout);
  if (isRefusal(held) || !held.state?.batch) return held;
  const { batch, terms } = held.state;
  const out = await outOfBatch(deps, batch.id, terms, by);
  return isRefusal(out) ? out : { ...out, appended: held.appended + out.appended };
}

/** The batch is not made; where it is signed already, the payment gets the attempt. */
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

/** The payout goes on after a hold, after its attempts were spent, or after a transfer that brought nothing. */
export const retryPayout = (deps: Deps, byHand: ByHand, by: By): Outcome =>
  decide(deps, byHand, by, payout.retryPayout);

/** The receiver has it all although its transfer fell short: the payout counts as settled. */
export const acceptPayout = (deps: Deps, byHand: ByHand, by: By): Outcome =>
  decide(deps, byHand, by, payout.acceptPayout);

/** The receiver cannot be paid, and what came is to go back. Refused as long as an attempt can land. */
export const bouncePayout = (deps: Deps, byHand: ByHand, by: By): Outcome => decide(deps, byHand, by, bounceImpossible);

async function decide(
  { handle, clock }: Deps,
  { paymentId, reason }: ByHand,
  by: By,
  decision: typeof payout.holdPayout,
): Outcome {
  const payment = await currentState(handle, paymentDecider, paymentId);
  if (!payment) return paymentNotFound;
  const facts = { ...by, appId: payment.terms.appId };
  return handle(paymentDecider, paymentId, (state) => decision(state, reason, clock.now()), facts);
}

/** Declares the payout's attempts dead: they can land no more, and the operator has found out that none did. */
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
  const proof = { reason: 'declared', detail: reason } as const;
  const facts = { ...by, appId: payment.terms.appId };
  return handle(paymentDecider, paymentId, (state) => payout.buryPayout(state, buried, proof), facts);
}

// What an operator decides about a refund that does not go on by itself, of a payment or of money that no payment takes up. Each decision
// is recorded with its reason and who made it.

interface RefundDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
}

export interface RefundKey extends TransferKey {
  readonly kind: 'refund' | 'unmatchedRefund';
}

export interface RefundByHand {
  readonly key: RefundKey;
  /** At most 400 characters, for whoever asks why. */
  readonly reason: string;
}

export type RefundDecided = Promise<{ readonly appended: number } | Refusal>;

/** A decision as the stream of either kind takes it. */
interface Verb {
  readonly ofPayment: (state: PaymentState, part: number, reason: string, now: Instant) => Decision<PaymentEvent>;
  readonly ofUnmatched: (state: UnmatchedState, part: number, reason: string, now: Instant) => Decision<UnmatchedEvent>;
}

const callOff: Verb = { ofPayment: refunding.callOffRefund, ofUnmatched: unmatchedRefund.callOffUnmatchedRefund };
const retry: Verb = { ofPayment: refunding.retryRefund, ofUnmatched: unmatchedRefund.retryUnmatchedRefund };
const accept: Verb = { ofPayment: refunding.acceptRefund, ofUnmatched: unmatchedRefund.acceptUnmatchedRefund };

/** It is not sent: what it took is held again, and can be ordered back to another address. */
export const callOffRefund = (deps: RefundDeps, byHand: RefundByHand, by: By): RefundDecided =>
  decideRefund(deps, byHand, by, callOff);

/** It goes on after its attempts were spent, or after a transfer that brought nothing. */
export const retryRefund = (deps: RefundDeps, byHand: RefundByHand, by: By): RefundDecided =>
  decideRefund(deps, byHand, by, retry);

/** The receiver has it all although its transfer fell short: the refund counts as settled. */
export const acceptRefund = (deps: RefundDeps, byHand: RefundByHand, by: By): RefundDecided =>
  decideRefund(deps, byHand, by, accept);

/** Declares its attempts dead: they can land no more, and the operator has found out that none did. It is signed anew. */
export async function buryRefund(
  deps: RefundDeps & { readonly railOf: (chainId: ChainId) => Pick<PayoutRail, 'canLand' | 'fate'> | undefined },
  byHand: RefundByHand,
  by: By,
  signal: AbortSignal,
): RefundDecided {
  const leg = await refundLeg(deps.handle, byHand.key);
  if (isRefusal(leg)) return leg;
  const rail = deps.railOf(leg.order.chainId);
  if (!rail) return refuse('invalidRequest', `chain ${leg.order.chainId} is not configured here: nobody can be asked`);
  const buried = await buriable(rail, leg, signal);
  if (isRefusal(buried)) return buried;
  const proofOf = (detail: string) => ({ reason: 'declared', detail }) as const;
  return decideRefund(deps, byHand, by, {
    ofPayment: (state, part, reason) => refunding.buryRefund(state, part, buried, proofOf(reason)),
    ofUnmatched: (state, part, reason) => unmatchedRefund.buryUnmatchedRefund(state, part, buried, proofOf(reason)),
  });
}

/** The transfer itself; refused where there is none. */
export async function refundLeg(handle: Handle, { kind, id, part }: RefundKey): Promise<TransferLeg | Refusal> {
  const leg =
    kind === 'refund'
      ? (await currentState(handle, paymentDecider, id))?.refunds.find(({ refund }) => refund === part)
      : unmatchedRefund
          .unmatchedRefundsOwed(await currentState(handle, unmatched, id))
          .find(({ key }) => key.part === part)?.leg;
  return leg ?? noSuch;
}

const noSuch = refuse('notFound', 'there is no such refund: npm run refunds -- list');

async function decideRefund(
  { handle, clock }: RefundDeps,
  { key, reason }: RefundByHand,
  by: By,
  verb: Verb,
): RefundDecided {
  const { id, part } = key;
  if (key.kind === 'unmatchedRefund')
    return handle(unmatched, id, (state) => verb.ofUnmatched(state, part, reason, clock.now()), { ...by, appId: null });
  const payment = await currentState(handle, paymentDecider, id);
  if (!payment) return refuse('paymentNotFound', 'there is no such payment');
  const facts = { ...by, appId: payment.terms.appId };
  return handle(paymentDecider, id, (state) => verb.ofPayment(state, part, reason, clock.now()), facts);
}
