import { MuxedAccount, StrKey } from '@stellar/stellar-sdk';
import type { Token } from '../../../domain/chains.ts';
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
  return stellarChain().tokens.some((token) => isTokens(token, text)) ? null : text;
}

const isTokens = (token: Token, address: string): boolean =>
  address === assetContractOf(token, publicNetwork) || accountOf(address) === assetOf(token).getIssuer();

/** 32 bytes in hexadecimal, lower case; null for any other text. */
export const canonicalStellarHash = (text: string): string | null =>
  /^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : null;
