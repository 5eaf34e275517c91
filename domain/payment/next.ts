import type { Instant } from '../time.ts';
import { liveAttempts, type Order } from '../transfer/leg.ts';
import type { SignedAttempt } from '../transfer/shapes.ts';
import { lostFunding } from './counting.ts';
import type { PaymentState } from './state.ts';

/** What the process owes the payment now. Subscribers only interpret it. */
export type Step =
  | { readonly do: 'wait'; readonly until: Instant }
  /** Past its time and not funded: expires once the chain's final scan has passed expiresAt. */
  | { readonly do: 'expire' }
  | { readonly do: 'requestPayout' }
  | { readonly do: 'sign'; readonly order: Order; readonly attempt: number }
  /** Signed and not settled: send the recorded bytes until their fate is known. */
  | { readonly do: 'broadcast'; readonly order: Order; readonly attempts: readonly SignedAttempt[] }
  /** Nothing can land, and nothing is signed: the money left its chain, until it is back; an operator holds the payout; or less arrived than was ordered. */
  | { readonly do: 'hold' }
  | { readonly do: 'done' };

/** The whole process on one screen. Pure: same state and time, same step. */
export function nextStep(p: PaymentState, now: Instant): Step {
  if (!p || p.closed) return { do: 'done' };
  if (!p.funded) {
    const expiresAt = p.terms.expiresAt;
    return now <= expiresAt ? { do: 'wait', until: expiresAt } : { do: 'expire' };
  }
  if (p.payout?.settled) return { do: 'done' };
  if (p.payout?.short) return { do: 'hold' };
  const attempts = p.payout ? liveAttempts(p.payout) : [];
  if (p.payout && attempts.length > 0) return { do: 'broadcast', order: p.payout.order, attempts };
  if (lostFunding(p) || p.payoutHeld !== null) return { do: 'hold' };
  return p.payout
    ? { do: 'sign', order: p.payout.order, attempt: p.payout.attempts.length + 1 }
    : { do: 'requestPayout' };
}
