/** What happened to a payment, told to its owner: each of its events and each webhook about it, in order, as typed facts. */
import { isRefusal, type StoredEvent } from '../domain/decider.ts';
import type { PaymentEvent } from '../domain/payment/events.ts';
import { type Payment, type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import { type PaymentStatus, type PaymentView, statusOf, viewOf } from '../domain/payment/view.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';
import { headsOf } from './chainHeads.ts';
import { type Delivery, listDeliveries } from './deliveries.ts';
import type { GetPaymentDeps } from './getPayment.ts';
import type { PaymentFact } from './paymentFact.ts';
import { factOf } from './paymentFacts.ts';
import { paymentIdIn } from './paymentId.ts';

export interface PaymentStory {
  readonly payment: PaymentView;
  /** Oldest first. */
  readonly entries: readonly StoryEntry[];
}

export type StoryEntry = {
  readonly at: Instant;
  /** Of the payment after this; null for what happens beside it, a webhook. */
  readonly status: PaymentStatus | null;
} & (PaymentFact | WebhookFact);

export interface WebhookFact {
  readonly type: 'webhook';
  readonly deliveryId: string;
  readonly eventType: Delivery['eventType'];
  /** Sent by itself, by hand, or as a test. */
  readonly kind: Delivery['kind'];
  readonly delivery: Delivery['status'];
  readonly statusCode: number | null;
  readonly error: Delivery['error'];
  /** Null while no outcome is recorded. */
  readonly duration_ms: number | null;
}

/**
 * From the log, so that it is whole while read models stand still; webhooks from their reports. Null when the app has no such payment.
 * @throws Unavailable
 */
export async function paymentStory(
  deps: GetPaymentDeps,
  appId: string,
  paymentId: string,
): Promise<PaymentStory | null> {
  const id = paymentIdIn(paymentId);
  const events = id === undefined ? [] : await deps.history(`payment-${id}`);
  const lived = live(events, deps.read);
  const { now } = lived;
  const last = events.at(-1);
  if (!last || now?.terms.appId !== appId) return null;
  const [webhooks, heads] = await Promise.all([webhooksOf(deps.sql, appId, now.terms.paymentId), headsOf(deps.sql)]);
  const entries = lived.moments.map((moment) => withConfirmations(entryOf(moment, now), now, heads));
  return {
    payment: viewOf(now, last.metadata.at),
    entries: merged(entries, webhooks),
  };
}

/** Events stay in the order of their stream, whatever the clocks said. A webhook stands behind the events up to its time. */
function merged(events: readonly StoryEntry[], webhooks: readonly StoryEntry[]): readonly StoryEntry[] {
  const story: StoryEntry[] = [];
  let told = 0;
  for (const webhook of webhooks) {
    const before = events.findIndex((event, index) => index >= told && event.at > webhook.at);
    const until = before < 0 ? events.length : before;
    story.push(...events.slice(told, until), webhook);
    told = until;
  }
  return [...story, ...events.slice(told)];
}

/** An event, and the payment right after it. */
interface Moment {
  readonly stored: StoredEvent;
  /** Undefined for a type that this version does not know. */
  readonly event: PaymentEvent | undefined;
  readonly after: Payment;
}

function live(events: readonly StoredEvent[], read: GetPaymentDeps['read']) {
  let now: PaymentState = paymentDecider.initial;
  const moments: Moment[] = [];
  for (const stored of events) {
    const event = read(stored) as PaymentEvent | undefined;
    if (event) now = paymentDecider.evolve(now, event);
    if (now) moments.push({ stored, event, after: now });
  }
  return { now, moments };
}

function entryOf({ stored, event, after }: Moment, now: Payment): StoryEntry {
  const fact: PaymentFact = event ? factOf(event, after, now) : { type: 'other', name: stored.type };
  return { at: stored.metadata.at, status: statusOf(after), ...fact };
}

/** Of the transfers that are not final yet. */
function withConfirmations(entry: StoryEntry, { payins }: Payment, heads: ReadonlyMap<number, bigint>): StoryEntry {
  if (entry.type !== 'payinDetected') return entry;
  const { chainId, txHash, blockNumber } = entry;
  const head = heads.get(chainId);
  const waits = payins.some(
    ({ phase, transfer }) => phase === 'detected' && transfer.txHash === txHash && transfer.blockNumber === blockNumber,
  );
  const depth = head === undefined ? -1n : head - BigInt(blockNumber) + 1n;
  return waits && depth > 0n ? { ...entry, confirmations: Number(depth) } : entry;
}

/** More of one payment are not told of; the list of deliveries has them. */
const webhooksMax = 100;

async function webhooksOf(sql: Sql, appId: string, paymentId: string): Promise<readonly StoryEntry[]> {
  const page = await listDeliveries(sql, appId, { limit: webhooksMax, paymentId });
  if (isRefusal(page)) return [];
  return page.deliveries.toReversed().map((delivery) => ({
    type: 'webhook',
    at: delivery.startedAt,
    status: null,
    deliveryId: delivery.deliveryId,
    eventType: delivery.eventType,
    kind: delivery.kind,
    delivery: delivery.status,
    statusCode: delivery.statusCode,
    error: delivery.error,
    duration_ms: delivery.durationMs,
  }));
}
