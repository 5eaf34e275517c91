/** Secrets in links to pay: who has one sees and pays that payment, and learns nothing with which to find another. */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey } from './keys.ts';

export interface PaymentSecrets {
  /** 43 characters of base64url, always the same for a payment. @param paymentId a UUID */
  secretOf(paymentId: string): string;
  /** The id of the payment that a secret was made for; null for every other text. */
  paymentIdOf(secret: string): string | null;
}

const tagBytes = 16;
const idBytes = 16;
const form = /^[\w-]{43}$/;

/**
 * A secret is the payment's id, sealed: nothing has to be stored, and payments made before there were pages have one as well.
 *
 * Deterministic authenticated encryption in the manner of SIV (RFC 5297), of what node:crypto has: the tag is HMAC-SHA-256 of the id, cut
 * to 128 bits, and at the same time the IV of AES-256-CTR, which hides the id. A tag depends on the whole id, so two ids never share a key
 * stream but for a collision of 128 bits, and no nonce has to be random. AES-GCM is not used for that reason: it breaks when a nonce repeats.
 *
 * @param masterKey of this installation; a new one makes new links
 */
export function createPaymentSecrets(masterKey: Uint8Array): PaymentSecrets {
  const tagKey = deriveKey(masterKey, 'payment links: tag');
  const hideKey = deriveKey(masterKey, 'payment links: hide');
  const tagOf = (id: Buffer): Buffer => createHmac('sha256', tagKey).update(id).digest().subarray(0, tagBytes);
  return {
    secretOf(paymentId) {
      const id = Buffer.from(paymentId.replaceAll('-', ''), 'hex');
      if (id.length !== idBytes) throw new TypeError('a payment id is a UUID');
      const tag = tagOf(id);
      const cipher = createCipheriv('aes-256-ctr', hideKey, tag);
      return Buffer.concat([tag, cipher.update(id), cipher.final()]).toString('base64url');
    },

    paymentIdOf(secret) {
      if (!form.test(secret)) return null;
      const bytes = Buffer.from(secret, 'base64url');
      // The last character has two bits to spare: one spelling alone is good.
      if (bytes.toString('base64url') !== secret) return null;
      const tag = bytes.subarray(0, tagBytes);
      const decipher = createDecipheriv('aes-256-ctr', hideKey, tag);
      const id = Buffer.concat([decipher.update(bytes.subarray(tagBytes)), decipher.final()]);
      return timingSafeEqual(tag, tagOf(id)) ? uuidOf(id) : null;
    },
  };
}

const uuidOf = (id: Buffer): string =>
  id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
