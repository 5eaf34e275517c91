/** What the service sends, under a tag of its own: beside the API's operations some generators take it for one of them. */
import type { WebhookEventType } from '../../../domain/webhook.ts';
import { WebhookEvent } from '../schemas/responses.ts';
import type { Components, Json } from './components.ts';

const summaries: Readonly<Record<WebhookEventType, string>> = {
  payment_payin_completed: 'The payin is confirmed',
  payment_payout_completed: 'The payout is confirmed: fulfil the order',
};

const description =
  'Sent once, never again. X-Service-Signature is sha256= and the hex HMAC-SHA256 of X-Service-Timestamp, a dot, and the raw body, keyed with the 64 digits of the webhook secret as text. Refuse timestamps more than five minutes away, compare in constant time, answer 2xx within ten seconds.';

const parameters = [
  {
    name: 'X-Service-Timestamp',
    description: 'Unix milliseconds at signing',
    schema: { type: 'string', pattern: '^[0-9]{13}$' },
  },
  { name: 'X-Service-Signature', schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' } },
].map((parameter) => ({ ...parameter, in: 'header', required: true }));

export const webhook = (type: WebhookEventType, { refer }: Components): Json => ({
  post: {
    operationId: type,
    tags: ['Webhooks'],
    summary: summaries[type],
    description,
    security: [],
    parameters,
    requestBody: { required: true, content: { 'application/json': { schema: refer(WebhookEvent) } } },
    responses: { '2XX': { description: 'Received' }, '4XX': { description: 'Not accepted; it is not sent again' } },
  },
});
