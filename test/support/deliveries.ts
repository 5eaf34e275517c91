/** Webhook deliveries for specs: one that a payment's event led to, and outcomes. */
import { bodyDigest } from '../../commands/sendWebhook.ts';
import { type Instant, instant } from '../../domain/time.ts';
import { type SignedRequest, sentByItself, type WebhookOutcome, type WebhookStart } from '../../domain/webhook.ts';

export const deliveryStart = (more: Partial<WebhookStart> = {}): WebhookStart => ({
  deliveryId: '9b2f5c1e-8d39-8a53-8f1c-5e0f4f6b1d11',
  ...sentByItself,
  paymentId: '0d9c1c60-7a43-8a5e-9b57-1d1c9f7f2a10',
  appId: 'merchant_bakery',
  eventType: 'payment_payin_completed',
  url: 'https://bakery.example/hooks',
  eventId: '9b2f5c1e-8d39-4a53-8f1c-5e0f4f6b1d11',
  eventRevision: '4',
  startedAt: instant(1_000),
  ...more,
});

export const signedRequest = (body = '{}'): SignedRequest => ({
  timestamp_ms: 1_000,
  signature: `sha256=${'ab'.repeat(32)}`,
  standardSignature: `v1,${'A'.repeat(43)}=`,
  bodyDigest: bodyDigest(Buffer.from(body)),
});

/** @param statusCode null for an answer that was not in time */
export const deliveryOutcome = (statusCode: number | null, finishedAt: Instant = instant(1_012)): WebhookOutcome => ({
  statusCode,
  error: statusCode === null ? 'timeout' : null,
  responsePreview: statusCode === null ? null : 'ok',
  request: signedRequest(),
  duration_ms: 12,
  finishedAt,
});
