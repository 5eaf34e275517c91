import type { Chain } from '../../domain/chains.ts';
import { familyOf } from './families.ts';
import type { AddressBook } from './ports.ts';

/** Addresses of every chain family, as their chains spell them. */
export const addressBook: AddressBook = {
  canonical: (chain, text) => familyOf(chain).canonicalAddress(chain, text),
};

/** A transaction's identity as its chain spells it, or null when the text is none. */
export const canonicalTxHash = (chain: Chain, text: string): string | null => familyOf(chain).canonicalTxHash(text);
