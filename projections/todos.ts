import { nextStep } from '../domain/payment/next.ts';
import type { Payment } from '../domain/payment/state.ts';
import type { Instant } from '../domain/time.ts';
import { deliveryIdOf, type WebhookEventType } from '../domain/webhook.ts';
import { ofEvents, ofStates, remove, type Seen, upsert } from './projection.ts';

/** What each payment's process is to do next and when; gone when nothing is left. */
export const todoPayments = ofStates('todoPayments', 'payment', ({ after, stored }) => {
  const { paymentId: payment_id, source, destination } = after.terms;
  const { step, due_at } = dueStep(after, stored.metadata.at);
  if (step === 'done' || step === 'hold') return [remove('todo_payments', { payment_id })];
  const chain_id = step === 'expire' ? source.chainId : destination.chainId;
  return [upsert('todo_payments', { payment_id, chain_id, step, due_at })];
});

/** A payment that waits is due at the end of its time, to be expired. */
function dueStep(payment: Payment, at: Instant): { step: string; due_at: string } {
  const step = nextStep(payment, at);
  return step.do === 'wait' ? { step: 'expire', due_at: step.until } : { step: step.do, due_at: at };
}

/** Of which payment events an app is told. The start of the one attempt takes the row away. */
export const todoWebhooks = ofEvents('todoWebhooks', (seen) => {
  if (seen.category === 'payment') return announced(seen);
  if (seen.category !== 'webhook' || seen.event.type !== 'WebhookSendStarted') return [];
  return [remove('todo_webhooks', { delivery_id: seen.event.data.deliveryId })];
});

function announced(seen: Seen<'payment'>) {
  const { stored, after } = seen;
  const { paymentId, appId, webhookUrl } = after.terms;
  const event_type = newsOf(seen);
  if (webhookUrl === null || event_type === null) return [];
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

/** A payout that left the chain and is confirmed again is no news. */
function newsOf({ event, before }: Seen<'payment'>): WebhookEventType | null {
  if (event.type === 'PaymentFunded') return 'payment_payin_completed';
  return event.type === 'PayoutConfirmed' && !before?.payout?.everSettled ? 'payment_payout_completed' : null;
}
