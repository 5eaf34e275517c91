/** Expected notifications from payments' streams, and actual ones from deliveries' streams. */
import { deliveryIdOf, isFirstType, testEventType, type WebhookEventType } from '../../../domain/webhook.ts';
import type { Out } from '../claims.ts';
import type { AuditEntry } from '../entry.ts';
import { findingAt } from '../findings.ts';
import type { Reckoner } from './reckoner.ts';

const whereOf = ({ stream, revision, id }: AuditEntry) => ({ stream, revision, id });

/** Event that each type reports: the first one of a payment, because a repeated confirmation was reported before. */
const newsOf: Readonly<Record<WebhookEventType, string>> = {
  payment_payin_completed: 'PaymentFunded',
  payment_payout_completed: 'PayoutConfirmed',
};
const typeOf = new Map(Object.entries(newsOf).map(([type, event]) => [event, type as WebhookEventType]));

/** A payment's stream: its events that are reported. */
export function createNewsReckoner(out: Out): Reckoner {
  let created: AuditEntry | null = null;
  const told = new Set<string>();
  return {
    next(entry) {
      if (entry.type === 'PaymentCreated') created ??= entry;
      const eventType = typeOf.get(entry.type);
      if (!created || !eventType || told.has(eventType)) return;
      told.add(eventType);
      const { paymentId, appId, webhookUrl: url, webhookTypes = [] } = created.data;
      if (!isFirstType(eventType) && !webhookTypes.includes(eventType)) return;
      const { position, at } = entry;
      out.news({ side: 'news', where: whereOf(entry), position, at, paymentId, appId, eventType, url });
    },
    end() {},
  };
}

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
      if (data.kind === 'automatic' && (data.eventId === null || data.deliveryId !== deliveryIdOf(data.eventId)))
        out.find(findingAt('webhookWrong', entry, `no delivery of event ${data.eventId} has this stream`));
      if (isTest(data)) return;
      const { kind, paymentId, appId, eventType, url, eventId, eventRevision } = data;
      const { position } = entry;
      const said = { kind, paymentId, appId, eventType, url, eventId, eventRevision };
      out.news({ side: 'telling', where: whereOf(entry), position, ...said });
    },
    end() {},
  };
}

/** It names no payment, so its body is a sample. */
const isTest = ({ kind, eventType, paymentId, eventId, eventRevision }: AuditEntry['data']): boolean =>
  kind === 'test' && eventType === testEventType && paymentId === null && eventId === null && eventRevision === null;
