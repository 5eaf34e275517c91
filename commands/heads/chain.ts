/** Checks entries of `heads-log` using only the entries and, if the auditor has one, a key. */

import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { type HeadsEvent, keySinceOf, signedTextOf } from '../../domain/heads/heads.ts';

// Signing key of heads: Ed25519 (RFC 8032). Equal texts have equal signatures.

export interface HeadKey {
  /** 32 bytes as hex. */
  readonly publicKey: string;
  /** @returns 64 bytes as hex */
  sign(text: string): string;
}

/** PKCS#8 prefix of the 32 bytes of a private key (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** @param seed 32 bytes */
export function headKeyOf(seed: Uint8Array): HeadKey {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return {
    publicKey: Buffer.from(x, 'base64url').toString('hex'),
    sign: (text) => sign(null, Buffer.from(text), key).toString('hex'),
  };
}

/** @param publicKey hex; returns false if it is not a key */
export function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  if (!/^[0-9a-f]{128}$/.test(signature)) return false;
  const key = publicKeyOf(publicKey);
  return key !== null && verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'));
}

function publicKeyOf(hex: string): KeyObject | null {
  if (!/^[0-9a-f]{64}$/.test(hex)) return null;
  const x = Buffer.from(hex, 'hex').toString('base64url');
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  } catch {
    return null;
  }
}

/** SHA-256 of an entry's text as hex, to which the next entry refers. */
export const hashOfHead = (entry: HeadsEvent): string => hash('sha256', signedTextOf(entry), 'hex');

/** Problem of an entry. `lost` is valid in itself: the operator must explain the lost key. */
export interface HeadsProblem {
  readonly number: number;
  readonly problem: 'number' | 'previous' | 'position' | 'key' | 'signature' | 'lost';
  readonly message: string;
}

export interface HeadsChecker {
  /** Checks the next entry in order. Returns null if it is valid. */
  next(entry: HeadsEvent): HeadsProblem | null;
}

/**
 * @param after the entry before the first one; null if that is number 1
 * @param key required key of the first entry. Default: its own key
 */
export function checkHeads({
  after = null,
  key,
}: {
  readonly after?: HeadsEvent | null;
  readonly key?: string;
} = {}): HeadsChecker {
  let before = after;
  return {
    next(entry) {
      const problem = problemOf(entry, before, before?.data.publicKey ?? key);
      before = entry;
      return problem && { number: entry.data.number, ...problem };
    },
  };
}

/** Checks all entries of `heads-log`, or those after `after`. */
export function verifyHeads(
  entries: Iterable<HeadsEvent>,
  options: Parameters<typeof checkHeads>[0] = {},
): readonly HeadsProblem[] {
  const checker = checkHeads(options);
  return [...entries].flatMap((entry) => checker.next(entry) ?? []);
}

type Problem = Omit<HeadsProblem, 'number'> | null;

function problemOf(entry: HeadsEvent, before: HeadsEvent | null, key: string | undefined): Problem {
  const { data } = entry;
  const number = (before?.data.number ?? 0) + 1;
  if (data.number !== number)
    return { problem: 'number', message: `entry ${number} is missing: number ${data.number} is there` };
  const previous = before && hashOfHead(before);
  if (data.previous !== previous)
    return {
      problem: 'previous',
      message: `it follows ${data.previous ?? 'nothing'}, but the entry before is ${previous ?? 'none'}`,
    };
  return keyProblem(entry, before, key) ?? positionProblem(entry, before) ?? signatureProblem(entry);
}

function keyProblem({ type, data }: HeadsEvent, before: HeadsEvent | null, key: string | undefined): Problem {
  const goesOn = type === 'HeadSigned' || type === 'HeadAnchored';
  const signedBy = goesOn ? data.publicKey : data.formerKey;
  const since = before ? keySinceOf(before) : 1;
  if (goesOn && data.keySince !== since)
    return { problem: 'key', message: `its key is in force since entry ${since}, not ${data.keySince}` };
  if (key === undefined || signedBy === key) return null;
  return { problem: 'key', message: `it is of key ${signedBy}, but ${key} was in force` };
}

function positionProblem({ type, data }: HeadsEvent, before: HeadsEvent | null): Problem {
  const [at, last] = [BigInt(data.position), before && BigInt(before.data.position)];
  const right = last === null ? type === 'HeadSigned' : type === 'HeadSigned' ? at > last : at === last;
  return right ? null : { problem: 'position', message: `position ${at} cannot follow ${last ?? 'nothing'}` };
}

function signatureProblem(entry: HeadsEvent): Problem {
  const { type, data } = entry;
  const text = signedTextOf(entry);
  if (!isSignedBy(data.publicKey, text, data.signature))
    return { problem: 'signature', message: `its signature is not of key ${data.publicKey}` };
  if (type === 'HeadKeyChanged' && !isSignedBy(data.formerKey, text, data.formerSignature))
    return { problem: 'signature', message: `its former key ${data.formerKey} did not sign it` };
  if (type !== 'HeadKeyLost') return null;
  return { problem: 'lost', message: `key ${data.formerKey} is said to be lost: ${data.reason}` };
}
