/** Mailed codes: six digits, or eight after many requests, stored as salted scrypt hashes, for few attempts and a short time. */

import { hash, randomBytes, randomInt, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { Unavailable } from '../../commands/ports.ts';
import { type Instant, plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import { createBoundedQueue } from '../lib/concurrency.ts';
import { codeLife_ms } from './emails.ts';

/** Stored form of a code. */
export interface KeptCode {
  readonly salt: string;
  readonly codeHash: string;
}

/** Each method takes the same work for any input. */
export interface Passcodes {
  /** @throws Unavailable if too many codes are being hashed */
  make(digits?: CodeDigits): Promise<KeptCode & { readonly code: string }>;
  /** @throws Unavailable if too many codes are being hashed */
  matches(code: string, kept: KeptCode): Promise<boolean>;
}

export type CodeDigits = 6 | 8;

const saltBytes = 16;
const hashBytes = 32;
/** About 40 ms: trying all codes against a stolen hash takes hours, and a code lives for minutes. */
const productCost: ScryptCost = { N: 2 ** 14, r: 8, p: 1 };

export type ScryptCost = Pick<ScryptOptions, 'N' | 'r' | 'p'>;

/** Each hash needs 16 MB and one of libuv's four threads: DNS and files need the others. */
const hashesMax = 2;
/** The last waiting request waits about a second. */
const waitingMax = 50;
const busyRetry_s = 2;

const wellFormed = /^([0-9]{6}|[0-9]{8})$/;

export const isPasscode = (text: string): boolean => wellFormed.test(text);

export function createPasscodes(cost: ScryptCost): Passcodes {
  const admit = createBoundedQueue(hashesMax, waitingMax);
  const hash = (code: string, salt: string): Promise<Buffer> => {
    const hashed = admit(() => hashOf(code, salt, cost));
    if (!hashed) throw new Unavailable('too many sign-ins are in progress: try again', busyRetry_s);
    return hashed;
  };
  return {
    async make(digits = 6) {
      const code = String(randomInt(10 ** digits)).padStart(digits, '0');
      const salt = randomBytes(saltBytes).toString('hex');
      return { code, salt, codeHash: (await hash(code, salt)).toString('hex') };
    },
    matches: async (code, { salt, codeHash }) => timingSafeEqual(await hash(code, salt), Buffer.from(codeHash, 'hex')),
  };
}

export const scryptPasscodes = createPasscodes(productCost);

/** Runs outside the thread that serves requests. */
const hashOf = (code: string, salt: string, cost: ScryptCost): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(code, Buffer.from(salt, 'hex'), hashBytes, cost, (error, key) => (error ? reject(error) : resolve(key)));
  });

// Mailed codes, each bound to the random text that only its requester has.

export interface StoredChallenge extends KeptCode {
  /** Null if no code is valid. */
  readonly developerId: string | null;
  readonly registrationId: string | null;
}

export interface Tried extends StoredChallenge {
  readonly digest: string;
  readonly triesLeft: number;
}

export const triesMax = 5;

/** @param challenge 256 random bits, so a plain hash is enough */
export async function keepChallenge(
  sql: Sql,
  challenge: string,
  asked: StoredChallenge,
  now: Instant,
): Promise<Instant> {
  const expiresAt = plus(now, codeLife_ms);
  const { developerId, registrationId, salt, codeHash } = asked;
  await sql.query(
    `INSERT INTO ops.challenges (digest, developer_id, registration_id, salt, code_hash, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [hash('sha256', challenge), developerId, registrationId, salt, codeHash, expiresAt],
  );
  return expiresAt;
}

/** Uses up an attempt before the code is checked; null if none is left, or for an unknown challenge. */
export async function takeTry(sql: Sql, challenge: string, now: Instant): Promise<Tried | null> {
  const [tried] = await sql.query<Tried>(
    `UPDATE ops.challenges SET tries = tries + 1 WHERE digest = $1 AND tries < $2 AND expires_at > $3
     RETURNING digest, developer_id AS "developerId", registration_id AS "registrationId", salt, code_hash AS "codeHash",
               $2 - tries AS "triesLeft"`,
    [hash('sha256', challenge), triesMax, now],
  );
  return tried ?? null;
}

/** @returns false if a concurrent call has used it up */
export async function useUp(sql: Sql, digest: string): Promise<boolean> {
  const used = await sql.query('DELETE FROM ops.challenges WHERE digest = $1 RETURNING 1', [digest]);
  return used.length === 1;
}
