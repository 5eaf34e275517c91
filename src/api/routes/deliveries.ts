import type { By } from '../../../commands/handle.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import type { DeliveryFilter, DeliveryPage, DeliveryRecord } from '../../../queries/deliveries.ts';
import { type AnyRoute, ok, route } from '../router.ts';
import * as schemas from '../schemas/deliveries.ts';
import { pageSize } from '../schemas/queries.ts';
import { EndpointPath } from '../schemas/settings.ts';

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
    query: schemas.DeliveriesQuery,
    answers: { 200: { description: 'A page of the app’s deliveries', schema: schemas.DeliveriesResponse } },
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
    params: schemas.DeliveryPath,
    answers: { 200: { description: 'The delivery', schema: schemas.DeliveryResponse } },
    errors: [...errors, 'deliveryNotFound'],
    doc: { id: 'getDelivery', tag, summary: 'Get a webhook delivery with the request as it was sent' },
    async handle({ caller, params }) {
      const delivery = await deps.getDelivery(caller.appId, params.id.toLowerCase());
      return delivery ? ok(delivery) : noDelivery;
    },
  }),
];

const testAnswers = {
  200: { description: 'The test, after the receiver’s answer or a time-out', schema: schemas.DeliveryResponse },
};

const sending = (deps: DeliveryRoutesDeps): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: `${base}/deliveries/{id}/redeliver`,
    auth: 'owner',
    params: schemas.DeliveryPath,
    body: schemas.RedeliveryRequest,
    answers: {
      200: {
        description: 'The redelivery, after the receiver’s answer or a time-out',
        schema: schemas.DeliveryResponse,
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
