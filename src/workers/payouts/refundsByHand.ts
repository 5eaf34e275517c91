/**
 * What an operator decides about a refund that does not go on by itself, of a payment or of money that no payment takes up. Each decision
 * is recorded with its reason and who made it.
 */

import { type By, currentState, type Handle } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { type Decision, isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import * as refunding from '../../../domain/payment/refunding.ts';
import { type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import type { Instant } from '../../../domain/time.ts';
import type { TransferKey } from '../../../domain/transfer/key.ts';
import type { TransferLeg } from '../../../domain/transfer/leg.ts';
import { type UnmatchedEvent, type UnmatchedState, unmatched } from '../../../domain/unmatched.ts';
import * as unmatchedRefund from '../../../domain/unmatchedRefund.ts';
import { buriable } from './burying.ts';

interface Deps {
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
export const callOffRefund = (deps: Deps, byHand: RefundByHand, by: By): RefundDecided =>
  decide(deps, byHand, by, callOff);

/** It goes on after its attempts were spent, or after a transfer that brought nothing. */
export const retryRefund = (deps: Deps, byHand: RefundByHand, by: By): RefundDecided => decide(deps, byHand, by, retry);

/** The receiver has it all although its transfer fell short: the refund counts as settled. */
export const acceptRefund = (deps: Deps, byHand: RefundByHand, by: By): RefundDecided =>
  decide(deps, byHand, by, accept);

/** Declares its attempts dead: they can land no more, and the operator has found out that none did. It is signed anew. */
export async function buryRefund(
  deps: Deps & { readonly railOf: (chainId: ChainId) => Pick<PayoutRail, 'canLand' | 'fate'> | undefined },
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
  return decide(deps, byHand, by, {
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

async function decide({ handle, clock }: Deps, { key, reason }: RefundByHand, by: By, verb: Verb): RefundDecided {
  const { id, part } = key;
  if (key.kind === 'unmatchedRefund')
    return handle(unmatched, id, (state) => verb.ofUnmatched(state, part, reason, clock.now()), { ...by, appId: null });
  const payment = await currentState(handle, paymentDecider, id);
  if (!payment) return refuse('paymentNotFound', 'there is no such payment');
  const facts = { ...by, appId: payment.terms.appId };
  return handle(paymentDecider, id, (state) => verb.ofPayment(state, part, reason, clock.now()), facts);
}
