import { type ChainId, chains } from '../../domain/chains.ts';
import type { Instant } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';

export interface PayoutWait {
  readonly paymentId: string;
  readonly chainId: number;
  /** A stable code. */
  readonly reason: string;
  readonly message: string;
}

const messageMax = 1_000;

/**
 * Records why a payout waits, adds the time since the last record to the former reason, and deletes records older than a day. All parts of
 * the statement see the rows as they were before it. @throws Unavailable
 */
export async function notePayoutWait(
  sql: Sql,
  { paymentId, chainId, reason, message }: PayoutWait,
  at: Instant,
): Promise<void> {
  await sql.query(
    `WITH old AS (DELETE FROM ops.payout_waits WHERE noted_at < $5::timestamptz - interval '1 day' AND payment_id <> $1),
     before AS (SELECT reason, reason = $3 AS same, noted_at FROM ops.payout_waits WHERE payment_id = $1),
     ended AS (
       UPDATE ops.payout_waited AS h SET waited = h.waited + ($5 - before.noted_at)
         FROM before WHERE h.payment_id = $1 AND h.reason = before.reason AND NOT before.same),
     waited AS (
       INSERT INTO ops.payout_waited AS h (payment_id, reason, chain_id, first_at, last_at, waited, times)
       VALUES ($1, $3, $2, $5, $5, '0', 1)
       ON CONFLICT (payment_id, reason) DO UPDATE
          SET chain_id = excluded.chain_id, last_at = excluded.last_at,
              waited = h.waited + coalesce((SELECT excluded.last_at - noted_at FROM before WHERE same), '0'),
              times = h.times + CASE WHEN (SELECT same FROM before) THEN 0 ELSE 1 END)
     INSERT INTO ops.payout_waits AS w (payment_id, chain_id, reason, message, since, noted_at)
     VALUES ($1, $2, $3, $4, $5, $5)
     ON CONFLICT (payment_id) DO UPDATE
        SET chain_id = excluded.chain_id, message = excluded.message, noted_at = excluded.noted_at,
            since = CASE WHEN w.reason = excluded.reason THEN w.since ELSE excluded.since END, reason = excluded.reason`,
    [paymentId, chainId, reason, message.slice(0, messageMax), at],
  );
}

/** Reasons why the unsigned ones of these payments wait. @throws Unavailable */
export const payoutWaits = (sql: Sql, paymentIds: readonly string[]) =>
  sql.query<PayoutWait & { readonly since: Instant }>(
    `SELECT w.payment_id AS "paymentId", w.chain_id AS "chainId", w.reason, w.message, w.since
       FROM ops.payout_waits w JOIN transfers t ON t.reference = w.payment_id
      WHERE t.step = 'sign' AND w.payment_id = ANY ($1)`,
    [paymentIds],
  );

/** Payments whose payouts have waited for this reason at least since then, oldest first. @throws Unavailable */
export const payoutsWaitingSince = (sql: Sql, reason: string, since: Instant, max: number) =>
  sql.query<{ readonly paymentId: string; readonly chainId: ChainId }>(
    `SELECT w.payment_id AS "paymentId", w.chain_id AS "chainId"
       FROM ops.payout_waits w JOIN transfers t ON t.reference = w.payment_id
      WHERE t.kind = 'payout' AND t.step = 'sign' AND w.reason = $1 AND w.since <= $2
      ORDER BY w.since, w.payment_id LIMIT $3`,
    [reason, since, max],
  );

/** Transfers that are not signed, per chain and reason, with the start of the longest wait. @throws Unavailable */
export const countPayoutWaits = (sql: Sql) =>
  sql.query<{ readonly chainId: ChainId; readonly reason: string; readonly count: bigint; readonly since: Instant }>(
    `SELECT w.chain_id AS "chainId", w.reason, count(*) AS count, min(w.since) AS since
       FROM ops.payout_waits w JOIN transfers t ON t.reference = w.payment_id
      WHERE t.step = 'sign' GROUP BY 1, 2 ORDER BY since, 1, 2`,
  );

// Chains whose payouts must be paused before anything is signed: an older log would repeat payouts that it does not know.

/** All chains of the catalogue: the next start knows which ones are configured. */
export const notePayoutsToPause = (sql: Sql): Promise<unknown> =>
  sql.query('INSERT INTO ops.payouts_to_pause (chain_id) SELECT unnest($1::int[]) ON CONFLICT DO NOTHING', [
    chains.map(({ id }) => id),
  ]);

/** @throws Unavailable */
export async function arePayoutsToPause(sql: Sql, chainId: ChainId): Promise<boolean> {
  const rows = await sql.query('SELECT chain_id FROM ops.payouts_to_pause WHERE chain_id = $1', [chainId]);
  return rows.length > 0;
}

export const payoutsArePaused = (sql: Sql, chainId: ChainId): Promise<unknown> =>
  sql.query('DELETE FROM ops.payouts_to_pause WHERE chain_id = $1', [chainId]);
