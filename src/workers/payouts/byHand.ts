/** What an operator decides about a payout that does not go on by itself. Each decision is recorded with its reason and who made it. */

import { type By, currentState, type Handle, type Handled } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import { type BatchState, dissolveBatch, payoutBatch } from '../../../domain/batch/batch.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { copyBatch } from '../../../domain/payment/batched.ts';
import { bounceImpossible } from '../../../domain/payment/close.ts';
import * as payout from '../../../domain/payment/payout.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import { buriable } from './burying.ts';

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
