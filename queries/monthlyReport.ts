/** Questions of a monthly report: their SQL, run in one read-only transaction. */

import type { Instant } from '../domain/time.ts';
import type { Sql, SqlDatabase } from '../projections/sql.ts';

/**
 * Queries of a report, one per plot. The page prints each beside its plot, so a reader can run it again. Tokens count as dollars, as
 * everywhere here.
 *
 * $1 and $2 are the first moments of the month and of the next one, $3 an app or null for all.
 */

export interface Question {
  readonly id: 'volume' | 'funnel' | 'durations' | 'fees' | 'held';
  readonly sql: string;
  /** Parameters besides the month and the app. */
  readonly also: readonly ('prices' | 'now')[];
}

const ofApp = '($3::text IS NULL OR app_id = $3)';

const volume: Question = {
  id: 'volume',
  also: [],
  sql: `SELECT to_char(day AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
       coalesce(sum(count), 0)::bigint AS payments,
       coalesce(sum(volume), 0) AS volume,
       coalesce(sum(net), 0) AS paid_out,
       coalesce(sum(refunded), 0) AS refunded
  FROM generate_series($1::timestamptz, $2::timestamptz - interval '1 day', interval '1 day') AS day
  LEFT JOIN hourly_stats
    ON hour >= day AND hour < day + interval '1 day' AND hour >= $1 AND hour < $2 AND ${ofApp}
 GROUP BY day
 ORDER BY day`,
};

/** Payments created in the month, by current status. */
const funnel: Question = {
  id: 'funnel',
  also: [],
  sql: `SELECT stage, payments, round(100.0 * payments / nullif(created, 0), 1) AS percent
  FROM (SELECT count(*) AS created,
               count(payin_seen_at) AS seen,
               count(payin_confirmed_at) AS funded,
               count(payout_confirmed_at) AS paid_out,
               count(*) FILTER (WHERE status = 'payment_expired') AS expired,
               count(*) FILTER (WHERE status IN ('payment_bounced', 'payment_refunded')) AS bounced
          FROM payments
         WHERE created_at >= $1 AND created_at < $2 AND refund_of IS NULL AND ${ofApp}) AS counted,
       LATERAL (VALUES (1, 'created', created), (2, 'seen', seen), (3, 'funded', funded), (4, 'paid_out', paid_out),
                       (5, 'expired', expired), (6, 'bounced', bounced)) AS stages (place, stage, payments)
 ORDER BY place`,
};

/** Payments paid out in the month: from the payin's block to the confirmed payout. */
const durations: Question = {
  id: 'durations',
  also: [],
  sql: `SELECT above_s, up_to_s,
       coalesce(sum(count), 0)::bigint AS payments,
       round(100 * sum(coalesce(sum(count), 0)) OVER (ORDER BY place) / nullif(sum(sum(count)) OVER (), 0), 1) AS within_percent
  FROM (VALUES (1, NULL, 5), (2, 5, 10), (3, 10, 20), (4, 20, 30), (5, 30, 60), (6, 60, 120),
               (7, 120, 300), (8, 300, 900), (9, 900, 3600), (10, 3600, NULL)) AS ranges (place, above_s, up_to_s)
  LEFT JOIN daily_durations
    ON (above_s IS NULL OR seconds > above_s) AND (up_to_s IS NULL OR seconds <= up_to_s)
   AND day >= $1 AND day < $2 AND ${ofApp}
 GROUP BY place, above_s, up_to_s
 ORDER BY place`,
};

/**
 * Payments paid out in the month, by route, with their share of their payouts' transaction costs; and, for all apps, other transaction
 * costs.
 */
const fees: Question = {
  id: 'fees',
  also: ['prices'],
  sql: `WITH price AS (
  SELECT key::integer AS chain_id, (value ->> 'usd')::numeric / 10::numeric ^ (value ->> 'decimals')::integer AS usd
    FROM json_each($4::json)
), transaction AS (
  SELECT chain_id, tx_hash, min(kind) AS kind, min(at) AS at, -sum(amount) * min(usd) AS cost
    FROM treasury_movements JOIN price USING (chain_id)
   WHERE asset = 'coin' AND part IN ('fee', 'rent')
   GROUP BY chain_id, tx_hash
), payout AS (
  SELECT app_id, source_chain_id, destination_chain_id, source_amount, source_fee,
         transaction.cost / count(*) OVER (PARTITION BY destination_chain_id, payout_tx_hash) AS cost
    FROM payments
    LEFT JOIN transaction ON chain_id = destination_chain_id AND tx_hash = payout_tx_hash
   WHERE payout_confirmed_at >= $1 AND payout_confirmed_at < $2
), other AS (
  SELECT kind, chain_id, count(*) AS transactions, sum(cost) AS cost
    FROM transaction
   WHERE $3::text IS NULL AND at >= $1 AND at < $2
     AND NOT EXISTS (SELECT FROM payments WHERE destination_chain_id = chain_id AND payout_tx_hash = tx_hash)
   GROUP BY kind, chain_id
)
SELECT what, source_chain_id, destination_chain_id, payments, volume, fees, round(cost, 4) AS cost, fees - round(cost, 4) AS profit
  FROM (SELECT 'route' AS what, source_chain_id, destination_chain_id, count(*) AS payments, sum(source_amount) AS volume,
               sum(source_fee) AS fees, coalesce(sum(cost), 0) AS cost
          FROM payout WHERE ${ofApp}
         GROUP BY source_chain_id, destination_chain_id
        UNION ALL
        SELECT kind, chain_id, NULL, transactions, 0, 0, cost FROM other) AS spent
 ORDER BY what <> 'route', fees DESC, cost DESC, source_chain_id, destination_chain_id`,
};

/** For an app's people: fees by route, without the operator's costs. */
const routes: Question = {
  id: 'fees',
  also: [],
  sql: `SELECT 'route' AS what, source_chain_id, destination_chain_id, count(*) AS payments, sum(source_amount) AS volume,
       sum(source_fee) AS fees
  FROM payments
 WHERE payout_confirmed_at >= $1 AND payout_confirmed_at < $2 AND refund_of IS NULL AND app_id = $3
 GROUP BY source_chain_id, destination_chain_id
 ORDER BY fees DESC, source_chain_id, destination_chain_id`,
};

/** For an app's people: money of its payments that is held now, without a scan of all payins. */
const heldOfApp: Question = {
  id: 'held',
  also: ['now'],
  sql: `WITH held AS (
  SELECT coalesce(error_code, 'excess') AS reason, (part ->> 'amount')::numeric AS amount,
         $4::timestamptz - coalesce(payin_confirmed_at, updated_at) AS age
    FROM payments, json_array_elements(held) AS part
   WHERE app_id = $3 AND held IS NOT NULL AND created_at < $2 AND $1::timestamptz < $2
)
SELECT reason, count(*) AS payments,
       coalesce(sum(amount) FILTER (WHERE age < interval '1 day'), 0) AS under_a_day,
       coalesce(sum(amount) FILTER (WHERE age >= interval '1 day' AND age < interval '7 days'), 0) AS under_a_week,
       coalesce(sum(amount) FILTER (WHERE age >= interval '7 days' AND age < interval '30 days'), 0) AS under_30_days,
       coalesce(sum(amount) FILTER (WHERE age >= interval '30 days'), 0) AS older,
       sum(amount) AS amount
  FROM held
 GROUP BY reason
 ORDER BY amount DESC, reason`,
};

/** Current state: received money that is neither paid out nor being refunded; for all apps also unmatched money. */
const held: Question = {
  id: 'held',
  also: ['now'],
  sql: `WITH held AS (
  SELECT reason, amount, $4::timestamptz - since AS age
    FROM analytics.held_money
   WHERE created_at < $2 AND $1::timestamptz < $2 AND ${ofApp}
)
SELECT reason, count(*) AS payments,
       coalesce(sum(amount) FILTER (WHERE age < interval '1 day'), 0) AS under_a_day,
       coalesce(sum(amount) FILTER (WHERE age >= interval '1 day' AND age < interval '7 days'), 0) AS under_a_week,
       coalesce(sum(amount) FILTER (WHERE age >= interval '7 days' AND age < interval '30 days'), 0) AS under_30_days,
       coalesce(sum(amount) FILTER (WHERE age >= interval '30 days'), 0) AS older,
       sum(amount) AS amount
  FROM held
 GROUP BY reason
 ORDER BY amount DESC, reason`,
};

export const questions = { volume, funnel, durations, fees, held } as const;

/** Price of a coin in dollars, by chain, from the service's configuration. */
export type ReportCoinPrices = Readonly<Record<string, { readonly decimals: number; readonly usd: string }>>;

export interface About {
  readonly month: Month;
  /** Null for all apps. */
  readonly appId: string | null;
  readonly prices: ReportCoinPrices;
  readonly now: Instant;
}

/** Numbers as Postgres prints them; amounts are never a JavaScript number. */
export type AnswerRow = Readonly<Record<string, string | null>>;

export interface QuestionAnswer {
  readonly sql: string;
  readonly parameters: readonly (string | null)[];
  readonly rows: readonly AnswerRow[];
}

export type Answers = Readonly<Record<Question['id'], QuestionAnswer>>;

/** @throws Unavailable */
export function askAll(database: SqlDatabase, about: About): Promise<Answers> {
  return database.transaction(async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const answers: Partial<Record<Question['id'], QuestionAnswer>> = {};
    for (const question of Object.values(questions)) answers[question.id] = await ask(tx, question, about);
    return answers as Answers;
  });
}

/** The month of one app for its own people. Each question has the timeout of a request. @throws Unavailable */
export async function askForApp(sql: Sql, about: About & { readonly appId: string }): Promise<Answers> {
  const answers: Partial<Record<Question['id'], QuestionAnswer>> = {};
  for (const question of [volume, funnel, durations, routes, heldOfApp])
    answers[question.id] = await ask(sql, question, about);
  return answers as Answers;
}

async function ask(tx: Sql, { sql, also }: Question, { month, appId, prices, now }: About): Promise<QuestionAnswer> {
  const more = { prices: JSON.stringify(prices), now };
  const parameters = [month.from, month.to, appId, ...also.map((name) => more[name])];
  const rows = await tx.query<Readonly<Record<string, unknown>>>(sql, parameters);
  return { sql, parameters, rows: rows.map(asText) };
}

const asText = (row: Readonly<Record<string, unknown>>): AnswerRow =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]));

/** A calendar month in UTC. */
export interface Month {
  /** `2026-11` */
  readonly name: string;
  /** `November 2026` */
  readonly title: string;
  readonly from: Instant;
  /** First moment of the next month. */
  readonly to: Instant;
}

const names = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];

/** @param text `2026-11`. @returns undefined if it is no month */
export function monthNamed(text: string): Month | undefined {
  const [, year, month] = /^(20\d\d)-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined || month === undefined) return undefined;
  const [y, m] = [Number(year), Number(month)];
  return {
    name: text,
    title: `${names[m - 1]} ${y}`,
    from: firstMoment(y, m),
    to: m === 12 ? firstMoment(y + 1, 1) : firstMoment(y, m + 1),
  };
}

const firstMoment = (year: number, month: number): Instant =>
  `${year}-${String(month).padStart(2, '0')}-01T00:00:00.000Z` as Instant;

/** Sums of decimal texts, exactly. */

const scale = 30;

const scaled = (text: string): bigint => {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,30}))?$/.exec(text) ?? [];
  if (whole === '') throw new Error(`${text} is not a decimal number`);
  return BigInt(`${sign}${whole}${fraction.padEnd(scale, '0')}`);
};

/** Without trailing zeros; `0` for no rows. */
export function exactSum(texts: readonly string[]): string {
  const sum = texts.reduce((total, text) => total + scaled(text), 0n);
  const digits = (sum < 0n ? -sum : sum).toString().padStart(scale + 1, '0');
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -scale)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Rounded to a number of printed places; halves away from zero. */
export function roundedTo(text: string, places: number): string {
  const unit = 10n ** BigInt(scale - places);
  const value = scaled(text);
  const size = value < 0n ? -value : value;
  const digits = ((size + unit / 2n) / unit).toString().padStart(places + 1, '0');
  const sign = value < 0n && /[1-9]/.test(digits) ? '-' : '';
  return `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}
