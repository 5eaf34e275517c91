import { createKeccak } from 'hash-wasm';
import { type Address, isHash, zeroAddress } from 'viem';
import type { Chain } from '../../../domain/chains.ts';

const hasher = await createKeccak(256);

/**
 * Keccak-256 of a text's UTF-8. Every payment needs three: viem's implementation gives the same result in ten times the time. One hasher
 * serves all, because nothing else runs between its start and its end.
 */
export const keccak = (message: Uint8Array | string): Uint8Array => hasher.init().update(message).digest('binary');

/** Hash digits from here on capitalise the letter at their position. */
const capitalFrom = 8;

/**
 * Spells an address with its checksum (EIP-55). Without a cache: most addresses are a payment's own and used once, and viem's cache costs
 * more per new address than the hash.
 *
 * @param digits the address's 40 hex digits in lower case, without 0x
 */
export function checksummed(digits: string): Address {
  const hash = keccak(digits);
  let spelled = '0x';
  for (let i = 0; i < digits.length; i += 1) {
    const byte = hash[i >> 1] ?? 0;
    const digit = digits.charAt(i);
    spelled += (i % 2 === 0 ? byte >> 4 : byte & 15) >= capitalFrom ? digit.toUpperCase() : digit;
  }
  return spelled as Address;
}

const evmAddress = /^0x[0-9a-fA-F]{40}$/;

/**
 * Accepts mixed case only with a valid checksum, and all lower case without one. Null for the zero address and the chain's own token
 * contracts: money sent there is refused or lost.
 */
export function canonicalEvmAddress(chain: Pick<Chain, 'tokens'>, text: string): Address | null {
  if (!evmAddress.test(text)) return null;
  const lower = text.toLowerCase();
  const address = checksummed(lower.slice(2));
  if (address === zeroAddress || chain.tokens.some((token) => token.address === address)) return null;
  return text === address || text === lower ? address : null;
}

/** An account's address, with its checksum; null for any other text, and for a wrong checksum. */
export function accountIn(text: string): Address | null {
  if (!evmAddress.test(text)) return null;
  const lower = text.toLowerCase();
  const address = checksummed(lower.slice(2));
  return text === address || text === lower ? address : null;
}

/** An indexed address is right-aligned in a topic of 32 bytes. */
export const addressIn = (topic: string): Address => checksummed(topic.slice(-40).toLowerCase());

export const canonicalEvmHash = (text: string): string | null => (isHash(text) ? text.toLowerCase() : null);
