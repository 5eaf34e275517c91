import Type from 'typebox';
import type { By } from '../../../commands/handle.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { deliveryKinds, webhookErrors } from '../../../domain/webhook.ts';
import type { DeliveryFilter, DeliveryPage, DeliveryRecord } from '../../../queries/deliveries.ts';
import { type AnyRoute, ok, route } from '../router.ts';
import {
  closed,
  NullableText,
  oneOf,
  orNull,
  PageCursor,
  Time,
  TimeOrNull,
  Uuid,
  WebhookEventType,
} from '../schemas/base.ts';
import { limit, pageSize } from '../schemas/queries.ts';
import { WebhookPayment } from '../schemas/responses.ts';
import { EndpointPath } from '../schemas/settings.ts';

// Requests and answers of webhook deliveries.

const { Array: List, Integer, Object: Shape, Optional } = Type;

const DeliveryStatus = oneOf(['delivered', 'exhausted'], {
  title: 'DeliveryStatus',
  description: 'delivered after a 2xx answer; otherwise exhausted, also if the outcome is unknown',
});

const DeliveriesQuery = Shape(
  {
    limit: limit('deliveries'),
    cursor: Optional(PageCursor),
    paymentId: Optional(Uuid),
    status: Optional(DeliveryStatus),
  },
  closed,
);

/** No format: a malformed id is answered like an unknown delivery. */
const DeliveryPath = Shape(
  { id: Type.String({ description: 'The delivery’s id, in any letter case. Another text is deliveryNotFound, too.' }) },
  closed,
);

const RedeliveryRequest = Shape(
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

const DeliveriesResponse = Shape(
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

const DeliveryResponse = Shape(
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

const tag = 'Merchant';
const base = '/merchant-api/me/webhook';
const errors = ['invalidRequest', 'unauthenticated', 'scope_insufficient'] as const;
/** Another app's delivery is answered like an unknown one. */
const noDelivery = refuse('deliveryNotFound', 'no delivery has this id: list the deliveries to see theirs', '/id');

const notAcknowledged = refuse(
  'invalidRequest',
  'must be true: the receiver may have got this webhook already, and would get it again under another event_id',
  '/acknowledged',
);

/** Result of a redelivery. */
export interface Redelivered {
  readonly delivery: DeliveryRecord;
  /** False for a repeated request: nothing was sent now. */
  readonly sentNow: boolean;
}

/**
 * Needs of the routes of webhook deliveries. The id of a delivery may be any text. `redeliver` and `sendTest` wait up to 10 s for the
 * receiver.
 */
export interface DeliveryRoutesDeps {
  readonly listDeliveries: (appId: string, filter: DeliveryFilter) => Promise<DeliveryPage | Refusal>;
  /** Null for a delivery of another app. */
  readonly getDelivery: (appId: string, deliveryId: string) => Promise<DeliveryRecord | null>;
  /** Sends again, once the owner was warned that the receiver may get it twice. @throws ApiError rateLimited, Unavailable */
  readonly redeliver: (appId: string, deliveryId: string, by: By) => Promise<Redelivered | Refusal>;
  /** Sends to the URL in force, or to an endpoint. @throws ApiError rateLimited, Unavailable */
  readonly sendTest: (appId: string, by: By, endpointId?: string) => Promise<DeliveryRecord | Refusal>;
}

/** An app's webhook deliveries, and those that its owner requests. */
export const deliveryRoutes = (deps: DeliveryRoutesDeps): readonly AnyRoute[] => [...reading(deps), ...sending(deps)];

const reading = (deps: DeliveryRoutesDeps): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: `${base}/deliveries`,
    auth: 'app',
    query: DeliveriesQuery,
    answers: { 200: { description: 'A page of the app’s deliveries', schema: DeliveriesResponse } },
    errors,
    doc: { id: 'listDeliveries', tag, summary: 'List webhook deliveries, newest first' },
    async handle({ caller, query: { limit = pageSize, ...query } }) {
      const page = await deps.listDeliveries(caller.appId, { ...query, limit });
      if (isRefusal(page)) return page;
      return ok({ data: page.deliveries, hasMore: page.nextCursor !== null, nextCursor: page.nextCursor });
    },
  }),
  route({
    method: 'get',
    path: `${base}/deliveries/{id}`,
    auth: 'app',
    params: DeliveryPath,
    answers: { 200: { description: 'The delivery', schema: DeliveryResponse } },
    errors: [...errors, 'deliveryNotFound'],
    doc: { id: 'getDelivery', tag, summary: 'Get a webhook delivery with the request as it was sent' },
    async handle({ caller, params }) {
      const delivery = await deps.getDelivery(caller.appId, params.id.toLowerCase());
      return delivery ? ok(delivery) : noDelivery;
    },
  }),
];

const testAnswers = {
  200: { description: 'The test, after the receiver’s answer or a time-out', schema: DeliveryResponse },
};

const sending = (deps: DeliveryRoutesDeps): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: `${base}/deliveries/{id}/redeliver`,
    auth: 'owner',
    params: DeliveryPath,
    body: RedeliveryRequest,
    answers: {
      200: {
        description: 'The redelivery, after the receiver’s answer or a time-out',
        schema: DeliveryResponse,
        headers: ['Idempotent-Replayed'],
      },
    },
    errors: ['unauthenticated', 'forbidden', 'deliveryNotFound', 'deliveryNotRedeliverable'],
    doc: {
      id: 'redeliver',
      tag,
      summary: 'Redeliver an exhausted webhook',
      description:
        'Sends the same event to the same URL, as a separate delivery whose X-Service-First-Delivery names the first one. The receiver may have got it already. Each delivery is redelivered once: a repeated request returns the existing redelivery, with Idempotent-Replayed. To send once more, redeliver the redelivery.',
    },
    async handle({ caller, params, body, by }) {
      if (!body.acknowledged) return notAcknowledged;
      const redelivered = await deps.redeliver(caller.appId, params.id.toLowerCase(), by);
      if (isRefusal(redelivered)) return redelivered;
      return ok(redelivered.delivery, redelivered.sentNow ? {} : { 'Idempotent-Replayed': 'true' });
    },
  }),
  route({
    method: 'post',
    path: `${base}/test`,
    auth: 'owner',
    answers: testAnswers,
    errors: ['unauthenticated', 'forbidden', 'webhookUrlMissing'],
    doc: {
      id: 'sendTestWebhook',
      tag,
      summary: 'Send a test webhook',
      description: 'To the current webhook URL, of type webhook_test, with a fabricated payment.',
    },
    async handle({ caller, by }) {
      const sent = await deps.sendTest(caller.appId, by);
      return isRefusal(sent) ? sent : ok(sent);
    },
  }),
  route({
    method: 'post',
    path: `${base}/endpoints/{id}/test`,
    auth: 'owner',
    params: EndpointPath,
    answers: testAnswers,
    errors: ['unauthenticated', 'forbidden', 'notFound'],
    doc: {
      id: 'sendTestToWebhookEndpoint',
      tag,
      summary: 'Send a test webhook to an endpoint',
      description: 'Of type webhook_test, whatever types the endpoint chose, signed with the endpoint’s secret.',
    },
    async handle({ caller, params, by }) {
      const sent = await deps.sendTest(caller.appId, by, params.id);
      return isRefusal(sent) ? sent : ok(sent);
    },
  }),
];
