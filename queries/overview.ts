/** Overview for an app's owner: statistics of a period beside the previous one, and the progress of its payments. Reads only rollups. */
import type { PaymentStatus } from '../domain/payment/view.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';
import { getStats, periodAt, type Stats, type StatsPeriod } from './reports.ts';
import { decimalText } from './sql.ts';

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
