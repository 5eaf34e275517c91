/**
 * One webhook delivery: at most one POST, ever. Stream `webhook-<deliveryId>`.
 *
 * The start is recorded before the POST. A start without an outcome means that nobody knows whether the receiver got it: it counts as
 * exhausted and is never sent again. The app's owner may have it redelivered, which is a separate delivery.
 */
import Type, { type Static } from 'typebox';
import { assert, type Decider, type Decision, type Refusal, refuse } from './decider.ts';
import { closed, Digest, Id, nullable, oneOf, Time, type Upcasters, Url } from './schema.ts';
import { epochMs, type Instant } from './time.ts';

/**
 * 2: the start has the reason of the delivery, the outcome has the sent request. 3: a delivery may go to a further endpoint, and may find it
 * removed.
 */
export const webhookSchemaVersion = 3;

/** Types that are due from the log's first event on. Never add one here: it would be sent for the whole history. */
export const firstWebhookEventTypes = ['payment_payin_completed', 'payment_payout_completed'] as const;
/**
 * Add a new type here. It is sent to apps that chose it, for payments created since then, and is due from the position
 * where the log introduced it.
 */
export const laterWebhookEventTypes = [
  'payment_held',
  'payment_bounced',
  'payment_expired',
  'payment_refunded',
] as const;
export const webhookEventTypes = [...firstWebhookEventTypes, ...laterWebhookEventTypes] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];
/** Name of a later type in the log, which can name types that a later or an earlier version knows. */
export const LaterWebhookType = Type.String({ pattern: '^[a-z][a-z_]{0,63}$' });
/** Name of a type in the terms of an endpoint, which chooses among all types. */
export const EndpointWebhookType = LaterWebhookType;
/** Maximum endpoints of an app besides its webhook URL. */
export const webhookEndpointsMax = 5;
/** Maximum of later types that an app can choose. */
export const laterWebhookTypesMax = 20;

/** Whether every app gets the type without choosing it. */
export const isFirstType = (type: string): boolean => firstWebhookEventTypes.some((first) => first === type);
/** Sent when an owner requests it; no payment causes it. */
export const testEventType = 'webhook_test';
export const sentEventTypes = [...webhookEventTypes, testEventType] as const;
export type SentEventType = (typeof sentEventTypes)[number];

/** automatic: caused by a payment's event. test, manual: the app's owner requested a test, or a redelivery. */
export const deliveryKinds = ['automatic', 'test', 'manual'] as const;
export type DeliveryKind = (typeof deliveryKinds)[number];
/** Maximum redeliveries after one delivery. */
export const redeliveriesMax = 20;

/** Reason of a missing answer. An answer other than 2xx has a status code and no error. */
export const webhookErrors = [
  'badUrl',
  'blockedAddress',
  'dns',
  'connection',
  'tls',
  'protocol',
  'timeout',
  'endpointRemoved',
] as const;
export type WebhookError = (typeof webhookErrors)[number];

/** Stored characters of the receiver's answer. */
export const previewCharacters = 200;

/** Facts by which the receiver can identify the request; none is secret. */
const SignedRequest = Type.Object(
  {
    timestamp_ms: Type.Integer({ minimum: 0 }),
    /** The value of X-Service-Signature. */
    signature: Type.String({ pattern: '^sha256=[0-9a-f]{64}$' }),
    /** The value of webhook-signature. */
    standardSignature: Type.String({ pattern: '^v1,[0-9A-Za-z+/]{43}=$' }),
    /** SHA-256 of the body's bytes. */
    bodyDigest: Digest,
  },
  closed,
);

const Outcome = Type.Object(
  {
    statusCode: nullable(Type.Integer({ minimum: 0, maximum: 999 })),
    error: nullable(oneOf(webhookErrors)),
    /** Excludes U+0000, which Postgres text cannot hold. */
    responsePreview: nullable(Type.String({ maxLength: 2 * previewCharacters, pattern: '^[^\\u0000]*$' })),
    /** Null if nothing was sent; older outcomes omit it. */
    request: nullable(SignedRequest),
    duration_ms: Type.Integer({ minimum: 0 }),
    finishedAt: Time,
  },
  closed,
);

export const webhookEventSchemas = {
  WebhookSendStarted: Type.Object(
    {
      deliveryId: Id,
      kind: oneOf(deliveryKinds),
      /** For a redelivery: the automatic delivery. */
      firstDeliveryId: nullable(Id),
      /** For a redelivery: its sequence number after the first delivery, which is 0. */
      ordinal: Type.Integer({ minimum: 0, maximum: redeliveriesMax }),
      /** Null for a test. */
      paymentId: nullable(Id),
      appId: Id,
      eventType: oneOf(sentEventTypes),
      url: Url,
      /** Further endpoint of the app; missing for the app's webhook URL. */
      endpointId: Type.Optional(Id),
      /** Payment event of the webhook; null for a test. */
      eventId: nullable(Id),
      eventRevision: nullable(Type.String({ pattern: '^[0-9]{1,20}$' })),
      startedAt: Time,
    },
    closed,
  ),
  WebhookDelivered: Outcome,
  WebhookExhausted: Outcome,
} as const;

const beforeRequests = (outcome: object): object => ({ ...outcome, request: null });
export const webhookUpcasters: Upcasters = {
  'WebhookSendStarted@1': (start) => ({ ...start, kind: 'automatic', firstDeliveryId: null, ordinal: 0 }),
  'WebhookDelivered@1': beforeRequests,
  'WebhookExhausted@1': beforeRequests,
};

type Schemas = typeof webhookEventSchemas;
export type WebhookStoredType = keyof Schemas;
export type WebhookEvent = {
  [T in WebhookStoredType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[WebhookStoredType];
export type WebhookStart = Static<Schemas['WebhookSendStarted']>;
export type WebhookOutcome = Static<typeof Outcome>;
export type SignedRequest = Static<typeof SignedRequest>;

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
 * Id of a payment event's delivery, and the receiver's `event_id`: the event's random id marked as version 8, so one event has one delivery
 * and the two ids always differ.
 */
export const deliveryIdOf = (paymentEventId: string): string =>
  `${paymentEventId.slice(0, 14)}8${paymentEventId.slice(15)}`;

/**
 * Id of a payment event's delivery to a further endpoint: both random ids combined bit by bit, marked as version 8. So each event has one
 * delivery per endpoint, and a rebuild computes the same ids.
 */
export function endpointDeliveryIdOf(paymentEventId: string, endpointId: string): string {
  const digits = [...paymentEventId].map((digit, at) =>
    digit === '-' ? '-' : (Number.parseInt(digit, 16) ^ Number.parseInt(endpointId.charAt(at), 16)).toString(16),
  );
  digits[14] = '8';
  digits[19] = ((Number.parseInt(digits[19] ?? '0', 16) & 3) | 8).toString(16);
  return digits.join('');
}

/** True if a text can be a delivery's id; any other text names no stream. */
export const isDeliveryId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/** Claims the delivery: only the process that appends this may POST. Returns `[]` if it was claimed before. */
export const startSend = (state: WebhookState, start: WebhookStart): Decision<WebhookEvent> =>
  state.stage === 'new' ? [{ type: 'WebhookSendStarted', data: start }] : [];

/** Start fields of a webhook that a payment's event caused. */
export const sentByItself = { kind: 'automatic', firstDeliveryId: null, ordinal: 0 } as const;

export function recordOutcome(state: WebhookState, outcome: WebhookOutcome): Decision<WebhookEvent> {
  assert(state.stage !== 'new', 'an outcome needs a started delivery');
  if (state.stage !== 'started') return [];
  return [{ type: isSuccess(outcome.statusCode) ? 'WebhookDelivered' : 'WebhookExhausted', data: outcome }];
}

/** Headers of a webhook's request, besides those of every HTTP request (service reference 5.2, Standard Webhooks 1.0). */
export function requestHeaders(
  { deliveryId, firstDeliveryId }: Pick<WebhookStart, 'deliveryId' | 'firstDeliveryId'>,
  { timestamp_ms, signature, standardSignature }: Omit<SignedRequest, 'bodyDigest'>,
): Readonly<Record<string, string>> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'PaymentIntents-Webhook/1',
    'X-Service-Timestamp': String(timestamp_ms),
    'X-Service-Signature': signature,
    ...(firstDeliveryId !== null && { 'X-Service-First-Delivery': firstDeliveryId }),
    'webhook-id': deliveryId,
    'webhook-timestamp': String(Math.floor(timestamp_ms / 1_000)),
    'webhook-signature': standardSignature,
  };
}

const isSuccess = (statusCode: number | null): boolean => statusCode !== null && statusCode >= 200 && statusCode < 300;

// Beginning of each webhook type that was added after the first release. Stream `webhookTypes-introduced`: one event
// per type, whose log position is the beginning. No app is notified of earlier events, however often read models are
// rebuilt.

export const webhookTypesSchemaVersion = 1;
/** There is one such stream. */
export const webhookTypesInstance = 'introduced';

export const webhookTypesEventSchemas = {
  WebhookTypeIntroduced: Type.Object({ eventType: LaterWebhookType }, closed),
} as const;

export interface WebhookTypesEvent {
  readonly type: 'WebhookTypeIntroduced';
  readonly data: Static<(typeof webhookTypesEventSchemas)['WebhookTypeIntroduced']>;
}

export const webhookTypes: Decider<readonly string[], WebhookTypesEvent> = {
  category: 'webhookTypes',
  initial: [],
  evolve: (introduced, { data }) => [...introduced, data.eventType],
};

/** A type is introduced once: reinstalling a version does not move its beginning. */
export const introduceTypes = (introduced: readonly string[], types: readonly string[]): readonly WebhookTypesEvent[] =>
  types
    .filter((eventType) => !introduced.includes(eventType))
    .map((eventType) => ({ type: 'WebhookTypeIntroduced', data: { eventType } }));

// Redeliveries requested by an app's owner. Each delivery is redelivered at most once, so a double click sends once;
// the next redelivery follows the last one.

/** Upper bound for one POST, including the attempts to record its outcome. */
export const underWay_ms = 60_000;

/** True while a process may still be sending it. Afterwards its outcome stays unknown for ever. */
export const maySend = (state: WebhookState, now: Instant): boolean =>
  state.stage === 'started' && epochMs(now) - epochMs(state.start.startedAt) < underWay_ms;

/** Returns the start of a delivery that may be redelivered: it is exhausted, or its outcome stays unknown. */
export function mayRedeliver(state: WebhookState, now: Instant): WebhookStart | Refusal {
  const refused = (why: string) => refuse('deliveryNotRedeliverable', why);
  if (state.stage === 'new') return refuse('deliveryNotFound', 'no delivery has this id: list the deliveries');
  if (state.stage === 'delivered') return refused('the receiver accepted this delivery: there is nothing to redeliver');
  if (maySend(state, now)) return refused('the delivery is under way: look at it again in a minute');
  if (state.stage === 'exhausted' && state.outcome.error === 'endpointRemoved')
    return refused('its webhook endpoint was removed');
  if (state.start.kind === 'test') return refused('a test is not redelivered: send another one');
  if (state.start.ordinal < redeliveriesMax) return state.start;
  return refused(`it was redelivered ${redeliveriesMax} times, which is the most: read the payment instead`);
}

/** Redelivery: the same event to the same URL. @param deliveryId of the redelivery */
export const redeliveryOf = (former: WebhookStart, deliveryId: string): Omit<WebhookStart, 'startedAt'> => {
  const { startedAt: _, ...same } = former;
  return {
    ...same,
    deliveryId,
    kind: 'manual',
    firstDeliveryId: former.firstDeliveryId ?? former.deliveryId,
    ordinal: former.ordinal + 1,
  };
};
