/** Expected notifications from payments' streams, and actual ones from deliveries' streams. */
import { transferId } from '../../../domain/payment/shapes.ts';
import {
  deliveryIdOf,
  endpointDeliveryIdOf,
  isFirstType,
  testEventType,
  type WebhookEventType,
} from '../../../domain/webhook.ts';
import type { Out } from '../claims.ts';
import type { AuditEntry, Reckoner } from '../entry.ts';
import { findingAt } from '../findings.ts';

const whereOf = ({ stream, revision, id }: AuditEntry) => ({ stream, revision, id });

/** Event that each type reports. */
const newsOf: Readonly<Record<WebhookEventType, string>> = {
  payment_payin_completed: 'PaymentFunded',
  payment_payout_completed: 'PayoutConfirmed',
  payment_held: 'PayinConfirmed',
  payment_bounced: 'PaymentBounced',
  payment_expired: 'PaymentExpired',
  payment_refunded: 'RefundConfirmed',
};
const typeOf = new Map(Object.entries(newsOf).map(([type, event]) => [event, type as WebhookEventType]));

/** A payment's stream: its events that are reported. */
export function createNewsReckoner(out: Out): Reckoner {
  let created: AuditEntry | null = null;
  const told = new Set<string>();
  const funding = new Set<string>();
  const finalPayins: AuditEntry[] = [];
  const report = (entry: AuditEntry, eventType: WebhookEventType): void => {
    if (!created) return;
    const { paymentId, appId, webhookUrl, webhookTypes = [], webhookEndpoints = [] } = created.data;
    const { position, at } = entry;
    const to = (url: string | null, endpointId: string | null): void =>
      out.news({ side: 'news', where: whereOf(entry), position, at, paymentId, appId, eventType, url, endpointId });
    if (isFirstType(eventType) || webhookTypes.includes(eventType)) to(webhookUrl, null);
    for (const { endpointId, url, types } of webhookEndpoints) if (types.includes(eventType)) to(url, endpointId);
  };
  return {
    next(entry) {
      if (entry.type === 'PaymentCreated') created ??= entry;
      if (entry.type === 'PaymentFunded') for (const id of entry.data.transferIds) funding.add(id);
      const eventType = typeOf.get(entry.type);
      if (!created || !eventType) return;
      if (eventType === 'payment_held') {
        finalPayins.push(entry);
        return;
      }
      const once = occasionOf(entry, eventType);
      if (told.has(once)) return;
      told.add(once);
      report(entry, eventType);
    },
    /** Only the end of the stream proves that a payin funds nothing. */
    end() {
      for (const payin of finalPayins) if (!funding.has(transferId(payin.data.transfer))) report(payin, 'payment_held');
    },
  };
}

/** A repeated confirmation has no new webhook. Each refund of a payment has one. */
const occasionOf = ({ data }: AuditEntry, eventType: WebhookEventType): string =>
  eventType === 'payment_refunded' ? `${eventType} ${data.refund}` : eventType;

/** A delivery's stream: one POST for an event, or a test without one. */
export function createWebhookReckoner(out: Out): Reckoner {
  let starts = 0;
  return {
    next(entry) {
      const { type, data, stream } = entry;
      if (type !== 'WebhookSendStarted') return;
      starts += 1;
      if (starts > 1) out.find(findingAt('webhookTwice', entry, 'the delivery was claimed before'));
      if (stream !== `webhook-${data.deliveryId}`)
        out.find(findingAt('webhookWrong', entry, `delivery ${data.deliveryId} has another stream`));
      if (data.kind === 'automatic' && (data.eventId === null || data.deliveryId !== expectedId(data)))
        out.find(findingAt('webhookWrong', entry, `no delivery of event ${data.eventId} has this stream`));
      if (isTest(data)) return;
      const { kind, paymentId, appId, eventType, url, endpointId = null, eventId, eventRevision } = data;
      const { position } = entry;
      const said = { kind, paymentId, appId, eventType, url, endpointId, eventId, eventRevision };
      out.news({ side: 'telling', where: whereOf(entry), position, ...said });
    },
    end() {},
  };
}

const expectedId = ({ eventId, endpointId }: AuditEntry['data']): string =>
  endpointId === undefined ? deliveryIdOf(eventId) : endpointDeliveryIdOf(eventId, endpointId);

/** It names no payment, so its body is a sample. */
const isTest = ({ kind, eventType, paymentId, eventId, eventRevision }: AuditEntry['data']): boolean =>
  kind === 'test' && eventType === testEventType && paymentId === null && eventId === null && eventRevision === null;
