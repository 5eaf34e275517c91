/** The app ends a payment before its time. */
import { type Decision, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { PaymentEvent } from './events.ts';
import { allCounted, seenWhole } from './sources.ts';
import type { Payment, PaymentState } from './state.ts';

/**
 * Brings the end of the time to pay forward to now. The payment then ends like any other: once its chains are read past that moment, by
 * their own clocks. A transfer that a block holds by then still counts, so money that is on its way is neither lost nor paid twice. Later
 * money is held for a refund, also if the app's policy accepts late money.
 */
export function cancelPayment(p: PaymentState, now: Instant): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'there is no such payment');
  if (p.cancelledAt !== null) return [];
  const problem = cancelProblem(p, now);
  if (problem !== null) return refuse('illegalStep', problem);
  return [{ type: 'PaymentCancelled', data: { expiresAt: endOf(p, now), cancelledAt: now } }];
}

/** Returns why the payment cannot be cancelled at this moment; null when it can. */
export function cancelProblem(p: Payment, now: Instant): string | null {
  if (p.terms.keyless)
    return 'a payment that was created without a key belongs to its creator and ends when its time is over';
  if (p.funded) return 'the payment is paid: it cannot be cancelled any more';
  if (p.closed) return 'the payment has ended already';
  if (seenWhole(p)) return 'all that is due has been seen on its chain: the payment is about to be paid';
  if (endOf(p, now) >= p.terms.expiresAt)
    return 'the time to pay is over: the payment ends as soon as its chains are read';
  return null;
}

/** A transfer that a chain's clock has counted stays counted, even if that clock is ahead. */
const endOf = (p: Payment, now: Instant): Instant =>
  [now, ...allCounted(p).map(({ transfer }) => transfer.blockTime as Instant)].reduce((a, b) => (b > a ? b : a));
