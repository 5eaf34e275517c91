import { statusOf } from '../domain/payment/view.ts';
import { number, ofRecords } from './projection.ts';

/** The feed of each app: every event of its payments, numbered in the order of the log. */
export const appEvents = ofRecords('appEvents', 'payment', ({ before, after, stored }) => [
  number('app_events', {
    app_id: after.terms.appId,
    event_id: stored.id,
    type: stored.type,
    payment_id: after.terms.paymentId,
    order_id: after.terms.orderId,
    revision: stored.revision.toString(),
    status: statusOf(after),
    previous_status: before && statusOf(before),
    error_code: after.closed?.kind === 'bounced' ? after.closed.code : null,
    at: stored.metadata.at,
  }),
]);
