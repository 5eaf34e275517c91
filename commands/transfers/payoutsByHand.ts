/** What an operator decides about a payout that does not go on by itself. Each decision is recorded with its reason and who made it. */
import { type Refusal, refuse } from '../../domain/decider.ts';
import { bounceImpossible } from '../../domain/payment/close.ts';
import * as payout from '../../domain/payment/payout.ts';
import { type PaymentState, paymentDecider } from '../../domain/payment/state.ts';
import { liveAttempts } from '../../domain/transfer/leg.ts';
import { type By, currentState, type Handle, type Handled } from '../handle.ts';
import type { Clock } from '../ports.ts';
import { isDecided, type PayoutRail } from './ports.ts';

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

/** Nothing more is signed for the payout until it is tried again. What is signed can still land. */
export const holdPayout = (deps: Deps, byHand: ByHand, by: By): Outcome => decide(deps, byHand, by, payout.holdPayout);

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

/**
 * Declares the payout's attempts dead: they can land no more, and the operator has found out that none did, though no node remembers far
 * enough to prove it. Refused as long as one can land, or the nodes know what became of it: then it settles or dies by itself.
 */
export async function buryPayout(
  { handle, rail }: Pick<Deps, 'handle'> & { readonly rail: Pick<PayoutRail, 'canLand' | 'fate'> },
  { paymentId, reason }: ByHand,
  by: By,
  signal: AbortSignal,
): Outcome {
  const payment = await currentState(handle, paymentDecider, paymentId);
  if (!payment) return paymentNotFound;
  const live = payment.payout ? liveAttempts(payment.payout) : [];
  if (live.length === 0) return refuse('illegalStep', 'no attempt of this payout waits: there is nothing to bury');
  for (const attempt of live) {
    if (await rail.canLand(attempt, signal))
      return refuse('illegalStep', `attempt ${attempt.attempt} (${attempt.hash}) may still land: wait`);
  }
  const fate = await rail.fate(live, signal);
  if (isDecided(fate)) {
    return refuse('illegalStep', 'the nodes know what became of it: the service records it by itself');
  }
  const buried = live.map(({ attempt }) => attempt);
  const proof = { reason: 'declared', detail: reason } as const;
  const facts = { ...by, appId: payment.terms.appId };
  return handle(paymentDecider, paymentId, (state) => payout.buryPayout(state, buried, proof), facts);
}
