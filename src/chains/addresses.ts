import { getAddress, isAddress, isHash, zeroAddress } from 'viem';
import type { Chain } from '../../domain/chains.ts';
import type { AddressBook } from './ports.ts';

/**
 * Addresses of every chain family that this installation serves. EVM: an address in mixed case must carry the right
 * checksum (EIP-55); all lower case has none and is taken. The zero address is nobody's.
 */
export const addressBook: AddressBook = {
  canonical(chain, text) {
    if (chain.family !== 'evm' || !isAddress(text, { strict: true })) return null;
    const address = getAddress(text);
    return address === zeroAddress ? null : address;
  },
};

/** A transaction's identity as its chain spells it, or null when the text is none. */
export const canonicalTxHash = (chain: Chain, text: string): string | null =>
  chain.family === 'evm' && isHash(text) ? text.toLowerCase() : null;
