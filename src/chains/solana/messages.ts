/** Text signatures on Solana: over the raw bytes of the text, as wallets sign them. */
import { base64Signature, isEd25519 } from '../ed25519.ts';
import type { MessageScheme } from '../family.ts';
import { isOnCurve, parseBase58, solanaSignature_bytes, systemProgram } from './addresses.ts';

const address_bytes = 32;

export const solanaMessages: MessageScheme = {
  /** Addresses of programs have no key. */
  signer: (text) => (parseBase58(text, address_bytes) && text !== systemProgram && isOnCurve(text) ? text : null),

  /** Signature in base58, or base64 for wallets that return bytes. */
  async isSignedBy(address, { text, signature }) {
    const key = parseBase58(address, address_bytes);
    const signed = parseBase58(signature, solanaSignature_bytes) ?? base64Signature(signature);
    return key !== undefined && signed !== undefined && isEd25519(key, Buffer.from(text), signed);
  },
};
