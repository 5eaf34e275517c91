import type { ChainId } from '../domain/chains.ts';
import { awaitedChains } from '../domain/payment/counting.ts';
import { nextStep } from '../domain/payment/next.ts';
import type { Payment } from '../domain/payment/state.ts';
import type { Instant } from '../domain/time.ts';
import { deliveryIdOf, firstWebhookEventTypes, type WebhookEventType } from '../domain/webhook.ts';
import { ofEvents, ofStates, type Projection, remove, type Seen, upsert } from './projection.ts';

/** The next step of each payment and when it is due, for each chain that it depends on. The rows go when nothing is left to do. */
export const todoPayments = ofStates('todoPayments', 'payment', ({ before, after, stored }) => {
  const { at } = stored.metadata;
  const { paymentId: payment_id, appId: app_id } = after.terms;
  const { step, due_at } = dueStep(after, at);
  const chainIds = chainsOf(after, step);
  const former = before ? chainsOf(before, dueStep(before, at).step) : [];
  return [
    ...chainIds.map((chain_id) => upsert('todo_payments', { payment_id, chain_id, step, due_at, app_id })),
    ...former
      .filter((chain_id) => !chainIds.includes(chain_id))
      .map((chain_id) => remove('todo_payments', { payment_id, chain_id })),
  ];
});

function chainsOf(payment: Payment, step: string): readonly ChainId[] {
  if (step === 'done') return [];
  return step === 'expire' ? awaitedChains(payment) : [payment.terms.destination.chainId];
}

/** A payment that waits for its money is due for expiry at the end of its time. */
function dueStep(payment: Payment, at: Instant): { step: string; due_at: string } {
  const step = nextStep(payment, at);
  return step.do === 'wait' ? { step: 'expire', due_at: step.until } : { step: step.do, due_at: at };
}

/** Which payment events each webhook type reports. An event has one webhook: of the first type here that reports it. */
export type News = Readonly<Record<string, (seen: Seen<'payment'>) => boolean>>;

export const news: Readonly<Record<WebhookEventType, News[string]>> = {
  payment_payin_completed: ({ event }) => event.type === 'PaymentFunded',
  // A payout that left the chain and is confirmed again was reported before.
  payment_payout_completed: ({ event, before }) => event.type === 'PayoutConfirmed' && !before?.payout?.everSettled,
};

/** Webhooks still to be sent. The start of the one attempt removes the row. */
export const todoWebhooksOf = (news: News): Projection =>
  ofEvents('todoWebhooks', (seen) => {
    if (seen.category === 'payment') return announced(news, seen);
    if (seen.category !== 'webhook' || seen.event.type !== 'WebhookSendStarted') return [];
    return [remove('todo_webhooks', { delivery_id: seen.event.data.deliveryId })];
  });

export const todoWebhooks = todoWebhooksOf(news);

function announced(news: News, seen: Seen<'payment'>) {
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

/** A later type reports no event from before its introduction: else a rebuild would send all of history. */
function isDue(type: string, { stored, introduced }: Seen<'payment'>): boolean {
  const first: readonly string[] = firstWebhookEventTypes;
  if (first.includes(type)) return true;
  const beginning = introduced.get(type);
  return beginning !== undefined && beginning < stored.position;
}
