/** The role `analyst`: reads schema `analytics` and nothing else. */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import type { Sql, SqlDatabase } from '../../projections/sql.ts';
import { analyst, grantToAnalyst } from './analytics.ts';

/** Of a statement, and of a transaction that does nothing: an analyst holds up no rebuild for longer. */
const statementTimeout_s = 60;
const lockTimeout_s = 5;
const connectionsMax = 5;
const iterations = 4_096;

/**
 * What Postgres keeps of a password (RFC 5802, `SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server key>`): the password itself is in no
 * statement, and so in no log of statements.
 */
export function scramOf(password: string, salt: Uint8Array): string {
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256');
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const base64 = Buffer.from(salt).toString('base64');
  return `SCRAM-SHA-256$${iterations}:${base64}$${stored}:${keyed('Server Key').toString('base64')}`;
}

/**
 * Makes the role, or sets its password. Its connections end when the read models are switched.
 * @throws Error where the service's own user may not make roles
 */
export async function makeAnalyst(database: SqlDatabase, password: string, salt: Uint8Array): Promise<void> {
  await database.transaction(async (tx) => {
    // Roles belong to the whole server: two databases on it, or two instances, may come at once.
    await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('analyst', 0))`);
    const [role] = await tx.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [analyst]);
    if (!role) await tx.query(`CREATE ROLE ${analyst} NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION`);
    const secret = scramOf(password, salt);
    await tx.query(`ALTER ROLE ${analyst} LOGIN PASSWORD '${secret}' CONNECTION LIMIT ${connectionsMax}`);
    for (const [name, value] of settings) await tx.query(`ALTER ROLE ${analyst} SET ${name} = ${value}`);
    await confine(tx);
    await grantToAnalyst(tx);
  });
}

const settings: readonly (readonly [string, string])[] = [
  ['default_transaction_read_only', 'on'],
  ['statement_timeout', `'${statementTimeout_s}s'`],
  ['idle_in_transaction_session_timeout', `'${statementTimeout_s}s'`],
  ['lock_timeout', `'${lockTimeout_s}s'`],
  ['search_path', 'analytics'],
  ['TimeZone', `'UTC'`],
];

/** What everybody may by Postgres' defaults, and an analyst need not: tables of one's own fill the disk. */
async function confine(tx: Sql): Promise<void> {
  const [here] = await tx.query<{ name: string }>('SELECT quote_ident(current_database()) AS name');
  await tx.query(`REVOKE TEMPORARY ON DATABASE ${here?.name} FROM PUBLIC`);
}

/** Ends what analysts have open, so that views can be switched at once. Where that is not allowed, their statements end by their own limit. */
export const endAnalysts = (sql: Sql): Promise<unknown> =>
  sql.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE usename = $1 AND datname = current_database() AND pg_has_role(usename, 'MEMBER')`,
    [analyst],
  );
