/** The key that heads are signed with: Ed25519 (RFC 8032). The same text always has the same signature. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

export interface HeadKey {
  /** 32 bytes as hex. */
  readonly publicKey: string;
  /** @returns 64 bytes as hex */
  sign(text: string): string;
}

/** What comes before the 32 bytes of a private key in PKCS#8 (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** @param seed 32 bytes */
export function headKeyOf(seed: Uint8Array): HeadKey {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return {
    publicKey: Buffer.from(x, 'base64url').toString('hex'),
    sign: (text) => sign(null, Buffer.from(text), key).toString('hex'),
  };
}

/** @param publicKey hex; false for what is no key */
export function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  if (!/^[0-9a-f]{128}$/.test(signature)) return false;
  const key = publicKeyOf(publicKey);
  return key !== null && verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'));
}

function publicKeyOf(hex: string): KeyObject | null {
  if (!/^[0-9a-f]{64}$/.test(hex)) return null;
  const x = Buffer.from(hex, 'hex').toString('base64url');
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  } catch {
    return null;
  }
}
