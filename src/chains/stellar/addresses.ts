import { createHash } from 'node:crypto';
import { MuxedAccount, StrKey } from '@stellar/stellar-sdk';
import { heldTokens, type Token } from '../../../domain/chains.ts';
import { base64Signature, isEd25519 } from '../ed25519.ts';
import type { MessageScheme } from '../family.ts';
import { publicNetwork, stellarChain } from './config.ts';
import { assetContractOf, assetOf } from './tokens.ts';

/** Account behind a G or M address; undefined for a contract. */
export function accountOf(address: string): string | undefined {
  if (address.startsWith('C')) return undefined;
  return address.startsWith('M') ? MuxedAccount.fromAddress(address, '0').baseAccount().accountId() : address;
}

/** The id of an M address, in decimal; null for any other address. */
export const memoIn = (address: string): string | null =>
  address.startsWith('M') ? MuxedAccount.fromAddress(address, '0').id() : null;

/**
 * A G, M or C address with a valid checksum (SEP-23), else null. A token's issuer and contract are no wallets: money sent to the issuer is
 * destroyed.
 */
export function canonicalStellarAddress(text: string): string | null {
  const known =
    StrKey.isValidEd25519PublicKey(text) || StrKey.isValidMed25519PublicKey(text) || StrKey.isValidContract(text);
  if (!known) return null;
  return heldTokens(stellarChain()).some((token) => isTokens(token, text)) ? null : text;
}

const isTokens = (token: Token, address: string): boolean =>
  address === assetContractOf(token, publicNetwork) || accountOf(address) === assetOf(token).getIssuer();

/** 32 bytes in hexadecimal, lower case; null for any other text. */
export const canonicalStellarHash = (text: string): string | null =>
  /^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : null;

// Text signatures on Stellar (SEP-53): only the address's own key counts, regardless of other signers of the account.

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
