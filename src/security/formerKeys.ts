/** What is kept of master keys that were changed: enough to check their seals and to open their links, not to decrypt what they hid. */
import Type, { type Static } from 'typebox';
import Compile from 'typebox/compile';
import type { KeyChange } from '../../domain/sealing.ts';
import { type LinkKeys, linkKeyBytesOf, linkKeysOf } from './paymentSecrets.ts';
import { type Seals, sealKeyOf, sealsWith } from './seals.ts';
import { createSecretBox, SecretBoxError } from './secretBox.ts';

export interface FormerKey {
  readonly seals: Seals;
  readonly links: LinkKeys;
}

const Key = Type.String({ pattern: '^[\\w-]{43}$' });
const Kept = Type.Array(Type.Object({ seal: Key, tag: Key, hide: Key }));
/** As it is written: 32 bytes each, as base64url. */
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

/** Null when it was not written by somebody who had the master key, for just this change. */
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
