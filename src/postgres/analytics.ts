/** Creates schema `analytics`: views over the public ones, for analysts' queries. */
import { createHash } from 'node:crypto';
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

export const analyst = 'analyst';

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
export async function grantToAnalyst(tx: Sql): Promise<void> {
  const [role] = await tx.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [analyst]);
  if (!role) return;
  await tx.query(`GRANT USAGE ON SCHEMA analytics TO ${analyst}`);
  await tx.query(`GRANT SELECT ON ALL TABLES IN SCHEMA analytics TO ${analyst}`);
}
