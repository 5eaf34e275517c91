import type { Codec } from '../../../commands/codec.ts';
import type { EventStore } from '../../../commands/ports.ts';
import type { SendWebhook } from '../../../commands/sendWebhook.ts';
import { assert, fold, type StoredEvent } from '../../../domain/decider.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { sampleWebhookData, viewOf, webhookData } from '../../../domain/payment/view.ts';
import type { Instant } from '../../../domain/time.ts';
import { sentByItself, type WebhookStart } from '../../../domain/webhook.ts';
import type { DueWebhook } from '../../../queries/work.ts';
import { boundedMap } from '../../lib/cache.ts';
import type { Worker } from '../engine.ts';

export interface WebhookWorkerDeps {
  readonly due: (max: number, now: Instant) => Promise<readonly DueWebhook[]>;
  readonly send: SendWebhook;
  /** Maximum concurrent deliveries to one app's webhook URL. */
  readonly perAppMax: number;
  /** Maximum concurrent deliveries to one further endpoint. */
  readonly perEndpointMax: number;
}

const concurrency = 128;
/** Maximum concurrent deliveries to one webhook URL: a receiver that does not answer, for ten seconds each, leaves room for others. */
export const deliveriesPerAppMax = 16;
/** Maximum concurrent deliveries to one further endpoint: the endpoints of an app together get no more than its webhook URL. */
export const deliveriesPerEndpointMax = 3;

/** Finished deliveries stay in the list until the read models have caught up. */
const rememberedMax = 10_000;

/** Notifies apps of their payments. A payment's webhooks to one receiver are sent one after the other, others concurrently. */
export function createWebhookWorker({ due, send, perAppMax, perEndpointMax }: WebhookWorkerDeps): Worker<DueWebhook> {
  const over = boundedMap<true>(rememberedMax);
  return {
    name: 'webhooks',
    concurrency,
    due: async (max, now) => (await due(max, now)).filter(({ deliveryId }) => !over.get(deliveryId)),
    // Like `dueWebhooks`. An endpoint waits neither for another one nor for the webhook URL.
    keyOf: ({ paymentId, endpointId }) => (endpointId === null ? paymentId : `${paymentId}:${endpointId}`),
    share: {
      max: ({ endpointId }) => (endpointId === null ? perAppMax : perEndpointMax),
      of: ({ appId, endpointId }) => (endpointId === null ? appId : `${appId} ${endpointId}`),
    },

    // A stop of the process lets a claimed delivery finish.
    async act({ eventRevision, endpointId, ...delivery }, signal) {
      const to = endpointId === null ? {} : { endpointId };
      const news = { ...delivery, ...to, ...sentByItself, eventRevision: eventRevision.toString() };
      await send(news, { cause: 'worker:webhooks' }, signal);
      // Claimed by any process: nobody sends it again.
      over.set(delivery.deliveryId, true);
    },
  };
}

// Body of a webhook: equal bytes from an equal start.

export interface WebhookBodyDeps {
  readonly store: Pick<EventStore, 'read'>;
  readonly codec: Pick<Codec, 'read'>;
}

export type WebhookBodyOf = (start: WebhookStart) => Promise<Uint8Array>;

/** More than a flood of payins can leave in a payment's stream. */
const eventsMax = 10_000;

/** The payment as of the webhook's event, never the current one, which may already have a payout. For a test, a sample payment. */
export function createWebhookBodies({ store, codec }: WebhookBodyDeps): WebhookBodyOf {
  return async (start) => {
    const { deliveryId, eventType, paymentId, eventId, eventRevision } = start;
    const write = (timestamp: string, data: object): Uint8Array =>
      Buffer.from(JSON.stringify({ event_id: deliveryId, type: eventType, timestamp, data }), 'utf8');
    if (paymentId === null || eventId === null || eventRevision === null) {
      return write(start.startedAt, sampleWebhookData(start.appId, start.startedAt));
    }
    const events = await paymentUpTo({ paymentId, eventId }, BigInt(eventRevision));
    const at = events.at(-1)?.metadata.at ?? start.startedAt;
    return write(at, webhookData(viewOf(folded(events), at)));
  };

  async function paymentUpTo({ paymentId, eventId }: { paymentId: string; eventId: string }, revision: bigint) {
    assert(revision < eventsMax, `payment ${paymentId}: event ${revision} is beyond the ${eventsMax} a webhook reads`);
    const events = await store.read(`payment-${paymentId}`, { from: 0n, max: Number(revision) + 1 });
    assert(events.at(-1)?.id === eventId, `payment ${paymentId} has no event ${eventId} at revision ${revision}`);
    return events;
  }

  function folded(events: readonly StoredEvent[]) {
    const known = events.map(codec.read).filter((event) => event !== undefined);
    const payment = fold(paymentDecider, known as readonly PaymentEvent[]);
    assert(payment !== null, 'a webhook tells of a payment that was created');
    return payment;
  }
}
