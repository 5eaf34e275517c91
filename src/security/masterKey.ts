/** Keys derived from the master key: seals of events, secrets in payment links, seals of prepared transactions, keys of signed log heads. */

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import Type, { type Static } from 'typebox';
import Compile from 'typebox/compile';
import { type HeadKey, headKeyOf } from '../../commands/heads/chain.ts';
import type { HeadKeys } from '../../commands/heads/sign.ts';
import type { KeyChange } from '../../domain/sealing.ts';
import type { HeadSettings } from '../environment/heads.ts';

export interface Seals {
  /** Identifies a key without revealing it. */
  readonly keyId: string;
  /** `<key id>.<HMAC-SHA-256 as base64url>`. @param link `linkOf` of the event */
  sealOf(link: string): string;
  isSealOf(link: string, seal: string): boolean;
}

/** @param masterKey of this installation */
export const createSeals = (masterKey: Uint8Array): Seals => sealsWith(sealKeyOf(masterKey));

export const sealKeyOf = (masterKey: Uint8Array): Buffer => deriveKey(masterKey, 'event seals');

/** @param bytes `sealKeyOf` of a master key: a former one's is stored, the master key itself is not */
export function sealsWith(bytes: Uint8Array): Seals {
  const key = createSecretKey(bytes);
  const keyId = createHash('sha256')
    .update('payment-intents event seals key id')
    .update(bytes)
    .digest('hex')
    .slice(0, 8);
  const sealOf = (link: string): string => `${keyId}.${createHmac('sha256', key).update(link).digest('base64url')}`;
  return {
    keyId,
    sealOf,
    isSealOf(link, seal) {
      const [good, given] = [Buffer.from(sealOf(link)), Buffer.from(seal)];
      return good.length === given.length && timingSafeEqual(good, given);
    },
  };
}

// Stored parts of former master keys: enough to check their seals and to open their links, not to decrypt their secrets.

export interface FormerKey {
  readonly seals: Seals;
  readonly links: LinkKeys;
}

const Key = Type.String({ pattern: '^[\\w-]{43}$' });
const Kept = Type.Array(Type.Object({ seal: Key, tag: Key, hide: Key }));
/** Stored form: 32 bytes each, as base64url. */
export type KeptKey = Static<typeof Kept>[number];

export const keptOf = (masterKey: Uint8Array): KeptKey => {
  const { tag, hide } = linkKeyBytesOf(masterKey);
  return { seal: text(sealKeyOf(masterKey)), tag: text(tag), hide: text(hide) };
};

export const formerKeyOf = ({ seal, tag, hide }: KeptKey): FormerKey => ({
  seals: sealsWith(bytes(seal)),
  links: linkKeysOf({ tag: bytes(tag), hide: bytes(hide) }),
});

/** @param former oldest first */
export const hideFormer = (masterKey: Uint8Array, ids: ChangedIds, former: readonly KeptKey[]): string =>
  createSecretBox(masterKey).seal(JSON.stringify(former), contextOf(ids));

/** Null unless an owner of the master key wrote it for exactly this change. */
export function openFormer(masterKey: Uint8Array, change: KeyChange): readonly KeptKey[] | null {
  try {
    const opened: unknown = JSON.parse(createSecretBox(masterKey).open(change.formerKeys, contextOf(change)));
    // Compiled here: a log has few changes of the key, and most have none.
    return Compile(Kept).Check(opened) ? opened : null;
  } catch (error) {
    if (error instanceof SecretBoxError) return null;
    throw error;
  }
}

type ChangedIds = Pick<KeyChange, 'keyId' | 'formerKeyId'>;

const contextOf = ({ keyId, formerKeyId }: ChangedIds): string => `formerKeys:${formerKeyId}:${keyId}`;
const text = (key: Uint8Array): string => Buffer.from(key).toString('base64url');
const bytes = (key: string): Buffer => Buffer.from(key, 'base64url');

// Secrets in payment links: a holder sees and pays that payment, and learns nothing about others.

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
      const id = openedBy(current, bytes) ?? openedByOneOf(former(), bytes);
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

function openedBy(keys: LinkKeys, bytes: Buffer): Buffer | null {
  const tag = bytes.subarray(0, tagBytes);
  const decipher = createDecipheriv('aes-256-ctr', keys.hide, tag);
  const id = Buffer.concat([decipher.update(bytes.subarray(tagBytes)), decipher.final()]);
  return timingSafeEqual(tag, tagOf(keys, id)) ? id : null;
}

function openedByOneOf(former: readonly LinkKeys[], bytes: Buffer): Buffer | null {
  for (const keys of former) {
    const id = openedBy(keys, bytes);
    if (id !== null) return id;
  }
  return null;
}

const tagOf = (keys: LinkKeys, id: Buffer): Buffer =>
  createHmac('sha256', keys.tag).update(id).digest().subarray(0, tagBytes);

const uuidOf = (id: Buffer): string =>
  id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

// Seals of transactions that the service prepares for payers: the service sends for an order only the transaction that it prepared for it.

export interface PreparedSeals {
  /** 43 characters of base64url. @param facts of the order and the transaction, in a fixed sequence */
  sealOf(facts: readonly string[]): string;
  /** True if the seal was made of exactly these facts, by this installation. */
  isSealOf(seal: string, facts: readonly string[]): boolean;
}

/**
 * A seal is an HMAC-SHA-256, so that any instance can check what another one prepared, and nothing is stored. Seals end with a change of
 * the master key: a prepared transaction is valid for three minutes only.
 */
export function createPreparedSeals(masterKey: Uint8Array): PreparedSeals {
  const key = createSecretKey(deriveKey(masterKey, 'prepared transactions'));
  const macOf = (facts: readonly string[]) => createHmac('sha256', key).update(JSON.stringify(facts)).digest();
  return {
    sealOf: (facts) => macOf(facts).toString('base64url'),
    isSealOf(seal, facts) {
      const [given, made] = [Buffer.from(seal, 'base64url'), macOf(facts)];
      return given.length === made.length && timingSafeEqual(given, made);
    },
  };
}

// Keys of heads. Without a configured key, an installation derives one from its master key.

/** @param sealKey of the master key: those of former master keys are kept, so they can sign that another key follows */
const derived = (sealKey: Uint8Array): HeadKey => headKeyOf(deriveKey(sealKey, 'heads of the log'));

/** @param sealKeys of the current master key and then the former ones */
export function headKeysOf(
  { key, oldKey, lost }: Pick<HeadSettings, 'key' | 'oldKey' | 'lost'>,
  [inForce, ...before]: readonly [Uint8Array, ...(readonly Uint8Array[])],
): HeadKeys {
  const given = [key, oldKey].flatMap((hex) => (hex === null ? [] : [headKeyOf(Buffer.from(hex, 'hex'))]));
  const all = [...given, ...[inForce, ...before].map(derived)];
  const current = key === null ? derived(inForce) : headKeyOf(Buffer.from(key, 'hex'));
  return { current, former: all.filter(({ publicKey }) => publicKey !== current.publicKey), lost };
}

// Secrets sealed with the master key.

/** Encrypts secrets at rest. The context (owner and purpose) is authenticated: a ciphertext opens only in its own context. */
export interface SecretBox {
  seal(plain: string, context: string): string;
  /** @throws SecretBoxError if sealed under another key or for another context, or changed */
  open(sealed: string, context: string): string;
}

export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
}

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const ivBytes = 12;
const boxTagBytes = 16;
const format = 'v1';

/**
 * AES-256-GCM under master keys of 32 bytes. Sealed text: `v1.<key id>.<base64url of IV, ciphertext, tag>`. A random IV of 96 bits is safe
 * for 2^32 secrets per key.
 *
 * @param current seals and opens
 * @param former only open: for texts sealed before the master key was changed
 */
export function createSecretBox(current: Uint8Array, former: readonly Uint8Array[] = []): SecretBox {
  const keys = new Map([...former, current].map((key) => [keyIdOf(key), key]));
  const currentId = keyIdOf(current);
  return {
    seal(plain, context) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, current, iv).setAAD(associated(currentId, context));
      const sealed = Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${format}.${currentId}.${sealed.toString('base64url')}`;
    },

    open(sealed, context) {
      const [version, keyId = '', text = ''] = sealed.split('.');
      if (version !== format) throw new SecretBoxError(`the secret for ${context} is not sealed in format ${format}`);
      const key = keys.get(keyId);
      if (!key) {
        throw new SecretBoxError(
          `the secret for ${context} is sealed under master key ${keyId}, but the keys given are ${[...keys.keys()].join(', ')}: start with the key it was sealed under`,
        );
      }
      const bytes = Buffer.from(text, 'base64url');
      const end = bytes.length - boxTagBytes;
      try {
        const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: boxTagBytes })
          .setAAD(associated(keyId, context))
          .setAuthTag(bytes.subarray(Math.max(0, end)));
        return Buffer.concat([decipher.update(bytes.subarray(ivBytes, end)), decipher.final()]).toString('utf8');
      } catch (error) {
        const message = `the secret for ${context} cannot be opened: it was changed, or sealed for something else`;
        throw new SecretBoxError(message, { cause: error });
      }
    },
  };
}

/** True if a sealed text names this key. */
export const isSealedUnder = (key: Uint8Array, sealed: string): boolean => sealed.startsWith(sealedPrefix(key));

/** Prefix of every text sealed under the key. */
export const sealedPrefix = (key: Uint8Array): string => `${format}.${keyIdOf(key)}.`;

/**
 * Reads a master key from configuration.
 *
 * @param text 64 hex characters
 * @throws SecretBoxError with a key's format; the text itself is not repeated
 */
export function parseMasterKey(text: string): Uint8Array {
  if (!/^[0-9a-fA-F]{64}$/.test(text)) {
    throw new SecretBoxError(
      `a master key is ${keyBytes} bytes as ${2 * keyBytes} hex characters: openssl rand -hex 32`,
    );
  }
  return Buffer.from(text, 'hex');
}

/** Identifies a key without revealing it. @throws SecretBoxError for a key of another length */
export function keyIdOf(key: Uint8Array): string {
  if (key.length !== keyBytes) throw new SecretBoxError(`a master key has ${keyBytes} bytes, not ${key.length}`);
  return createHash('sha256').update('payment-intents secret box key id').update(key).digest('hex').slice(0, 8);
}

const associated = (keyId: string, context: string): Buffer => Buffer.from(`${format}.${keyId}.${context}`, 'utf8');
