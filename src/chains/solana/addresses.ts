import { createHash } from 'node:crypto';
import {
  type Address,
  address,
  getAddressDecoder,
  getAddressEncoder,
  getBase58Encoder,
  isAddress,
  isOffCurveAddress,
} from '@solana/kit';
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { assert } from '../../../domain/decider.ts';
import { solanaToken } from './config.ts';

export const systemProgram = '11111111111111111111111111111111';
export const tokenProgram: string = TOKEN_PROGRAM_ADDRESS;

const bytesOf = (text: string): Uint8Array => new Uint8Array(getAddressEncoder().encode(address(text)));
const addressOf = getAddressDecoder();
const signature_bytes = 64;

/**
 * The base58 of 32 bytes, or null. Whether they lie on the curve says little: wallets of several owners and of programs do not.
 * What else an address is only the chain can tell, and is asked. Tokens and the system program, all zeros, are nobody's wallet.
 */
export function canonicalSolanaAddress(text: string): string | null {
  return isAddress(text) && text !== systemProgram && text !== solanaToken().address ? text : null;
}

/** A signature names its transaction: the base58 of 64 bytes, or null. Its letters' case matters. */
export function canonicalSolanaHash(text: string): string | null {
  if (!/^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(text)) return null;
  return getBase58Encoder().encode(text).length === signature_bytes ? text : null;
}

/** Whether a key can exist for the address. */
export const isOnCurve = (text: string): boolean => !isOffCurveAddress(address(text));

const suffix = Buffer.concat([bytesOf(ASSOCIATED_TOKEN_PROGRAM_ADDRESS), Buffer.from('ProgramDerivedAddress')]);
const middle = Buffer.concat([bytesOf(TOKEN_PROGRAM_ADDRESS), bytesOf(solanaToken().address)]);

/**
 * A wallet's account for USDC: derived from owner, program and token so that it is no point of the curve, as the network's associated
 * token program does. The client's own derivation is asynchronous, which a signer's check is not.
 */
export function tokenAccountOf(owner: string): Address {
  const seeds = Buffer.concat([bytesOf(owner), middle]);
  for (let bump = 255; bump >= 0; bump--) {
    const found = addressOf.decode(
      createHash('sha256').update(seeds).update(Uint8Array.of(bump)).update(suffix).digest(),
    );
    if (isOffCurveAddress(found)) return found;
  }
  assert(false, `every wallet has a token account, ${owner} too`);
}
