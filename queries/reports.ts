/** Transactions and statistics for people. */
import type { PaymentTransaction } from '../domain/payment/transactions.ts';
import type { PaymentStatus } from '../domain/payment/view.ts';
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

// Overview for an app's owner: statistics of a period beside the previous one, and the progress of its payments.
// Reads only rollups.

export interface Overview {
  readonly stats: Stats;
  /** Previous period of the same length. */
  readonly before: Pick<Stats, 'volumeUsdc' | 'paymentCount'>;
  readonly created: CreatedPayments;
  readonly seenToPaidOut: Durations | null;
}

/** Payments created in the period, by current status. */
export interface CreatedPayments {
  readonly count: number;
  /** Funded: their payout is pending or done. */
  readonly paid: number;
  readonly expiredUnpaid: number;
  readonly byStatus: Readonly<Record<PaymentStatus, number>>;
}

/** Durations of payments paid out in the period: from the payin's block to the confirmed payout, in seconds rounded up to two digits. */
export interface Durations {
  readonly count: number;
  readonly median_s: number;
  /** 95th percentile. */
  readonly p95_s: number;
}

/** Costs the same for an app with a million payments: it reads hours and days. @throws Unavailable */
export async function getOverview(sql: Sql, appId: string, period: StatsPeriod, now: Instant): Promise<Overview> {
  const { before, from, until } = periodAt(period, now);
  const [stats, sums, created, seenToPaidOut] = await Promise.all([
    getStats(sql, appId, period, now),
    volumeOf(sql, appId, before, from),
    createdIn(sql, appId, from, until),
    durationsIn(sql, appId, from, until),
  ]);
  return { stats, before: sums, created, seenToPaidOut };
}

async function volumeOf(sql: Sql, appId: string, from: Instant, until: Instant): Promise<Overview['before']> {
  const [sums] = await sql.query<{ volume: string | null; count: string | null }>(
    'SELECT sum(volume) AS volume, sum(count) AS count FROM hourly_stats WHERE app_id = $1 AND hour >= $2 AND hour < $3',
    [appId, from, until],
  );
  return { volumeUsdc: decimalText(sums?.volume ?? '0'), paymentCount: Number(sums?.count ?? 0) };
}

type Column = PaymentStatus extends infer Status ? (Status extends `payment_${infer Short}` ? Short : never) : never;

async function createdIn(sql: Sql, appId: string, from: Instant, until: Instant): Promise<CreatedPayments> {
  const [sums] = await sql.query<Readonly<Record<Column, string | null>>>(
    `SELECT sum(unpaid) AS unpaid, sum(started) AS started, sum(payin_completed) AS payin_completed, sum(bridging) AS bridging,
            sum(payout_started) AS payout_started, sum(payout_completed) AS payout_completed, sum(completed) AS completed,
            sum(bounced) AS bounced, sum(expired) AS expired, sum(refunded) AS refunded
       FROM hourly_payments WHERE app_id = $1 AND hour >= $2 AND hour < $3`,
    [appId, from, until],
  );
  const of = (column: Column): number => Number(sums?.[column] ?? 0);
  const byStatus = {
    payment_unpaid: of('unpaid'),
    payment_started: of('started'),
    payment_payin_completed: of('payin_completed'),
    payment_bridging: of('bridging'),
    payment_payout_started: of('payout_started'),
    payment_payout_completed: of('payout_completed'),
    payment_completed: of('completed'),
    payment_bounced: of('bounced'),
    payment_expired: of('expired'),
    payment_refunded: of('refunded'),
  };
  return {
    count: Object.values(byStatus).reduce((sum, count) => sum + count, 0),
    paid: paidStatuses.reduce((sum, status) => sum + byStatus[status], 0),
    expiredUnpaid: byStatus.payment_expired,
    byStatus,
  };
}

const paidStatuses = [
  'payment_payin_completed',
  'payment_bridging',
  'payment_payout_started',
  'payment_payout_completed',
  'payment_completed',
] as const satisfies readonly PaymentStatus[];

async function durationsIn(sql: Sql, appId: string, from: Instant, until: Instant): Promise<Durations | null> {
  const [found] = await sql.query<{ count: string | null; median_s: number; p95_s: number }>(
    `SELECT max(total) AS count, min(seconds) FILTER (WHERE upto >= total * 0.5) AS median_s,
            min(seconds) FILTER (WHERE upto >= total * 0.95) AS p95_s
       FROM (SELECT seconds, sum(sum(count)) OVER (ORDER BY seconds) AS upto, sum(sum(count)) OVER () AS total
               FROM daily_durations WHERE app_id = $1 AND day >= $2 AND day < $3 GROUP BY seconds) AS counted`,
    [appId, from, until],
  );
  return found?.count ? { ...found, count: Number(found.count) } : null;
}
