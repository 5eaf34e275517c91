import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** Formats 16 bytes as a UUID of version 8 (RFC 9562, 5.8: content is the application's own). */
export function uuidV8(bytes: Uint8Array): string {
  const octets = Buffer.from(bytes.subarray(0, 16));
  octets.writeUInt8((octets.readUInt8(6) & 0x0f) | 0x80, 6);
  octets.writeUInt8((octets.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = octets.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/**
 * The payment id of an order: the same for the same app and order, so that creating twice meets the same stream,
 * and not guessable without the app's salt.
 *
 * @param idSalt the app's random salt (hex), recorded at its registration
 * @param keyless created without a key: an id of its own, so that a stranger cannot take an order id before its app does
 */
export function paymentIdOf(idSalt: string, orderId: string, keyless = false): string {
  const order = Buffer.from(orderId, 'utf8');
  const head = Buffer.alloc(5);
  head.writeUInt8(keyless ? 1 : 0);
  head.writeUInt32BE(order.length, 1);
  return uuidV8(createHmac('sha256', keyOf(idSalt)).update(head).update(order).digest());
}

/** The ids that payments of an order can have: the app's own before one that was created without a key. */
export const paymentIdsOf = (idSalt: string, orderId: string): readonly string[] => [
  paymentIdOf(idSalt, orderId),
  paymentIdOf(idSalt, orderId, true),
];

/** Making a key costs five times what using it costs; few apps create most payments. */
const keys = new Map<string, KeyObject>();
const keysMax = 1_000;

function keyOf(idSalt: string): KeyObject {
  const known = keys.get(idSalt);
  if (known) return known;
  if (keys.size >= keysMax) keys.clear();
  const key = createSecretKey(Buffer.from(idSalt, 'hex'));
  keys.set(idSalt, key);
  return key;
}
