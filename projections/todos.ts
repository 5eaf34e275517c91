import { nextStep } from '../domain/payment/backing.ts';
import { fundingOutcome, givenUpAfter_ms } from '../domain/payment/fundedRefund.ts';
import { policyRefunds, policyRefundsDue } from '../domain/payment/policy.ts';
import { type Transfer, transferId } from '../domain/payment/shapes.ts';
import { awaitedChains } from '../domain/payment/sources.ts';
import type { Payment } from '../domain/payment/state.ts';
import { type Instant, plus } from '../domain/time.ts';
import { deliveryIdOf, endpointDeliveryIdOf, isFirstType, type WebhookEventType } from '../domain/webhook.ts';
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

/** Payment events that each webhook type reports. An event has one webhook per receiver: of the first matching type here. */
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

interface Receiver {
  readonly delivery_id: string;
  readonly url: string;
  readonly endpoint_id: string | null;
}

/** Unsent webhooks. The start of their one attempt removes the row. */
export const todoWebhooksOf = (news: ReportedEvents): Projection =>
  ofEvents('todoWebhooks', (seen) => {
    if (seen.category === 'payment') return announced(news, seen);
    if (seen.category !== 'webhook' || seen.event.type !== 'WebhookSendStarted') return [];
    return [remove('todo_webhooks', { delivery_id: seen.event.data.deliveryId })];
  });

export const todoWebhooks = todoWebhooksOf(news);

function announced(news: ReportedEvents, seen: SeenEventOf<'payment'>) {
  const { webhookUrl, webhookTypes = [], webhookEndpoints = [] } = seen.after.terms;
  const reported = Object.keys(news).filter((type) => news[type]?.(seen));
  if (reported.length === 0) return [];
  const rowOf = (type: string | undefined, to: Receiver) =>
    type === undefined ? [] : [upsert('todo_webhooks', { ...reportOf(seen), event_type: type, ...to })];
  const own = reported.find((type) => isDue(type, seen, isFirstType(type) || webhookTypes.includes(type)));
  return [
    ...(webhookUrl === null
      ? []
      : rowOf(own, { delivery_id: deliveryIdOf(seen.stored.id), url: webhookUrl, endpoint_id: null })),
    ...webhookEndpoints.flatMap(({ endpointId, url, types }) =>
      rowOf(
        reported.find((type) => isDue(type, seen, types.includes(type))),
        { delivery_id: endpointDeliveryIdOf(seen.stored.id, endpointId), url, endpoint_id: endpointId },
      ),
    ),
  ];
}

const reportOf = ({ stored, after }: SeenEventOf<'payment'>) => ({
  payment_id: after.terms.paymentId,
  app_id: after.terms.appId,
  event_id: stored.id,
  event_revision: stored.revision.toString(),
  created_at: stored.metadata.at,
});

/**
 * A later type goes only to a receiver whose app chose it before the payment was created. It reports no event from before its introduction:
 * else a rebuild would send the whole history.
 */
function isDue(type: string, { stored, introduced }: SeenEventOf<'payment'>, isChosen: boolean): boolean {
  if (!isChosen || isFirstType(type)) return isChosen;
  const beginning = introduced.get(type);
  return beginning !== undefined && beginning < stored.position;
}

/** Every attempted webhook. A start without an outcome counts as exhausted and is never sent again. */
export const deliveries = ofStates('deliveries', 'webhook', ({ after }) => {
  if (after.stage === 'new') return [];
  const { deliveryId, kind, firstDeliveryId, paymentId, appId, eventType, url, startedAt, endpointId } = after.start;
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
      endpoint_id: endpointId,
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

/** Funded refunds with a payment that is missing or has ended. */
export const todoFundedRefunds = ofStates('todoFundedRefunds', 'payment', ({ before, after, stored }) => {
  const { paymentId, appId: app_id, refundOf } = after.terms;
  if (refundOf) {
    const key = { funding_payment_id: paymentId };
    const row = { ...key, app_id, payment_id: refundOf.paymentId, refund: refundOf.refund, due_at: stored.metadata.at };
    if (before === null) return [remove('todo_funded_refunds', key)];
    return fundingOutcome(before) === null && fundingOutcome(after) !== null
      ? [upsert('todo_funded_refunds', row)]
      : [];
  }
  if (before?.fundedRefunds === after.fundedRefunds) return [];
  return after.fundedRefunds.flatMap(({ fundingPaymentId: funding_payment_id, refund, requestedAt, ended }) => {
    const former = before?.fundedRefunds.find((each) => each.refund === refund);
    if (ended !== null) return former?.ended === null ? [remove('todo_funded_refunds', { funding_payment_id })] : [];
    if (former) return [];
    const due_at = plus(requestedAt, givenUpAfter_ms);
    return [upsert('todo_funded_refunds', { funding_payment_id, app_id, payment_id: paymentId, refund, due_at })];
  });
});

const goesBack = (p: Payment): boolean => p.applied.length > 0 && policyRefunds(p).length > 0;
