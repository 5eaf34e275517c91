/** What is an address on Solana, and what is a transaction's. */
import { base58 } from '@scure/base';
import type { Chain } from '../../../domain/chains.ts';
import { PublicKey, SystemProgram } from './web3.ts';

/** The program that wallets belong to. Its own address, all zeros, is no wallet. */
export const systemProgram: string = SystemProgram.programId.toBase58();

const address_bytes = 32;
export const signature_bytes = 64;

/** @returns undefined when the text is not the base58 of exactly so many bytes */
export function parseBase58(text: string, bytes: number): Uint8Array | undefined {
  // Decoding takes time with the square of the length. Secret keys and signatures, the longest, have at most 88 letters.
  if (!/^[1-9A-HJ-NP-Za-km-z]{1,90}$/.test(text)) return undefined;
  const decoded = base58.decode(text);
  return decoded.length === bytes ? decoded : undefined;
}

export const isAddress = (text: string): boolean => parseBase58(text, address_bytes) !== undefined;

/**
 * The base58 of 32 bytes, or null. Whether they lie on the curve says little: wallets of several owners and of programs do not.
 * What stands at an address only the chain can tell; it is asked later. Tokens and the system program are no wallets.
 */
export function canonicalSolanaAddress({ tokens }: Pick<Chain, 'tokens'>, text: string): string | null {
  const isNobody = text === systemProgram || tokens.some(({ address }) => address === text);
  return isAddress(text) && !isNobody ? text : null;
}

/** A signature names its transaction: the base58 of 64 bytes, or null. Its letters' case matters. */
export const canonicalSolanaHash = (text: string): string | null => (parseBase58(text, signature_bytes) ? text : null);

/** Whether a key can exist for the address. */
export const isOnCurve = (address: string): boolean => PublicKey.isOnCurve(address);
