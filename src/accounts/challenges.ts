/** Codes that were mailed, each bound to the random text that only its asker has. */
import { hash } from 'node:crypto';
import { type Instant, plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import { codeLife_ms } from './emails.ts';
import type { KeptCode } from './passcodes.ts';

export interface Asked extends KeptCode {
  /** Null where no code is the right one. */
  readonly developerId: string | null;
  readonly registrationId: string | null;
}

export interface Tried extends Asked {
  readonly digest: string;
  readonly triesLeft: number;
}

export const triesMax = 5;

/** @param challenge 256 random bits: a plain hash is enough */
export async function keepChallenge(sql: Sql, challenge: string, asked: Asked, now: Instant): Promise<Instant> {
  const expiresAt = plus(now, codeLife_ms);
  const { developerId, registrationId, salt, codeHash } = asked;
  await sql.query(
    `INSERT INTO ops.challenges (digest, developer_id, registration_id, salt, code_hash, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [hash('sha256', challenge), developerId, registrationId, salt, codeHash, expiresAt],
  );
  return expiresAt;
}

/** Takes one of its tries, before anybody knows whether the code is right; null when there is none left, or no such challenge. */
export async function takeTry(sql: Sql, challenge: string, now: Instant): Promise<Tried | null> {
  const [tried] = await sql.query<Tried>(
    `UPDATE ops.challenges SET tries = tries + 1 WHERE digest = $1 AND tries < $2 AND expires_at > $3
     RETURNING digest, developer_id AS "developerId", registration_id AS "registrationId", salt, code_hash AS "codeHash",
               $2 - tries AS "triesLeft"`,
    [hash('sha256', challenge), triesMax, now],
  );
  return tried ?? null;
}

/** @returns false when somebody else has used it up meanwhile */
export async function useUp(sql: Sql, digest: string): Promise<boolean> {
  const used = await sql.query('DELETE FROM ops.challenges WHERE digest = $1 RETURNING 1', [digest]);
  return used.length === 1;
}
