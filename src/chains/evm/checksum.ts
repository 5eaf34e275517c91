import type { Address } from 'viem';
import { keccak } from './keccak.ts';

/** From here on a digit of the hash makes the letter at its place a capital. */
const capitalFrom = 8;

/**
 * Spells an address with its checksum (EIP-55). Without a cache: most addresses here are a payment's own and met once, and
 * viem's cache costs more per new address than the hash does.
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
