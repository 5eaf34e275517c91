/** Address and transaction formats of Solana. */
import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import type { Chain } from '../../../domain/chains.ts';
import { assert } from '../../../domain/decider.ts';
import { base64Signature, isEd25519 } from '../ed25519.ts';
import type { MessageScheme } from '../family.ts';
import { PublicKey, SystemProgram } from './web3.ts';

/** Owner program of wallets. Its own address, all zeros, is no wallet. */
export const systemProgram: string = SystemProgram.programId.toBase58();

const address_bytes = 32;
export const solanaSignature_bytes = 64;

/** @returns undefined if the text is not the base58 of exactly this many bytes */
export function parseBase58(text: string, bytes: number): Uint8Array | undefined {
  // Decoding time is quadratic in the length. Secret keys and signatures, the longest, have at most 88 letters.
  if (!/^[1-9A-HJ-NP-Za-km-z]{1,90}$/.test(text)) return undefined;
  const decoded = base58.decode(text);
  return decoded.length === bytes ? decoded : undefined;
}

export const isAddress = (text: string): boolean => parseBase58(text, address_bytes) !== undefined;

/**
 * The base58 of 32 bytes, or null. The curve check proves little: multisig and program wallets are off the curve. The chain is queried
 * later for the account's kind. Tokens and the system program are no wallets.
 */
export function canonicalSolanaAddress({ tokens }: Pick<Chain, 'tokens'>, text: string): string | null {
  const isNobody = text === systemProgram || tokens.some(({ address }) => address === text);
  return isAddress(text) && !isNobody ? text : null;
}

/** A signature identifies its transaction: the base58 of 64 bytes, or null. Letter case matters. */
export const canonicalSolanaHash = (text: string): string | null =>
  parseBase58(text, solanaSignature_bytes) ? text : null;

/** True if a key can exist for the address. */
export const isOnCurve = (address: string): boolean => PublicKey.isOnCurve(address);

/**
 * Address that a program derives from seeds: the first hash of them, a bump and the program that is off the curve. The library's own
 * derivation is asynchronous, which a signer's check cannot be.
 */
export function programAddress(program: string, seeds: readonly Uint8Array[]): string {
  const suffix = Buffer.concat([new PublicKey(program).toBytes(), Buffer.from('ProgramDerivedAddress')]);
  for (let bump = 255; bump >= 0; bump--) {
    const found = createHash('sha256');
    for (const part of [...seeds, Uint8Array.of(bump), suffix]) found.update(part);
    const bytes = found.digest();
    if (!PublicKey.isOnCurve(bytes)) return new PublicKey(bytes).toBase58();
  }
  assert(false, `${program} derives an address from any seeds`);
}

// Text signatures on Solana: over the raw bytes of the text, as wallets sign them.

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
