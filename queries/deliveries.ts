/** Webhook deliveries for their app's owner: the list, and one delivery with its request. */
import type { DomainEvent, Refusal, StoredEvent } from '../domain/decider.ts';
import { isRefusal } from '../domain/decider.ts';
import type { Instant } from '../domain/time.ts';
import {
  type DeliveryKind,
  isDeliveryId,
  mayRedeliver,
  redeliveriesMax,
  requestHeaders,
  type SentEventType,
  type WebhookError,
  type WebhookEvent,
  type WebhookStart,
  type WebhookState,
  webhook,
} from '../domain/webhook.ts';
import type { Sql } from '../projections/sql.ts';
import { build, newestFirst } from './sql.ts';

/** Fields of service reference 2.7, and additional ones. */
export interface Delivery {
  readonly deliveryId: string;
  /** Null for a test. */
  readonly paymentId: string | null;
  readonly eventType: SentEventType;
  readonly statusCode: number | null;
  readonly responsePreview: string | null;
  /** Time of the answer or timeout; null while no outcome is recorded. */
  readonly deliveredAt: string | null;
  readonly status: 'delivered' | 'exhausted';
  readonly attemptNumber: number;
  readonly kind: DeliveryKind;
  /** For a redelivery: the automatic delivery. */
  readonly firstDeliveryId: string | null;
  readonly url: string;
  /** Further endpoint of the app; null for its webhook URL. */
  readonly endpointId: string | null;
  /** Reason of a missing answer. unknown: it was claimed, and no outcome is recorded (yet). */
  readonly error: WebhookError | 'unknown' | null;
  readonly startedAt: Instant;
  readonly durationMs: number | null;
}

export interface DeliveryFilter {
  /** Rows of a page, from 1 on. */
  readonly limit: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string;
  readonly paymentId?: string;
  readonly status?: Delivery['status'];
  /** True excludes deliveries that found their endpoint removed: no receiver refused them. */
  readonly withoutRemoved?: boolean;
}

export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** A request as it was sent. */
export interface SentRequest {
  readonly url: string;
  /** By name, in the order sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** Computed again from the payment's events: it is not stored. */
  readonly body: string;
  /** False if the body differs from the sent one, which another version of the service made. */
  readonly isBodyAsSent: boolean;
}

export interface DeliveryRecord extends Delivery {
  /** Null if nothing was sent, or if that is unknown. */
  readonly request: SentRequest | null;
  /** Later redeliveries, oldest first. Each is the redelivery of the previous one. */
  readonly redeliveries: readonly Delivery[];
  /** True if it may be redelivered now. After a redelivery, only the last one may be; a removed endpoint gets none. */
  readonly redeliverable: boolean;
}

interface Row extends Omit<Delivery, 'deliveryId' | 'startedAt'> {
  readonly delivery_id: string;
  readonly started_at: Instant;
}

const columns =
  build.raw(`delivery_id, payment_id AS "paymentId", event_type AS "eventType", status_code AS "statusCode",
  response_preview AS "responsePreview", delivered_at AS "deliveredAt", status, attempt_number AS "attemptNumber", kind,
  first_delivery_id AS "firstDeliveryId", url, endpoint_id AS "endpointId", CASE WHEN delivered_at IS NULL THEN 'unknown' ELSE error END AS error,
  started_at, duration_ms AS "durationMs"`);

/** An app's deliveries, newest first. Refuses an invalid cursor. @throws Unavailable */
export async function listDeliveries(
  sql: Sql,
  appId: string,
  { limit, cursor, paymentId, status, withoutRemoved }: DeliveryFilter,
): Promise<DeliveryPage | Refusal> {
  const query = build('deliveries').select(columns).where('app_id', appId);
  if (paymentId !== undefined) query.where('payment_id', paymentId);
  if (status !== undefined) query.where('status', status);
  if (withoutRemoved) query.whereRaw(`error IS DISTINCT FROM 'endpointRemoved'`);
  const page = await newestFirst<Row>(sql, query, { at: 'started_at', id: 'delivery_id' }, { limit, cursor });
  if (isRefusal(page)) return page;
  const deliveries = page.rows.map(({ delivery_id, started_at, ...row }) => ({
    ...row,
    deliveryId: delivery_id,
    startedAt: started_at,
  }));
  return { deliveries, nextCursor: page.nextCursor };
}

export interface GetDeliveryDeps {
  /** All events of a stream. */
  readonly history: (stream: string) => Promise<readonly StoredEvent[]>;
  /** The event in the current schema version; undefined for a type that this version does not know. */
  readonly read: (stored: StoredEvent) => DomainEvent | undefined;
  readonly redeliveryIdOf: (firstDeliveryId: string, ordinal: number) => string;
  /** Body of a delivery's start, and the SHA-256 of a body as hex. */
  readonly bodyOf: (start: WebhookStart) => Promise<Uint8Array>;
  readonly digestOf: (body: Uint8Array) => string;
  /** False for a removed endpoint. */
  readonly hasEndpoint: (appId: string, endpointId: string) => Promise<boolean>;
}

type Begun = Exclude<WebhookState, { readonly stage: 'new' }>;

/** One delivery, read from the log, so it exists as soon as it was claimed. Null for another app's. @throws Unavailable */
export async function getDelivery(
  deps: GetDeliveryDeps,
  appId: string,
  deliveryId: string,
  now: Instant,
): Promise<DeliveryRecord | null> {
  const state = isDeliveryId(deliveryId) ? await load(deps, deliveryId) : webhook.initial;
  if (state.stage === 'new' || state.start.appId !== appId) return null;
  const redeliveries = await following(deps, state.start);
  const { endpointId } = state.start;
  const redeliverable =
    redeliveries.length === 0 &&
    !isRefusal(mayRedeliver(state, now)) &&
    (endpointId === undefined || (await deps.hasEndpoint(appId, endpointId)));
  return {
    ...shown(state),
    request: await requestOf(deps, state),
    redeliveries: redeliveries.map(shown),
    redeliverable,
  };
}

async function load({ history, read }: GetDeliveryDeps, deliveryId: string): Promise<WebhookState> {
  const events = await history(`webhook-${deliveryId}`);
  return events.reduce<WebhookState>((state, stored) => {
    const event = read(stored);
    return event ? webhook.evolve(state, event as WebhookEvent) : state;
  }, webhook.initial);
}

async function following(deps: GetDeliveryDeps, start: WebhookStart): Promise<readonly Begun[]> {
  const found: Begun[] = [];
  if (start.kind === 'test') return found;
  for (let ordinal = start.ordinal + 1; ordinal <= redeliveriesMax; ordinal += 1) {
    const next = await load(deps, deps.redeliveryIdOf(start.firstDeliveryId ?? start.deliveryId, ordinal));
    if (next.stage === 'new') break;
    found.push(next);
  }
  return found;
}

function shown(state: Begun): Delivery {
  const { deliveryId, paymentId, eventType, kind, firstDeliveryId, url, startedAt, endpointId = null } = state.start;
  const outcome = state.stage === 'started' ? null : state.outcome;
  return {
    deliveryId,
    paymentId,
    eventType,
    statusCode: outcome?.statusCode ?? null,
    responsePreview: outcome?.responsePreview ?? null,
    deliveredAt: outcome?.finishedAt ?? null,
    status: state.stage === 'delivered' ? 'delivered' : 'exhausted',
    attemptNumber: 1,
    kind,
    firstDeliveryId,
    url,
    endpointId,
    error: outcome ? outcome.error : 'unknown',
    startedAt,
    durationMs: outcome?.duration_ms ?? null,
  };
}

async function requestOf({ bodyOf, digestOf }: GetDeliveryDeps, state: Begun): Promise<SentRequest | null> {
  const signed = state.stage === 'started' ? null : state.outcome.request;
  if (signed === null) return null;
  const body = await bodyOf(state.start);
  return {
    url: state.start.url,
    headers: requestHeaders(state.start, signed),
    body: Buffer.from(body).toString('utf8'),
    isBodyAsSent: digestOf(body) === signed.bodyDigest,
  };
}
