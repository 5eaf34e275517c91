/** Ed25519 signatures (RFC 8032) of Solana and Stellar. */
import { createPublicKey, verify } from 'node:crypto';

export const signature_bytes = 64;

/**
 * @param publicKey 32 bytes; returns false if they are no point of the curve
 * @param signature 64 bytes; returns false if its number is not reduced, because anyone can derive such a copy from a valid one
 */
export function isEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const x = Buffer.from(publicKey).toString('base64url');
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return signature.length === signature_bytes && verify(null, message, key, signature);
  } catch {
    return false;
  }
}

/** Base64 of a signature; undefined for any other text. */
export const base64Signature = (text: string): Uint8Array | undefined =>
  /^[A-Za-z0-9+/]{86}==$/.test(text) ? Buffer.from(text, 'base64') : undefined;
