/** Text signatures on Stellar (SEP-53): only the address's own key counts, regardless of other signers of the account. */
import { createHash } from 'node:crypto';
import { StrKey } from '@stellar/stellar-sdk';
import { base64Signature, isEd25519 } from '../ed25519.ts';
import type { MessageScheme } from '../family.ts';

const prefix = 'Stellar Signed Message:\n';

export const stellarMessages: MessageScheme = {
  /** Contracts (C…) have no key, and muxed addresses (M…) belong to another account. */
  signer: (text) => (StrKey.isValidEd25519PublicKey(text) ? text : null),

  /** Signature in base64, as wallets write it, or in hex. */
  async isSignedBy(address, { text, signature }) {
    const signed = base64Signature(signature) ?? hexSignature(signature);
    if (signed === undefined) return false;
    const digest = createHash('sha256').update(prefix).update(text).digest();
    return isEd25519(StrKey.decodeEd25519PublicKey(address), digest, signed);
  },
};

const hexSignature = (text: string): Uint8Array | undefined =>
  /^[0-9a-fA-F]{128}$/.test(text) ? Buffer.from(text, 'hex') : undefined;
