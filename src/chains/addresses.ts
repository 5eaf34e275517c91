import { isHash, zeroAddress } from 'viem';
import type { Chain } from '../../domain/chains.ts';
import { checksummed } from './evm/checksum.ts';
import type { AddressBook } from './ports.ts';
import { canonicalSolanaAddress, isSignature } from './solana/addresses.ts';
import { canonicalStellarAddress } from './stellar/addresses.ts';

const evmAddress = /^0x[0-9a-fA-F]{40}$/;
const stellarHash = /^[0-9a-f]{64}$/i;

/**
 * Addresses of every chain family that this installation serves. EVM: an address in mixed case must carry the right
 * checksum (EIP-55); all lower case has none and is taken. The zero address and the tokens' own contracts are nobody's
 * wallet: money sent there is refused or lost. Solana: any 32 bytes in base58 that are no token. Stellar: accounts (G…), numbered places behind them (M…) and contracts (C…).
 */
export const addressBook: AddressBook = {
  canonical(chain, text) {
    if (chain.family === 'solana') return canonicalSolanaAddress(text);
    if (chain.family === 'stellar') return canonicalStellarAddress(text);
    if (chain.family !== 'evm' || !evmAddress.test(text)) return null;
    const lower = text.toLowerCase();
    const address = checksummed(lower.slice(2));
    if (address === zeroAddress || chain.tokens.some((token) => token.address === address)) return null;
    return text === address || text === lower ? address : null;
  },
};

/** A transaction's identity as its chain spells it, or null when the text is none. */
export function canonicalTxHash({ family }: Chain, text: string): string | null {
  if (family === 'solana') return isSignature(text) ? text : null;
  const isOne = family === 'stellar' ? stellarHash.test(text) : isHash(text);
  return isOne ? text.toLowerCase() : null;
}
