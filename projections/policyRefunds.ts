import { policyRefunds, policyRefundsDue } from '../domain/payment/policy.ts';
import type { Payment } from '../domain/payment/state.ts';
import { ofStates, remove, upsert } from './projection.ts';

/** Payments of which something goes back by their app's policy, and whether a sender has signed where to. The row goes when all of it is ordered. */
export const todoPolicyRefunds = ofStates('todoPolicyRefunds', 'payment', ({ before, after, stored }) => {
  const { paymentId: payment_id, appId: app_id } = after.terms;
  if (goesBack(after))
    return [
      upsert('todo_policy_refunds', {
        payment_id,
        app_id,
        proven: policyRefundsDue(after),
        due_at: stored.metadata.at,
      }),
    ];
  return before && goesBack(before) ? [remove('todo_policy_refunds', { payment_id })] : [];
});

const goesBack = (p: Payment): boolean => p.applied.length > 0 && policyRefunds(p).length > 0;
