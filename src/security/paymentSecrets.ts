/** Secrets in payment links: a holder sees and pays that payment, and learns nothing about others. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';

/** A separate key per use (HKDF, RFC 5869). */
export const deriveKey = (masterKey: Uint8Array, use: string): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, new Uint8Array(), `payment-intents ${use}`, 32));

export interface PaymentSecrets {
  /** 43 characters of base64url, equal on each call for a payment. @param paymentId a UUID */
  secretOf(paymentId: string): string;
  /**
   * Id of a secret's payment; null for any other text.
   * @throws the error of `former`, for a text that the current key does not open
   */
  paymentIdOf(secret: string): string | null;
}

const tagBytes = 16;
const idBytes = 16;
const form = /^[\w-]{43}$/;

/**
 * A secret is the payment's sealed id: nothing is stored, and payments from before payment pages have one as well.
 *
 * Deterministic authenticated encryption in the manner of SIV (RFC 5297), built from node:crypto: the tag is HMAC-SHA-256 of the id, cut to
 * 128 bits, and at the same time the IV of AES-256-CTR, which hides the id. A tag depends on the whole id, so two ids share a key stream
 * only after a 128-bit collision, and no nonce has to be random. AES-GCM is unsuitable: it breaks if a nonce repeats.
 *
 * @param masterKey of this installation: new secrets are made with it
 * @param former keys of former master keys: their secrets still open. Called at each use; there are few
 */
export function createPaymentSecrets(
  masterKey: Uint8Array,
  former: () => readonly LinkKeys[] = () => [],
): PaymentSecrets {
  const current = linkKeysOf(linkKeyBytesOf(masterKey));
  return {
    secretOf(paymentId) {
      const id = Buffer.from(paymentId.replaceAll('-', ''), 'hex');
      if (id.length !== idBytes) throw new TypeError('a payment id is a UUID');
      const tag = tagOf(current, id);
      const cipher = createCipheriv('aes-256-ctr', current.hide, tag);
      return Buffer.concat([tag, cipher.update(id), cipher.final()]).toString('base64url');
    },

    paymentIdOf(secret) {
      if (!form.test(secret)) return null;
      const bytes = Buffer.from(secret, 'base64url');
      // The last character has two spare bits: only one spelling is accepted.
      if (bytes.toString('base64url') !== secret) return null;
      const id = opened(current, bytes) ?? openedByOneOf(former(), bytes);
      return id === null ? null : uuidOf(id);
    },
  };
}

/** Made once: OpenSSL takes five times as long to make a key from bytes as to use it. */
export interface LinkKeys {
  readonly tag: KeyObject;
  readonly hide: KeyObject;
}

/** 32 bytes each. */
export interface LinkKeyBytes {
  readonly tag: Uint8Array;
  readonly hide: Uint8Array;
}

export const linkKeyBytesOf = (masterKey: Uint8Array): LinkKeyBytes => ({
  tag: deriveKey(masterKey, 'payment links: tag'),
  hide: deriveKey(masterKey, 'payment links: hide'),
});

export const linkKeysOf = ({ tag, hide }: LinkKeyBytes): LinkKeys => ({
  tag: createSecretKey(tag),
  hide: createSecretKey(hide),
});

function opened(keys: LinkKeys, bytes: Buffer): Buffer | null {
  const tag = bytes.subarray(0, tagBytes);
  const decipher = createDecipheriv('aes-256-ctr', keys.hide, tag);
  const id = Buffer.concat([decipher.update(bytes.subarray(tagBytes)), decipher.final()]);
  return timingSafeEqual(tag, tagOf(keys, id)) ? id : null;
}

function openedByOneOf(former: readonly LinkKeys[], bytes: Buffer): Buffer | null {
  for (const keys of former) {
    const id = opened(keys, bytes);
    if (id !== null) return id;
  }
  return null;
}

const tagOf = (keys: LinkKeys, id: Buffer): Buffer =>
  createHmac('sha256', keys.tag).update(id).digest().subarray(0, tagBytes);

const uuidOf = (id: Buffer): string =>
  id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
