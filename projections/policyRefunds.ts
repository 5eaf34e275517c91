import { policyRefundsDue } from '../domain/payment/policy.ts';
import { ofStates, remove, upsert } from './projection.ts';

/** Payments of which something goes back by their app's policy, to addresses that are proven. The row goes when all of it is ordered. */
export const todoPolicyRefunds = ofStates('todoPolicyRefunds', 'payment', ({ before, after, stored }) => {
  const { paymentId: payment_id, appId: app_id } = after.terms;
  if (policyRefundsDue(after))
    return [upsert('todo_policy_refunds', { payment_id, app_id, due_at: stored.metadata.at })];
  return before && policyRefundsDue(before) ? [remove('todo_policy_refunds', { payment_id })] : [];
});
