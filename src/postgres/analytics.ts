/** Creates schema `analytics`: views over the public ones, for analysts' queries, and the role that may run them. */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type ChainId, chains } from '../../domain/chains.ts';
import { coinAddress, coinOf, convert, usDollar } from '../../domain/money.ts';
import type { Sql, SqlDatabase } from '../../projections/sql.ts';

const lockTimeout_s = 3;
const file = new URL('../../projections/migrations/analytics.sql', import.meta.url);

/** Price of a whole coin in millionths of a dollar, if it is configured. */
export type CoinPrices = ReadonlyMap<ChainId, bigint>;

/** Identifies the views' text: a changed text recreates them. */
const fingerprint = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/**
 * Requires the public views. Does nothing if all is current, so a start waits for no analyst's query. Crash anywhere: it is one
 * transaction.
 * @param prices null: unchanged
 * @throws Error if somebody holds a needed lock for longer than some seconds
 */
export async function makeAnalytics(database: SqlDatabase, prices: CoinPrices | null): Promise<void> {
  const text = [assetsView(prices ?? (await pricesSoFar(database))), await readFile(file, 'utf8')].join('\n');
  const mark = `made from ${fingerprint(text)}`;
  const count = [...text.matchAll(/^CREATE OR REPLACE VIEW /gm)].length;
  if (await isMade(database, mark, count)) return;
  await database.transaction(async (tx) => {
    // The second of two concurrent starts finds it done. A longer lock by others must not delay a start.
    await tx.query(`SET LOCAL lock_timeout = '${lockTimeout_s}s'`);
    await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('analytics', 0))`);
    if (await isMade(tx, mark, count)) return;
    await endAnalysts(tx);
    await tx.query('DROP SCHEMA IF EXISTS analytics CASCADE');
    await tx.query('CREATE SCHEMA analytics');
    await tx.query(text);
    await tx.query(`COMMENT ON SCHEMA analytics IS '${mark}'`);
    await grantToAnalyst(tx);
  });
}

async function isMade(tx: Sql, mark: string, count: number): Promise<boolean> {
  const [made] = await tx.query<{ mark: string | null; views: number }>(
    `SELECT obj_description(oid) AS mark, (SELECT count(*)::int FROM pg_class WHERE relnamespace = n.oid AND relkind = 'v') AS views
       FROM pg_namespace n WHERE nspname = 'analytics'`,
  );
  return made?.mark === mark && made.views === count;
}

async function pricesSoFar(sql: Sql): Promise<CoinPrices> {
  const [there] = await sql.query(`SELECT 1 FROM pg_views WHERE schemaname = 'analytics' AND viewname = 'assets'`);
  if (!there) return new Map();
  const rows = await sql.query<{ id: ChainId; price: bigint }>(
    `SELECT chain_id AS id, (price_usd * 1000000)::bigint AS price FROM analytics.assets WHERE asset = $1 AND price_usd IS NOT NULL`,
    [coinAddress],
  );
  return new Map(rows.map(({ id, price }) => [id, price]));
}

/** Catalogue facts about coins and tokens, which no event contains. */
function assetsView(prices: CoinPrices): string {
  const rows = chains.flatMap(({ id, name, tokens }) => {
    const coin = coinOf(id);
    const price = prices.get(id);
    const usd = price === undefined ? 'NULL' : `${price}::numeric / 1000000`;
    return [
      `(${id}, '${name}', '${coinAddress}', '${coin.symbol}', ${coin.decimals}, ${usd})`,
      ...tokens.map(
        ({ address, symbol, decimals }) =>
          `(${id}, '${name}', '${address}', '${symbol}', ${decimals}, ${convert(10n ** BigInt(decimals), { symbol, decimals }, usDollar)}::numeric)`,
      ),
    ];
  });
  return `CREATE OR REPLACE VIEW analytics.assets (chain_id, chain, asset, symbol, decimals, price_usd) AS VALUES
  ${rows.join(',\n  ')};
COMMENT ON VIEW analytics.assets IS 'Coins and tokens of the catalogue.';
COMMENT ON COLUMN analytics.assets.asset IS '"coin" for the chain''s own, a token by its contract.';
COMMENT ON COLUMN analytics.assets.price_usd IS 'Price of a whole token or coin: a token counts as one dollar, a coin has the price COIN_PRICE_<chainId> of the last start; null for a chain that is not served.';
`;
}

const analyst = 'analyst';

/**
 * Ends analysts' open transactions, so that views can be switched at once. If that is not allowed, their statements end by their own
 * timeout.
 */
export const endAnalysts = (sql: Sql): Promise<unknown> =>
  sql.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE usename = $1 AND datname = current_database() AND pg_has_role(usename, 'MEMBER')`,
    [analyst],
  );

/** Grants read access, if the role exists. */
async function grantToAnalyst(tx: Sql): Promise<void> {
  const [role] = await tx.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [analyst]);
  if (!role) return;
  await tx.query(`GRANT USAGE ON SCHEMA analytics TO ${analyst}`);
  await tx.query(`GRANT SELECT ON ALL TABLES IN SCHEMA analytics TO ${analyst}`);
}

// The role `analyst`: reads schema `analytics` and nothing else.

/** Timeout of a statement, and of an idle transaction: the longest time that an analyst can delay a rebuild. */
const statementTimeout_s = 60;
const analystLockTimeout_s = 5;
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
  ['lock_timeout', `'${analystLockTimeout_s}s'`],
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
