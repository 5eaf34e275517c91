import { createHash, createHmac } from 'node:crypto';
import type { SignedRequest } from '../domain/webhook.ts';

export interface Signing {
  readonly deliveryId: string;
  readonly body: Uint8Array;
  /** The app's webhook secret: 64 hex characters. */
  readonly secret: string;
}

/**
 * Signs a webhook in both schemes. The HMAC key of both are the secret's 64 characters, not the bytes that they spell.
 * Ours (service reference 5.2) covers milliseconds, a dot and the body. That of Standard Webhooks 1.0 covers the id, a dot, seconds,
 * a dot and the body.
 *
 * @param signedAt_ms milliseconds since 1970-01-01 UTC
 */
export function signWebhook({ deliveryId, body, secret }: Signing, signedAt_ms: number): SignedRequest {
  const mac = (head: string) => createHmac('sha256', Buffer.from(secret, 'utf8')).update(head).update(body);
  return {
    timestamp_ms: signedAt_ms,
    signature: `sha256=${mac(`${signedAt_ms}.`).digest('hex')}`,
    standardSignature: `v1,${mac(`${deliveryId}.${Math.floor(signedAt_ms / 1_000)}.`).digest('base64')}`,
    bodyDigest: bodyDigest(body),
  };
}

/** SHA-256 as hex: what a delivery keeps of the body that it was sent with. */
export const bodyDigest = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');
