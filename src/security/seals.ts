/** Seals under what this service writes: nobody else can make one, whoever may write to the log. */
import { createHash, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { deriveKey } from './keys.ts';

export interface Seals {
  /** Tells keys apart without giving them away. */
  readonly keyId: string;
  /** `<key id>.<HMAC-SHA-256 as base64url>`. @param link `linkOf` the event */
  sealOf(link: string): string;
  isSealOf(link: string, seal: string): boolean;
}

/** @param masterKey of this installation */
export const createSeals = (masterKey: Uint8Array): Seals => sealsWith(sealKeyOf(masterKey));

export const sealKeyOf = (masterKey: Uint8Array): Buffer => deriveKey(masterKey, 'event seals');

/** @param bytes `sealKeyOf` a master key: that of a former one is kept, the master key itself is not */
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
