import type { Codec } from '../../commands/codec.ts';
import type { EventStore } from '../../commands/ports.ts';
import type { SendWebhook } from '../../commands/sendWebhook.ts';
import { assert, fold, type StoredEvent } from '../../domain/decider.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { viewOf } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { DueWebhook } from '../../queries/work.ts';
import { webhookData } from '../http/resource.ts';
import type { Worker } from './worker.ts';

export interface WebhookWorkerDeps {
  readonly due: (max: number, now: Instant) => Promise<readonly DueWebhook[]>;
  readonly store: Pick<EventStore, 'read'>;
  /** The payment, with every field of the webhook schema, as these events leave it. */
  readonly dataOf: (events: readonly StoredEvent[]) => object;
  /** The app's secret in force now, 64 hex characters. @throws when it has none or it cannot be opened */
  readonly secretOf: (appId: string) => Promise<string>;
  readonly send: SendWebhook;
}

const concurrency = 128;
/** Deliveries to one app under way at a time: one whose receiver does not answer, for ten seconds each, leaves room for others. */
export const deliveriesPerAppMax = 16;
/** More than a flood of payins can leave in a payment's stream. */
const eventsMax = 10_000;

/** Tells apps of their payments. A payment's webhooks go out one after the other, those of different payments side by side. */
export function createWebhookWorker({ due, store, dataOf, secretOf, send }: WebhookWorkerDeps): Worker<DueWebhook> {
  return {
    name: 'webhooks',
    concurrency,
    due,
    keyOf: ({ paymentId }) => paymentId,
    share: { max: deliveriesPerAppMax, of: ({ appId }) => appId },

    // Everything that can fail comes before the claim. A stop of the process lets a claimed delivery finish.
    async act({ eventRevision, ...delivery }) {
      const events = await paymentUpTo(delivery, eventRevision);
      const [secret, body] = [await secretOf(delivery.appId), bodyOf(delivery, events)];
      await send({ ...delivery, eventRevision: eventRevision.toString() }, { secret, body });
    },
  };

  /** The payment as it was at the event told of: never today's, which may already show a payout. */
  async function paymentUpTo({ paymentId, eventId }: Pick<DueWebhook, 'paymentId' | 'eventId'>, revision: bigint) {
    assert(revision < eventsMax, `payment ${paymentId}: event ${revision} is beyond the ${eventsMax} a webhook reads`);
    const events = await store.read(`payment-${paymentId}`, { from: 0n, max: Number(revision) + 1 });
    assert(events.at(-1)?.id === eventId, `payment ${paymentId} has no event ${eventId} at revision ${revision}`);
    return events;
  }

  function bodyOf(delivery: Omit<DueWebhook, 'eventRevision'>, events: readonly StoredEvent[]): Uint8Array {
    const envelope = {
      event_id: delivery.deliveryId,
      type: delivery.eventType,
      timestamp: events.at(-1)?.metadata.at,
      data: dataOf(events),
    };
    return Buffer.from(JSON.stringify(envelope), 'utf8');
  }
}

/** `data` of a webhook: the payment as these events leave it, the same resource that GET answers less what is internal. */
export const webhookDataOf =
  (codec: Pick<Codec, 'read'>) =>
  (events: readonly StoredEvent[]): object => {
    const known = events.map(codec.read).filter((event) => event !== undefined);
    const payment = fold(paymentDecider, known as readonly PaymentEvent[]);
    assert(payment !== null, 'a webhook tells of a payment that was created');
    return webhookData(viewOf(payment, events.at(-1)?.metadata.at ?? payment.terms.createdAt));
  };
