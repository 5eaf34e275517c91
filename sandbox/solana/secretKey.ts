/** Secret keys of Solana without its libraries, which most starts of a sandbox do not need. */
import { generateKeyPairSync } from 'node:crypto';
import { base58 } from '@scure/base';

/** Generates a secret key as wallets export and import it: base58 of 64 bytes, the secret half and then the public half. */
export function newSecretKey(): string {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return base58.encode(Buffer.concat([d, x].map((half) => Buffer.from(half, 'base64url'))));
}
