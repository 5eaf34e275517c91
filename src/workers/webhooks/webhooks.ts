import type { SendWebhook } from '../../../commands/sendWebhook.ts';
import type { Instant } from '../../../domain/time.ts';
import { sentByItself } from '../../../domain/webhook.ts';
import type { DueWebhook } from '../../../queries/work.ts';
import { boundedMap } from '../../lib/boundedMap.ts';
import type { Worker } from '../engine.ts';

export interface WebhookWorkerDeps {
  readonly due: (max: number, now: Instant) => Promise<readonly DueWebhook[]>;
  readonly send: SendWebhook;
  /** Deliveries to one app under way at a time. */
  readonly perAppMax: number;
}

const concurrency = 128;
/** Deliveries to one app under way at a time: one whose receiver does not answer, for ten seconds each, leaves room for others. */
export const deliveriesPerAppMax = 16;

/** Deliveries that are over stay in the list until the read models know of it. */
const rememberedMax = 10_000;

/** Tells apps of their payments. A payment's webhooks go out one after the other, those of different payments side by side. */
export function createWebhookWorker({ due, send, perAppMax }: WebhookWorkerDeps): Worker<DueWebhook> {
  const over = boundedMap<true>(rememberedMax);
  return {
    name: 'webhooks',
    concurrency,
    due: async (max, now) => (await due(max, now)).filter(({ deliveryId }) => !over.get(deliveryId)),
    keyOf: ({ paymentId }) => paymentId,
    share: { max: perAppMax, of: ({ appId }) => appId },

    // A stop of the process lets a claimed delivery finish.
    async act({ eventRevision, ...delivery }) {
      const news = { ...delivery, ...sentByItself, eventRevision: eventRevision.toString() };
      await send(news, { cause: 'worker:webhooks' });
      // Whoever claimed it: nobody sends it again.
      over.set(delivery.deliveryId, true);
    },
  };
}
