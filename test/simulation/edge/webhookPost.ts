/** Replaces src/workers/webhooks/webhookPost.ts: merchants' receivers, which answer, refuse, hang, or are missing. */
import type { WebhookAnswer } from '../../../commands/sendWebhook.ts';
import type { createWebhookPost as real } from '../../../src/workers/webhooks/webhookPost.ts';
import { call, theRun } from '../kernel/run.ts';

const nothing = { statusCode: null, responsePreview: null } as const;

export const createWebhookPost: typeof real = () => async (message) => {
  const { faults, weather, stores } = theRun();
  if (faults.fails('webhook.unreachable', weather.loss)) return { ...nothing, error: 'connection', sent: false };
  const serve = (): WebhookAnswer => {
    stores.receiver.received(message);
    const statusCode = faults.fails('webhook.refused', weather.loss) ? 500 : 200;
    return { statusCode, error: null, responsePreview: '', sent: true };
  };
  return await call({ port: 'webhook.post', serve, lost: () => new Error('no answer') }).catch(() => ({
    ...nothing,
    error: 'timeout' as const,
    sent: true,
  }));
};
