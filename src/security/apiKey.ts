import { hash, randomBytes, randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { NewKey } from '../../commands/manageMerchant.ts';

/** live: main networks. test: test networks and sandboxes. */
export type KeyMode = 'live' | 'test';

/**
 * Prefix, 32 random base62 characters (190 bits), a checksum of 6. The prefixes are fixed, so leaks can be searched for. Test installations
 * issued `pi_live_` before they issued `pi_test_`, so every installation accepts both.
 */
const prefixes: Readonly<Record<KeyMode, string>> = { live: 'pi_live_', test: 'pi_test_' };
const randomCharacters = 32;
const checksumCharacters = 6;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const shape = new RegExp(
  `^(?:${Object.values(prefixes).join('|')})[0-9A-Za-z]{${randomCharacters + checksumCharacters}}$`,
);

/** Makes a key. `key` goes to its owner once; only `hash` and `hint` are stored. */
export function newApiKey(mode: KeyMode = 'live', random: (bytes: number) => Uint8Array = randomBytes): NewKey {
  const body = prefixes[mode] + randomText(randomCharacters, random);
  const key = body + checksumOf(body);
  return { keyId: randomUUID(), key, hash: hashOf(key), hint: `${prefixes[mode]}…${key.slice(-4)}` };
}

/**
 * Hash for looking up a key; undefined for text that is no key (a typo, another service's key), without a query. A plain SHA-256 is enough:
 * 190 random bits cannot be guessed from it.
 */
export function parseKey(text: string): string | undefined {
  if (!shape.test(text)) return undefined;
  const body = text.slice(0, -checksumCharacters);
  return text === body + checksumOf(body) ? hashOf(text) : undefined;
}

const hashOf = (key: string): string => hash('sha256', key, 'hex');

/** CRC-32 in base62: detects every single wrong character. */
function checksumOf(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let place = 0; place < checksumCharacters; place += 1) {
    text = digits.charAt(rest % digits.length) + text;
    rest = Math.floor(rest / digits.length);
  }
  return text;
}

function randomText(length: number, random: (bytes: number) => Uint8Array): string {
  // Discards bytes from 248 on: 248 is a multiple of 62, so every character is equally likely.
  const fair = digits.length * 4;
  let text = '';
  while (text.length < length) {
    for (const byte of random(length)) if (byte < fair) text += digits.charAt(byte % digits.length);
  }
  return text.slice(0, length);
}
