/** Verifies that a webhook is the service's own, by either of its two signatures. Uses only Web Crypto. */
import type { WebhookEvent } from './types.ts';

export interface ReceivedWebhook {
  /** In the platform's form: `request.headers` of fetch, or of Node. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw bytes; JSON that was parsed and formatted again differs. */
  readonly body: Uint8Array | ArrayBuffer | string;
  /** The secret as text, or several while it is being rotated. */
  readonly secrets: readonly string[];
  /** Unix milliseconds; of the clock unless given. */
  readonly now_ms?: number;
}

export type WebhookRefusal = 'missing_header' | 'timestamp_expired' | 'invalid_signature' | 'invalid_body';

/** A refusal is answered with 401 and its reason. */
export type WebhookVerdict =
  | { readonly ok: true; readonly event: WebhookEvent }
  | { readonly ok: false; readonly reason: WebhookRefusal };

const tolerance_ms = 5 * 60_000;
const utf8 = new TextEncoder();
const refuse = (reason: WebhookRefusal): WebhookVerdict => ({ ok: false, reason });

/**
 * By X-Service-Signature; by webhook-signature (Standard Webhooks) if that header is missing. Never throws for any input. A genuine webhook
 * still needs checks: read `event.type` (webhook_test is a sample), process no `event_id` twice, and match the payment with your order.
 */
export async function verifyWebhook(received: ReceivedWebhook): Promise<WebhookVerdict> {
  const signed = signedOf((name) => headerOf(received.headers, name));
  if (!signed) return refuse('missing_header');
  const now_ms = received.now_ms ?? Date.now();
  if (!/^\d{1,15}$/.test(signed.timestamp)) return refuse('timestamp_expired');
  if (Math.abs(now_ms - Number(signed.timestamp) * signed.unit_ms) > tolerance_ms) return refuse('timestamp_expired');
  const body = bytesOf(received.body);
  const given = signed.bytes();
  if (!given) return refuse('invalid_signature');
  const message = joined(utf8.encode(signed.head), body);
  const fits = await Promise.all(received.secrets.map((secret) => isSignedWith(secret, given, message)));
  if (!fits.includes(true)) return refuse('invalid_signature');
  const event = eventOf(body);
  return event ? { ok: true, event } : refuse('invalid_body');
}

interface Signed {
  readonly timestamp: string;
  readonly unit_ms: number;
  /** Signed text before the body. */
  readonly head: string;
  /** The signature, null when it is none. */
  bytes(): Uint8Array<ArrayBuffer> | null;
}

/** One of the two schemes. */
function signedOf(header: (name: string) => string | null): Signed | null {
  const signature = header('x-service-signature');
  if (signature !== null) {
    const timestamp = header('x-service-timestamp');
    return timestamp === null
      ? null
      : { timestamp, unit_ms: 1, head: `${timestamp}.`, bytes: () => hexBytes(signature) };
  }
  const [standard, id, timestamp] = [header('webhook-signature'), header('webhook-id'), header('webhook-timestamp')];
  if (standard === null || id === null || timestamp === null) return null;
  return { timestamp, unit_ms: 1_000, head: `${id}.${timestamp}.`, bytes: () => base64Bytes(standard) };
}

/** A repeated header counts as missing. */
function headerOf(headers: ReceivedWebhook['headers'], name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : null;
}

function hexBytes(signature: string): Uint8Array<ArrayBuffer> | null {
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(signature) ?? [];
  return hex ? Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)) : null;
}

function base64Bytes(signature: string): Uint8Array<ArrayBuffer> | null {
  const [, base64] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature) ?? [];
  if (!base64) return null;
  const binary = atob(base64);
  // Each signature has one spelling: the last digit has two unused bits.
  return btoa(binary) === base64 ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : null;
}

/** Web Crypto compares in constant time. A secret without characters is none, and would be no key. */
async function isSignedWith(
  secret: string,
  given: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  if (secret === '') return false;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', utf8.encode(secret), algorithm, false, ['verify']);
  return crypto.subtle.verify('HMAC', key, given, message);
}

function bytesOf(body: ReceivedWebhook['body']): Uint8Array {
  if (typeof body === 'string') return utf8.encode(body);
  return body instanceof Uint8Array ? body : new Uint8Array(body);
}

function joined(head: Uint8Array, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(head.length + body.length);
  all.set(head);
  all.set(body, head.length);
  return all;
}

function eventOf(body: Uint8Array): WebhookEvent | null {
  try {
    const event: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return typeof event === 'object' && event !== null && 'event_id' in event ? (event as WebhookEvent) : null;
  } catch {
    return null;
  }
}
