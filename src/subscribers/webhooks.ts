import type { SendWebhook } from '../../commands/sendWebhook.ts';
import type { Instant } from '../../domain/time.ts';
import { sentByItself } from '../../domain/webhook.ts';
import type { DueWebhook } from '../../queries/work.ts';
import type { Worker } from './worker.ts';

export interface WebhookWorkerDeps {
  readonly due: (max: number, now: Instant) => Promise<readonly DueWebhook[]>;
  readonly send: SendWebhook;
}

const concurrency = 128;
/** Deliveries to one app under way at a time: one whose receiver does not answer, for ten seconds each, leaves room for others. */
export const deliveriesPerAppMax = 16;

/** Tells apps of their payments. A payment's webhooks go out one after the other, those of different payments side by side. */
export const createWebhookWorker = ({ due, send }: WebhookWorkerDeps): Worker<DueWebhook> => ({
  name: 'webhooks',
  concurrency,
  due,
  keyOf: ({ paymentId }) => paymentId,
  share: { max: deliveriesPerAppMax, of: ({ appId }) => appId },

  // A stop of the process lets a claimed delivery finish.
  async act({ eventRevision, ...delivery }) {
    const news = { ...delivery, ...sentByItself, eventRevision: eventRevision.toString() };
    await send(news, { cause: 'worker:webhooks' });
  },
});
