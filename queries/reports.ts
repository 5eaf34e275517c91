/** Transactions and statistics for people. */
import type { PaymentTransaction } from '../domain/payment/transactions.ts';
import { hour_ms, type Instant, plus } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';
import { decimalText } from './sql.ts';

/** Transfers of a payment on its chains, oldest first. @throws Unavailable */
export async function listTransactions(sql: Sql, paymentId: string): Promise<readonly PaymentTransaction[]> {
  const rows = await sql.query<Omit<PaymentTransaction, 'index'> & { readonly index: bigint }>(
    `SELECT kind, chain_id AS "chainId", tx_hash AS "txHash", index, status, standing, token_symbol AS "tokenSymbol",
            token_address AS "tokenAddress", amount, from_address AS "fromAddress", to_address AS "toAddress",
            block_number AS "blockNumber", block_hash AS "blockHash", at
       FROM transactions WHERE payment_id = $1
      ORDER BY kind, at, chain_id, tx_hash, index`,
    [paymentId],
  );
  return rows.map((row) => ({ ...row, index: Number(row.index) }));
}

export type StatsPeriod = 'today' | '7d' | '30d';

export interface Stats {
  readonly period: StatsPeriod;
  /** Sum of accepted source amounts; USDT counts as USDC. */
  readonly volumeUsdc: string;
  readonly paymentCount: number;
  /** With 6 decimals. */
  readonly avgOrderUsdc: string;
  /** Sum of destination amounts. */
  readonly netToWalletUsdc: string;
  /** Sum of refunds that became final in the period, without network fees. */
  readonly refundedUsdc: string;
  /** One entry per UTC day of the period, empty ones included. */
  readonly chart: readonly { readonly date: string; readonly volumeUsdc: string; readonly paymentCount: number }[];
}

interface Sums {
  /** Null for the whole period. */
  readonly date: string | null;
  readonly volume: string;
  readonly net: string;
  readonly refunded: string;
  readonly count: string;
  readonly average: string | null;
}

const days: Readonly<Record<StatsPeriod, number>> = { today: 1, '7d': 7, '30d': 30 };
const day_ms = 24 * hour_ms;

export interface PeriodBounds {
  /** Start of the previous period of the same length. */
  readonly before: Instant;
  readonly from: Instant;
  /** End of today, exclusive. */
  readonly until: Instant;
}

/** Whole UTC days, ending with today. */
export function periodAt(period: StatsPeriod, now: Instant): PeriodBounds {
  const until = plus(`${now.slice(0, 10)}T00:00:00.000Z` as Instant, day_ms);
  const length_ms = days[period] * day_ms;
  return { before: plus(until, -2 * length_ms), from: plus(until, -length_ms), until };
}

/** An app's payments by the UTC day of their confirmed payout, up to today. @throws Unavailable */
export async function getStats(sql: Sql, appId: string, period: StatsPeriod, now: Instant): Promise<Stats> {
  const { from, until } = periodAt(period, now);
  const dates = Array.from({ length: days[period] }, (_, day) => plus(from, day * day_ms).slice(0, 10));
  const sums = await sql.query<Sums>(
    `SELECT to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS date, sum(volume) AS volume, sum(net) AS net,
            sum(refunded) AS refunded, sum(count) AS count, round(sum(volume) / nullif(sum(count), 0), 6) AS average
       FROM hourly_stats
      WHERE app_id = $1 AND hour >= $2 AND hour < $3
      GROUP BY GROUPING SETS ((1), ())`,
    [appId, from, until],
  );
  const byDate = new Map(sums.map((row) => [row.date, row]));
  const whole = byDate.get(null);
  return {
    period,
    volumeUsdc: decimalText(whole?.volume ?? '0'),
    paymentCount: Number(whole?.count ?? 0),
    avgOrderUsdc: decimalText(whole?.average ?? '0'),
    netToWalletUsdc: decimalText(whole?.net ?? '0'),
    refundedUsdc: decimalText(whole?.refunded ?? '0'),
    chart: dates.map((date) => {
      const day = byDate.get(date);
      return { date, volumeUsdc: decimalText(day?.volume ?? '0'), paymentCount: Number(day?.count ?? 0) };
    }),
  };
}
