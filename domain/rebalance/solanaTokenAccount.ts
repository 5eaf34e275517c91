/**
 * The token account of a wallet on Solana, which CCTP's messages name instead of the wallet.
 *
 * Source of the derivation: github.com/solana-program/associated-token-account.
 */
import { ed25519 } from '@noble/curves/ed25519';
import { sha256 } from '@noble/hashes/sha2';
import { base58, hex, utf8 } from '@scure/base';
import { assert } from '../decider.ts';

const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const associatedProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

/** The 32 bytes of an address of Solana, as 64 hex digits. @throws RangeError for any other text */
export const solana32 = (address: string): string => hex.encode(solanaBytes(address));

/** @throws RangeError */
function solanaBytes(address: string): Uint8Array {
  // Decoding time is quadratic in the length.
  const bytes = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address) ? base58.decode(address) : null;
  if (bytes?.length !== 32) throw new RangeError(`${address} is no address of Solana: it is the base 58 of 32 bytes`);
  return bytes;
}

/** The associated token account of a wallet, as 64 hex digits: the first hash of owner, program, mint and bump that is off the curve. */
export function tokenAccount32(wallet: string, mint: string): string {
  const seeds = [wallet, tokenProgram, mint].flatMap((each) => [...solanaBytes(each)]);
  const suffix = [...solanaBytes(associatedProgram), ...utf8.decode('ProgramDerivedAddress')];
  for (let bump = 255; bump >= 0; bump--) {
    const found = sha256(Uint8Array.from([...seeds, bump, ...suffix]));
    if (!isOnCurve(found)) return hex.encode(found);
  }
  assert(false, `every wallet has a token account, ${wallet} too`);
}

/** True if a key can exist for the bytes. */
function isOnCurve(bytes: Uint8Array): boolean {
  try {
    ed25519.ExtendedPoint.fromHex(bytes);
    return true;
  } catch {
    return false;
  }
}
