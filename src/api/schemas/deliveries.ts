/** Requests and answers of webhook deliveries. */
import Type, { type Static } from 'typebox';
import { deliveryKinds, webhookErrors } from '../../../domain/webhook.ts';
import { closed, NullableText, oneOf, orNull, PageCursor, Time, TimeOrNull, Uuid, WebhookEventType } from './base.ts';
import { limit } from './queries.ts';
import { WebhookPayment } from './responses.ts';

const { Array: List, Integer, Object: Shape, Optional } = Type;

const DeliveryStatus = oneOf(['delivered', 'exhausted'], {
  title: 'DeliveryStatus',
  description: 'delivered after a 2xx answer; otherwise exhausted, also if the outcome is unknown',
});

export const DeliveriesQuery = Shape(
  {
    limit: limit('deliveries'),
    cursor: Optional(PageCursor),
    paymentId: Optional(Uuid),
    status: Optional(DeliveryStatus),
  },
  closed,
);
export type DeliveriesQuery = Static<typeof DeliveriesQuery>;

/** No format: a malformed id is answered like an unknown delivery. */
export const DeliveryPath = Shape(
  { id: Type.String({ description: 'The delivery’s id, in any letter case. Another text is deliveryNotFound, too.' }) },
  closed,
);

export const RedeliveryRequest = Shape(
  {
    acknowledged: Type.Boolean({
      description:
        'true: you know that the receiver may have received this webhook already and may receive it again now',
    }),
  },
  { ...closed, title: 'RedeliveryRequest', examples: [{ acknowledged: true }] },
);

const integerOrNull = (description: string) => Type.Unsafe<number | null>({ type: ['integer', 'null'], description });

const deliveryProperties = {
  deliveryId: Uuid,
  paymentId: orNull(Uuid),
  eventType: WebhookEventType,
  statusCode: integerOrNull('Of the receiver’s answer; null when there was none.'),
  responsePreview: NullableText,
  deliveredAt: TimeOrNull,
  status: DeliveryStatus,
  attemptNumber: Integer({ minimum: 1, maximum: 1 }),
  kind: oneOf(deliveryKinds, {
    title: 'DeliveryKind',
    description: 'automatic: caused by a payment’s event. test, manual: requested by the app’s owner.',
  }),
  firstDeliveryId: orNull(Uuid),
  url: Type.String(),
  endpointId: orNull(Uuid),
  error: orNull(
    oneOf([...webhookErrors, 'unknown'], {
      title: 'DeliveryError',
      description: 'Reason why there was no answer. unknown: no outcome is recorded.',
    }),
  ),
  startedAt: Time,
  durationMs: integerOrNull('Milliseconds from the claim to the answer.'),
};

export const WebhookDelivery = Shape(deliveryProperties, {
  title: 'WebhookDelivery',
  description:
    'paymentId is null for a test. endpointId is null for the app’s webhook URL. For a redelivery firstDeliveryId names the automatic first delivery.',
});

export const DeliveriesResponse = Shape(
  { data: List(WebhookDelivery), hasMore: Type.Boolean(), nextCursor: orNull(PageCursor) },
  { title: 'DeliveriesResponse', description: 'Newest first. Send nextCursor as cursor to read on; null at the end.' },
);

const SentRequest = Shape(
  {
    url: Type.String(),
    headers: Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'By their names, signatures among them.',
    }),
    body: Type.String({ description: 'Computed again from the payment’s events.' }),
    isBodyAsSent: Type.Boolean({
      description: 'false: not the sent bytes, because another version of the service wrote them.',
    }),
  },
  { title: 'SentWebhookRequest' },
);

export const DeliveryResponse = Shape(
  {
    ...deliveryProperties,
    request: orNull(SentRequest),
    redeliveries: List(WebhookDelivery, {
      description: 'Its redeliveries, oldest first; each is a redelivery of the previous one.',
    }),
    redeliverable: Type.Boolean({
      description: 'True if it can be redelivered now. If it was already redelivered, its last redelivery can be.',
    }),
  },
  {
    title: 'WebhookDeliveryRecord',
    description: 'The delivery and its request; null if no request was sent, or if it is unknown.',
    examples: [exampleOfRedelivery()],
  },
);

export const WebhookEvent = Shape(
  { event_id: Uuid, type: WebhookEventType, timestamp: Time, data: WebhookPayment },
  {
    title: 'WebhookEvent',
    description:
      'event_id is the delivery’s id: use it to recognise a repetition. data is the payment as it was at the event; for type webhook_test it is fabricated.',
  },
);

/** A redelivery that its receiver did not answer in time. */
function exampleOfRedelivery(): object {
  const url = 'https://shop.example/hooks';
  return {
    deliveryId: '5d0a1f36-77c2-8b1e-9a44-2f6f0c9b8e10',
    paymentId: '0d9c1c60-7a43-8a5e-9b57-1d1c9f7f2a10',
    eventType: 'payment_payout_completed',
    statusCode: null,
    responsePreview: null,
    deliveredAt: '2026-11-21T09:30:10.004Z',
    status: 'exhausted',
    attemptNumber: 1,
    kind: 'manual',
    firstDeliveryId: '9b2f5c1e-8d39-8a53-8f1c-5e0f4f6b1d11',
    url,
    endpointId: null,
    error: 'timeout',
    startedAt: '2026-11-21T09:30:00.000Z',
    durationMs: 10_004,
    request: {
      url,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'PaymentIntents-Webhook/1',
        'X-Service-Timestamp': '1795253400004',
        'X-Service-Signature': 'sha256=a952ad003f78813acc7583093479159a82185b61b3034375cbf71e1995be003e',
        'X-Service-First-Delivery': '9b2f5c1e-8d39-8a53-8f1c-5e0f4f6b1d11',
        'webhook-id': '5d0a1f36-77c2-8b1e-9a44-2f6f0c9b8e10',
        'webhook-timestamp': '1795253400',
        'webhook-signature': 'v1,qrBn484/aV0lSRvUuFLuCMDqZWo502vNRjMhrGT2Nlo=',
      },
      body: '{"event_id":"5d0a1f36-77c2-8b1e-9a44-2f6f0c9b8e10","type":"payment_payout_completed",…}',
      isBodyAsSent: true,
    },
    redeliveries: [],
    redeliverable: true,
  };
}
