import { hkdfSync } from 'node:crypto';

/** A key of its own for each use (HKDF, RFC 5869). */
export const deriveKey = (masterKey: Uint8Array, use: string): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, new Uint8Array(), `payment-intents ${use}`, 32));
