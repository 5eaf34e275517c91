import type { Instant } from '../time.ts';
import type { TransferStep } from '../transfer/step.ts';
import { payoutOwed } from './owed.ts';
import type { PaymentState } from './state.ts';

/** What the process owes the payment now; its refunds are owed besides (owed.ts). Subscribers only interpret it. */
export type Step =
  | { readonly do: 'wait'; readonly until: Instant }
  /** Past its time and not funded: expires once the chain's final scan has passed expiresAt. */
  | { readonly do: 'expire' }
  | TransferStep;

/** Pure: same state and time, same step. */
export function nextStep(p: PaymentState, now: Instant): Step {
  if (!p || p.closed) return { do: 'done' };
  const { expiresAt } = p.terms;
  return payoutOwed(p)?.step ?? (now <= expiresAt ? { do: 'wait', until: expiresAt } : { do: 'expire' });
}
