/**
 * The token account of a wallet on Solana, which CCTP's messages name instead of the wallet. The domain imports no library, so this file has
 * its own SHA-256 (FIPS 180-4), curve check (RFC 8032) and base 58; specs compare each with the chain's library.
 *
 * Source of the derivation: github.com/solana-program/associated-token-account.
 */
import { assert } from '../decider.ts';

const digits58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const address_bytes = 32;

/** The 32 bytes of an address of Solana. @throws RangeError for any other text */
export function solanaBytes(address: string): Uint8Array {
  const isBase58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address);
  const value = isBase58 ? [...address].reduce((sum, digit) => sum * 58n + BigInt(digits58.indexOf(digit)), 0n) : 0n;
  const zeros = /^1*/.exec(address)?.[0].length ?? 0;
  const significant = value === 0n ? 0 : Math.ceil(value.toString(16).length / 2);
  if (!isBase58 || zeros + significant !== address_bytes)
    throw new RangeError(`${address} is no address of Solana: it is the base 58 of 32 bytes`);
  return bytesOf(value.toString(16).padStart(2 * address_bytes, '0'));
}

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16));
export const hexDigits = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const associatedProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

/** The associated token account of a wallet, as 64 hex digits: the first hash of owner, program, mint and bump that is off the curve. */
export function tokenAccount32(wallet: string, mint: string): string {
  const seeds = [wallet, tokenProgram, mint].flatMap((each) => [...solanaBytes(each)]);
  const suffix = [...solanaBytes(associatedProgram), ...[...'ProgramDerivedAddress'].map((c) => c.charCodeAt(0))];
  for (let bump = 255; bump >= 0; bump--) {
    const found = sha256(Uint8Array.from([...seeds, bump, ...suffix]));
    if (!isOnCurve(found)) return hexDigits(found);
  }
  assert(false, `every wallet has a token account, ${wallet} too`);
}

const prime = 2n ** 255n - 19n;
const power = (base: bigint, exponent: bigint): bigint => {
  let [result, square] = [1n, base % prime];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % prime;
    square = (square * square) % prime;
  }
  return result;
};
/** d of the curve -x² + y² = 1 + d·x²·y². */
const curveD = ((prime - 121_665n) * power(121_666n, prime - 2n)) % prime;

/** True if the bytes are a point: then a key can exist for them. They hold y, little-endian, and the sign of x in the last bit. */
function isOnCurve(bytes: Uint8Array): boolean {
  const y = BigInt(`0x${hexDigits(bytes.toReversed())}`) & (2n ** 255n - 1n);
  const ySquare = (y * y) % prime;
  // x² = u / v is a square if u · v is one. Euler's criterion: a square has the power 1, and 0 has the power 0.
  const product = (ySquare + prime - 1n) * (curveD * ySquare + 1n);
  return power(product, (prime - 1n) / 2n) <= 1n;
}

/** First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const roundWords = Uint32Array.from([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);
const firstState = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
] as const;

export function sha256(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 4, bytes.length * 8);
  const state = Uint32Array.from(firstState);
  const words = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let at = 0; at < 16; at++) words[at] = view.getUint32(block + 4 * at);
    for (let at = 16; at < 64; at++) {
      const [two, fifteen] = [word(words, at - 2), word(words, at - 15)];
      const first = rotated(two, 17) ^ rotated(two, 19) ^ (two >>> 10);
      const second = rotated(fifteen, 7) ^ rotated(fifteen, 18) ^ (fifteen >>> 3);
      words[at] = first + second + word(words, at - 7) + word(words, at - 16);
    }
    let [a, b, c, d, e, f, g, h] = [...state] as [number, number, number, number, number, number, number, number];
    for (let at = 0; at < 64; at++) {
      const rotatedE = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      const one = (h + rotatedE + ((e & f) ^ (~e & g)) + word(roundWords, at) + word(words, at)) | 0;
      const two = ((rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    for (const [at, value] of [a, b, c, d, e, f, g, h].entries()) state[at] = word(state, at) + value;
  }
  const result = new DataView(new ArrayBuffer(32));
  for (const [at, value] of state.entries()) result.setUint32(4 * at, value);
  return new Uint8Array(result.buffer);
}

const word = (words: Uint32Array, at: number): number => words[at] ?? 0;
const rotated = (value: number, by: number): number => (value >>> by) | (value << (32 - by));
