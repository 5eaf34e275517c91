/** What the service sends, under a tag of its own: beside the API's operations some generators take it for one of them. */
import type { SentEventType } from '../../../domain/webhook.ts';
import { WebhookEvent } from '../schemas/deliveries.ts';
import type { Components, Json } from './components.ts';

const summaries: Readonly<Record<SentEventType, string>> = {
  payment_payin_completed: 'The payin is confirmed',
  payment_payout_completed: 'The payout is confirmed: fulfil the order',
  webhook_test: 'A test that the app’s owner asked for: its payment is made up',
};

const description =
  'Sent once, never again by itself. X-Service-Signature is sha256= and the hex HMAC-SHA256 of X-Service-Timestamp, a dot, and the raw body, keyed with the 64 digits of the webhook secret as text. Refuse timestamps more than five minutes away, compare in constant time, answer 2xx within ten seconds.';

const parameters = [
  {
    name: 'X-Service-Timestamp',
    description: 'Unix milliseconds at signing',
    schema: { type: 'string', pattern: '^[0-9]{13}$' },
  },
  { name: 'X-Service-Signature', schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' } },
  {
    name: 'X-Service-First-Delivery',
    required: false,
    description: 'Only of a redelivery: the event_id under which the same news was sent before',
    schema: { type: 'string', format: 'uuid' },
  },
  { name: 'webhook-id', description: 'Standard Webhooks: the event_id', schema: { type: 'string', format: 'uuid' } },
  {
    name: 'webhook-timestamp',
    description: 'Standard Webhooks: Unix seconds at signing',
    schema: { type: 'string', pattern: '^[0-9]{10}$' },
  },
  {
    name: 'webhook-signature',
    description: 'Standard Webhooks: v1 and the base64 of the HMAC-SHA256 of id, timestamp and body, each after a dot',
    schema: { type: 'string', pattern: '^v1,[0-9A-Za-z+/]{43}=$' },
  },
].map((parameter) => ({ required: true, ...parameter, in: 'header' }));

export const webhook = (type: SentEventType, { refer }: Components): Json => ({
  post: {
    operationId: type,
    tags: ['Webhooks'],
    summary: summaries[type],
    description,
    security: [],
    parameters,
    requestBody: { required: true, content: { 'application/json': { schema: refer(WebhookEvent) } } },
    responses: {
      200: { description: 'Received. Any 2xx status says so.' },
      default: { description: 'Not accepted. The service does not send it again.' },
    },
  },
});
