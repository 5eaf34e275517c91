/**
 * One webhook delivery: at most one POST, ever. Stream `webhook-<deliveryId>`.
 *
 * The start is recorded before the POST, so a start without an outcome means that nobody knows whether the receiver got it:
 * it counts as exhausted and is never sent again.
 */
import Type, { type Static } from 'typebox';
import { assert, type Decider, type Decision } from './decider.ts';
import { closed, Id, nullable, oneOf, Time, Url } from './schema.ts';

export const webhookSchemaVersion = 1;

/** Due from the log's first event on. Nothing is ever added here: it would be sent for all of history. */
export const firstWebhookEventTypes = ['payment_payin_completed', 'payment_payout_completed'] as const;
/** A new type is added here: it is due from where the log says that it was introduced (webhookTypes.ts). */
export const laterWebhookEventTypes = [] as const;
export const webhookEventTypes = [...firstWebhookEventTypes, ...laterWebhookEventTypes] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];

/** Why there was no answer. An answer that is not 2xx has a status code and no error. */
export const webhookErrors = ['badUrl', 'blockedAddress', 'dns', 'connection', 'tls', 'protocol', 'timeout'] as const;
export type WebhookError = (typeof webhookErrors)[number];

/** Characters of the receiver's answer that are kept. */
export const previewCharacters = 200;

const Outcome = Type.Object(
  {
    statusCode: nullable(Type.Integer({ minimum: 0, maximum: 999 })),
    error: nullable(oneOf(webhookErrors)),
    /** U+0000 is kept out: Postgres text cannot hold it. */
    responsePreview: nullable(Type.String({ maxLength: 2 * previewCharacters, pattern: '^[^\\u0000]*$' })),
    duration_ms: Type.Integer({ minimum: 0 }),
    finishedAt: Time,
  },
  closed,
);

export const webhookEventSchemas = {
  WebhookSendStarted: Type.Object(
    {
      deliveryId: Id,
      paymentId: Id,
      appId: Id,
      eventType: oneOf(webhookEventTypes),
      url: Url,
      /** The payment event that it tells of. */
      eventId: Id,
      eventRevision: Type.String({ pattern: '^[0-9]{1,20}$' }),
      startedAt: Time,
    },
    closed,
  ),
  WebhookDelivered: Outcome,
  WebhookExhausted: Outcome,
} as const;

type Schemas = typeof webhookEventSchemas;
export type WebhookStoredType = keyof Schemas;
export type WebhookEvent = {
  [T in WebhookStoredType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[WebhookStoredType];
export type WebhookStart = Static<Schemas['WebhookSendStarted']>;
export type WebhookOutcome = Static<typeof Outcome>;

export type WebhookState =
  | { readonly stage: 'new' }
  | { readonly stage: 'started'; readonly start: WebhookStart }
  | { readonly stage: 'delivered' | 'exhausted'; readonly start: WebhookStart; readonly outcome: WebhookOutcome };

export const webhook: Decider<WebhookState, WebhookEvent> = {
  category: 'webhook',
  initial: { stage: 'new' },
  evolve(state, event) {
    if (event.type === 'WebhookSendStarted') return { stage: 'started', start: event.data };
    assert(state.stage !== 'new', `${event.type} on a delivery that was never started`);
    const stage = event.type === 'WebhookDelivered' ? 'delivered' : 'exhausted';
    return { stage, start: state.start, outcome: event.data };
  },
};

/**
 * The delivery that tells of a payment event, also the receiver's `event_id`: the event's random id marked as version 8,
 * so that one event has one delivery and the two ids are never confused.
 */
export const deliveryIdOf = (paymentEventId: string): string =>
  `${paymentEventId.slice(0, 14)}8${paymentEventId.slice(15)}`;

/** Claims the delivery: only who appends this may POST. `[]` when somebody has claimed it before. */
export const startSend = (state: WebhookState, start: WebhookStart): Decision<WebhookEvent> =>
  state.stage === 'new' ? [{ type: 'WebhookSendStarted', data: start }] : [];

export function recordOutcome(state: WebhookState, outcome: WebhookOutcome): Decision<WebhookEvent> {
  assert(state.stage !== 'new', 'an outcome needs a started delivery');
  if (state.stage !== 'started') return [];
  return [{ type: isSuccess(outcome.statusCode) ? 'WebhookDelivered' : 'WebhookExhausted', data: outcome }];
}

const isSuccess = (statusCode: number | null): boolean => statusCode !== null && statusCode >= 200 && statusCode < 300;
