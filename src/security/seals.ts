/** Seals on this service's events: nobody else can make one, even with write access to the log. */

import { createHash, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import Type, { type Static } from 'typebox';
import Compile from 'typebox/compile';
import type { KeyChange } from '../../domain/sealing.ts';
import { deriveKey, type LinkKeys, linkKeyBytesOf, linkKeysOf } from './paymentSecrets.ts';
import { createSecretBox, SecretBoxError } from './secretBox.ts';

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
const kept = Compile(Kept);

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
    return kept.Check(opened) ? opened : null;
  } catch (error) {
    if (error instanceof SecretBoxError) return null;
    throw error;
  }
}

type ChangedIds = Pick<KeyChange, 'keyId' | 'formerKeyId'>;

const contextOf = ({ keyId, formerKeyId }: ChangedIds): string => `formerKeys:${formerKeyId}:${keyId}`;
const text = (key: Uint8Array): string => Buffer.from(key).toString('base64url');
const bytes = (key: string): Buffer => Buffer.from(key, 'base64url');
