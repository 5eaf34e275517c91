/** What an operator decides about a refund that does not go on by itself. Each decision is recorded with its reason and who made it. */
import { type Refusal, refuse } from '../../domain/decider.ts';
import * as refunding from '../../domain/payment/refunding.ts';
import { type PaymentState, paymentDecider } from '../../domain/payment/state.ts';
import { type By, currentState, type Handle, type Handled } from '../handle.ts';
import type { Clock } from '../ports.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
}

export interface RefundByHand {
  readonly paymentId: string;
  /** The number of the payment's refund. */
  readonly refund: number;
  /** At most 400 characters, for whoever asks why. */
  readonly reason: string;
}

type Outcome = Promise<Handled<PaymentState> | Refusal>;

/** It is not sent: what it took is held again, and can be ordered back to another address. */
export const callOffRefund = (deps: Deps, byHand: RefundByHand, by: By): Outcome =>
  decide(deps, byHand, by, refunding.callOffRefund);

/** It goes on after its attempts were spent, or after a transfer that brought nothing. */
export const retryRefund = (deps: Deps, byHand: RefundByHand, by: By): Outcome =>
  decide(deps, byHand, by, refunding.retryRefund);

/** The receiver has it all although its transfer fell short: the refund counts as settled. */
export const acceptRefund = (deps: Deps, byHand: RefundByHand, by: By): Outcome =>
  decide(deps, byHand, by, refunding.acceptRefund);

async function decide(
  { handle, clock }: Deps,
  { paymentId, refund, reason }: RefundByHand,
  by: By,
  decision: typeof refunding.callOffRefund,
): Outcome {
  const payment = await currentState(handle, paymentDecider, paymentId);
  if (!payment) return refuse('paymentNotFound', 'there is no such payment');
  const facts = { ...by, appId: payment.terms.appId };
  return handle(paymentDecider, paymentId, (state) => decision(state, refund, reason, clock.now()), facts);
}
