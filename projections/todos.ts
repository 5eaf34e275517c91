import { nextStep } from '../domain/payment/backing.ts';
import { policyRefunds, policyRefundsDue } from '../domain/payment/policy.ts';
import { type Transfer, transferId } from '../domain/payment/shapes.ts';
import { awaitedChains } from '../domain/payment/sources.ts';
import type { Payment } from '../domain/payment/state.ts';
import type { Instant } from '../domain/time.ts';
import { deliveryIdOf, isFirstType, type WebhookEventType } from '../domain/webhook.ts';
import { ofEvents, ofStates, type Projection, remove, type SeenEventOf, upsert } from './projection.ts';

/** Payments that wait for money, with their end, on each chain where it may arrive. The rows are deleted when the wait is over. */
export const todoPayments = ofStates('todoPayments', 'payment', ({ before, after, stored }) => {
  const { paymentId: payment_id } = after.terms;
  const due_at = waitsUntil(after, stored.metadata.at);
  const former = before && waitsUntil(before, stored.metadata.at) !== undefined ? awaitedChains(before) : [];
  const due = due_at === undefined ? [] : awaitedChains(after).map((chain_id) => ({ payment_id, chain_id, due_at }));
  return [
    ...due.map((row) => upsert('todo_payments', row)),
    ...former
      .filter((chain_id) => !due.some((row) => row.chain_id === chain_id))
      .map((chain_id) => remove('todo_payments', { payment_id, chain_id })),
  ];
});

/** Time at which a payment is due for expiry: its end, or at once if that has passed. */
function waitsUntil(payment: Payment, at: Instant): Instant | undefined {
  const step = nextStep(payment, at);
  if (step.do === 'wait') return step.until;
  return step.do === 'expire' ? at : undefined;
}

/** Payment events that each webhook type reports. An event has one webhook: of the first matching type here. */
export type ReportedEvents = Readonly<Record<string, (seen: SeenEventOf<'payment'>) => boolean>>;

export const news: Readonly<Record<WebhookEventType, ReportedEvents[string]>> = {
  payment_payin_completed: ({ event }) => event.type === 'PaymentFunded',
  // A payout that is confirmed again after an orphaned block was reported before.
  payment_payout_completed: ({ event, before }) => event.type === 'PayoutConfirmed' && !before?.payout?.everSettled,
  payment_held: ({ event, after }) => event.type === 'PayinConfirmed' && isHeld(after, event.data.transfer),
  payment_bounced: ({ event, before }) => event.type === 'PaymentBounced' && before?.closed?.kind !== 'bounced',
  payment_expired: ({ event, before }) => event.type === 'PaymentExpired' && before?.closed === null,
  payment_refunded: ({ event, before }) =>
    event.type === 'RefundConfirmed' &&
    !before?.refunds.find(({ refund }) => refund === event.data.refund)?.everSettled,
};

/** True for final money that does not count towards the payment: only a refund can move it. */
const isHeld = ({ payins }: Payment, transfer: Transfer): boolean =>
  payins.find(({ id }) => id === transferId(transfer))?.standing !== 'counted';

/** Unsent webhooks. The start of their one attempt removes the row. */
export const todoWebhooksOf = (news: ReportedEvents): Projection =>
  ofEvents('todoWebhooks', (seen) => {
    if (seen.category === 'payment') return announced(news, seen);
    if (seen.category !== 'webhook' || seen.event.type !== 'WebhookSendStarted') return [];
    return [remove('todo_webhooks', { delivery_id: seen.event.data.deliveryId })];
  });

export const todoWebhooks = todoWebhooksOf(news);

function announced(news: ReportedEvents, seen: SeenEventOf<'payment'>) {
  const { stored, after } = seen;
  const { paymentId, appId, webhookUrl } = after.terms;
  if (webhookUrl === null) return [];
  const event_type = Object.keys(news).find((type) => news[type]?.(seen) && isDue(type, seen));
  if (event_type === undefined) return [];
  const row = {
    delivery_id: deliveryIdOf(stored.id),
    payment_id: paymentId,
    app_id: appId,
    event_type,
    event_id: stored.id,
    event_revision: stored.revision.toString(),
    url: webhookUrl,
    created_at: stored.metadata.at,
  };
  return [upsert('todo_webhooks', row)];
}

/**
 * A later type goes only to an app that chose it before the payment was created. It reports no event from before its introduction: else a
 * rebuild would send the whole history.
 */
function isDue(type: string, { stored, introduced, after }: SeenEventOf<'payment'>): boolean {
  if (isFirstType(type)) return true;
  if (!after.terms.webhookTypes?.includes(type)) return false;
  const beginning = introduced.get(type);
  return beginning !== undefined && beginning < stored.position;
}

/** Every attempted webhook. A start without an outcome counts as exhausted and is never sent again. */
export const deliveries = ofStates('deliveries', 'webhook', ({ after }) => {
  if (after.stage === 'new') return [];
  const { deliveryId, kind, firstDeliveryId, paymentId, appId, eventType, url, startedAt } = after.start;
  const outcome = after.stage === 'started' ? null : after.outcome;
  return [
    upsert('deliveries', {
      delivery_id: deliveryId,
      kind,
      first_delivery_id: firstDeliveryId,
      payment_id: paymentId,
      app_id: appId,
      event_type: eventType,
      url,
      status: after.stage === 'delivered' ? 'delivered' : 'exhausted',
      status_code: outcome?.statusCode,
      error: outcome?.error,
      response_preview: outcome?.responsePreview,
      started_at: startedAt,
      delivered_at: outcome?.finishedAt,
      duration_ms: outcome?.duration_ms,
      attempt_number: 1,
    }),
  ];
});

/** Payments with policy refunds, and whether a sender has signed an address. The row is deleted when all of them are ordered. */
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
