/** The role `analyst`: reads schema `analytics` and nothing else. */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import type { Sql, SqlDatabase } from '../../projections/sql.ts';
import { analyst, grantToAnalyst } from './analytics.ts';

/** Timeout of a statement, and of an idle transaction: the longest time that an analyst can delay a rebuild. */
const statementTimeout_s = 60;
const lockTimeout_s = 5;
const connectionsMax = 5;
const iterations = 4_096;

/**
 * Stored form of a password in Postgres (RFC 5802, `SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server key>`): the password itself
 * appears in no statement, so in no log of statements.
 */
export function scramOf(password: string, salt: Uint8Array): string {
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256');
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const base64 = Buffer.from(salt).toString('base64');
  return `SCRAM-SHA-256$${iterations}:${base64}$${stored}:${keyed('Server Key').toString('base64')}`;
}

/**
 * Creates the role, or sets its password. Its connections end when the read models are switched.
 * @throws Error if the service's own user may not create roles
 */
export async function makeAnalyst(database: SqlDatabase, password: string, salt: Uint8Array): Promise<void> {
  await database.transaction(async (tx) => {
    // Roles belong to the whole server: two databases or instances may run this concurrently.
    await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('analyst', 0))`);
    const [role] = await tx.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [analyst]);
    if (!role) await tx.query(`CREATE ROLE ${analyst} NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION`);
    const secret = scramOf(password, salt);
    await tx.query(`ALTER ROLE ${analyst} LOGIN PASSWORD '${secret}' CONNECTION LIMIT ${connectionsMax}`);
    for (const [name, value] of settings) await tx.query(`ALTER ROLE ${analyst} SET ${name} = ${value}`);
    const [own] = await tx.query<{ all: boolean }>('SELECT rolsuper AS all FROM pg_roles WHERE rolname = CURRENT_USER');
    if (own?.all) await confine(tx);
    await grantToAnalyst(tx);
  });
  const left = await open(database);
  if (left.length > 0)
    throw new Error(
      `an analyst may take locks of the service, notify, and make large objects: let a superuser revoke EXECUTE on ${left[0]?.signature} and its like from PUBLIC, or give analysts a replica`,
    );
}

const settings: readonly (readonly [string, string])[] = [
  ['default_transaction_read_only', 'on'],
  ['statement_timeout', `'${statementTimeout_s}s'`],
  ['idle_in_transaction_session_timeout', `'${statementTimeout_s}s'`],
  ['lock_timeout', `'${lockTimeout_s}s'`],
  ['search_path', 'analytics'],
  ['TimeZone', `'UTC'`],
];

/**
 * Revokes default permissions that an analyst must not have. Their own tables, large objects and WAL records would fill the disk, an
 * advisory lock would stop the work that the service guards with it, and a full notification queue would fail the service's commits. Only a
 * superuser can revoke the functions from everybody.
 */
async function confine(tx: Sql): Promise<void> {
  const [here] = await tx.query<{ name: string }>('SELECT quote_ident(current_database()) AS name');
  await tx.query(`REVOKE TEMPORARY ON DATABASE ${here?.name} FROM PUBLIC`);
  for (const { signature } of await open(tx)) {
    await tx.query(`GRANT EXECUTE ON FUNCTION ${signature} TO CURRENT_USER`);
    await tx.query(`REVOKE EXECUTE ON FUNCTION ${signature} FROM PUBLIC`);
  }
}

/** Functions of locks, large objects, notifications and the WAL that the analyst may still call. */
const open = (sql: Sql) =>
  sql.query<{ signature: string }>(
    `SELECT oid::regprocedure::text AS signature FROM pg_proc
      WHERE pronamespace = 'pg_catalog'::regnamespace
        AND (proname ~ '^(pg_(try_)?advisory|lo_)'
             OR proname IN ('loread', 'lowrite', 'pg_notify', 'pg_logical_emit_message'))
        AND has_function_privilege($1, oid, 'EXECUTE')`,
    [analyst],
  );

/** Share of the notification queue that only a flood reaches: the service sends a few bytes per commit. */
const queueShareMax = 0.02;

/**
 * Ends all sessions of analysts if Postgres's notification queue fills up: an open transaction of a listening session prevents emptying the
 * queue, and the command NOTIFY cannot be revoked.
 *
 * @returns number of sessions ended
 * @throws Error if the service's own user may not end sessions
 */
export async function endNotificationFlood(sql: Sql, shareMax: number = queueShareMax): Promise<number> {
  const ended = await sql.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE usename = $1 AND (SELECT pg_notification_queue_usage()) > $2`,
    [analyst, shareMax],
  );
  return ended.length;
}
