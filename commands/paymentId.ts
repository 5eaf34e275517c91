import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** Formats 16 bytes as a UUID of version 8 (RFC 9562, 5.8: content is the application's own). */
export function uuidV8(bytes: Uint8Array): string {
  const octets = Buffer.from(bytes.subarray(0, 16));
  octets.writeUInt8((octets.readUInt8(6) & 0x0f) | 0x80, 6);
  octets.writeUInt8((octets.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = octets.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Kind of an id's input; the number is hashed, so ids of different kinds never collide. */
const kinds = {
  keyed: 0,
  formerKeyless: 1,
  keylessOfReceiver: 2,
  withdrawal: 3,
  link: 4,
  keyless: 5,
  refund: 6,
} as const;

/**
 * The payment id of an app's own order: equal for the same app and order, so a repeated create reaches the same stream. Not guessable
 * without the app's salt.
 *
 * @param idSalt the app's random salt (hex), recorded at its registration
 */
export const paymentIdOf = (idSalt: string, orderId: string): string => idOf(idSalt, kinds.keyed, [orderId]);

/** The id of the payment that pays a withdrawal: equal for the same app and withdrawal. */
export const withdrawalPaymentIdOf = (idSalt: string, withdrawalId: string): string =>
  idOf(idSalt, kinds.withdrawal, [withdrawalId]);

/** The id of the payment that funds a refund of another payment. */
export const refundPaymentIdOf = (idSalt: string, paymentId: string, refund: number): string =>
  idOf(idSalt, kinds.refund, [paymentId, String(refund)]);

/** The id of a reusable link, 27 bytes in base64url: equal for the same app and name. Not guessable without the app's salt. */
export const linkIdOf = (idSalt: string, name: string): string =>
  macOf(idSalt, kinds.link, [name]).subarray(0, 27).toString('base64url');

/** Receiver of a payment. */
export interface PaidReceiver {
  readonly chainId: number;
  readonly address: string;
  readonly memo: string | null;
}

/**
 * Returns the payment id of an order without a key. Anyone may send any order id, so the id also binds the receiver, the terms and the
 * texts: a stranger who sends the order id first blocks nobody, and learns nothing about other orders.
 *
 * @param asked terms and texts of the request; equal requests have equal texts
 */
export const keylessPaymentIdOf = (idSalt: string, orderId: string, receiver: PaidReceiver, asked: string): string =>
  idOf(idSalt, kinds.keyless, [orderId, ...partsOf(receiver), asked]);

/** Ids of keyless payments from versions with one payment per receiver and order id: repeats of those orders find them. */
export const receiverKeylessIdOf = (idSalt: string, orderId: string, receiver: PaidReceiver): string =>
  idOf(idSalt, kinds.keylessOfReceiver, [orderId, ...partsOf(receiver)]);

const partsOf = ({ chainId, address, memo }: PaidReceiver): readonly string[] => [String(chainId), address, memo ?? ''];

/** Ids of keyless payments from versions in which all receivers shared their order ids: repeats of those orders find them. */
export const formerKeylessIdOf = (idSalt: string, orderId: string): string =>
  idOf(idSalt, kinds.formerKeyless, [orderId]);

const idOf = (idSalt: string, kind: number, parts: readonly string[]): string => uuidV8(macOf(idSalt, kind, parts));

function macOf(idSalt: string, kind: number, parts: readonly string[]): Buffer {
  const hmac = createHmac('sha256', keyOf(idSalt)).update(Uint8Array.of(kind));
  for (const part of parts) {
    const bytes = Buffer.from(part, 'utf8');
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hmac.update(length).update(bytes);
  }
  return hmac.digest();
}

/** Making a key costs five times its use, and few apps create most payments. */
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
