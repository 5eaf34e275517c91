/** Seals of transactions that the service prepares for payers: the service sends for an order only the transaction that it prepared for it. */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { deriveKey } from './paymentSecrets.ts';

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
