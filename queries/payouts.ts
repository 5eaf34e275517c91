/** What was paid out and what is still owed. */
import { type ChainId, chainOf, tokenAt } from '../domain/chains.ts';
import { parseAmount } from '../domain/money.ts';
import type { Instant } from '../domain/time.ts';
import type { AssetRef } from '../domain/transfer/shapes.ts';
import type { Sql } from '../projections/sql.ts';
import type { PaymentKey } from './work.ts';

/**
 * What is owed on a chain in a token: to payments whose money has been seen, all of it, and whose payout is not settled; and to withdrawals
 * that are not done.
 */
export interface Obligation {
  readonly chainId: number;
  readonly tokenAddress: string;
  /** Smallest units. */
  readonly amount: bigint;
}

/** What open payments will be paid out once they are paid. */
export interface Promised extends Obligation {
  /** Whose key created them; null for all that were created without one. */
  readonly appId: string | null;
}

/** Seen on its chain, if not final: all that was agreed. */
const seenInFull = `status = 'payment_started' AND amount_received >= source_amount`;

/** Payouts, and what operators are to be sent. @param but an operation that is not counted. @throws Unavailable */
export async function openObligations(sql: Sql, but = ''): Promise<readonly Obligation[]> {
  const sums = await sql.query<Sum>(
    `SELECT "chainId", "tokenAddress", sum(amount) AS amount FROM (
       SELECT destination_chain_id AS "chainId", destination_token_address AS "tokenAddress", destination_amount AS amount
         FROM payments
        WHERE status IN ('payment_started', 'payment_payin_completed', 'payment_bridging', 'payment_payout_started')
          AND destination_amount IS NOT NULL
          AND (status <> 'payment_started' OR ${seenInFull})
       UNION ALL
       SELECT chain_id, token_address, amount FROM operations
        WHERE standing IN ('waitsForApproval', 'ordered', 'signed')
          AND kind IN ('withdrawal', 'rebalance') AND token_address <> 'coin' AND operation_id <> $1
     ) owed GROUP BY 1, 2`,
    [but],
  );
  return sums.map(inUnits);
}

/** What is not owed yet, because its money has not been seen. @throws Unavailable */
export async function openPromises(sql: Sql): Promise<readonly Promised[]> {
  const sums = await sql.query<Sum & { readonly appId: string | null }>(
    `SELECT destination_chain_id AS "chainId", destination_token_address AS "tokenAddress",
            CASE WHEN keyless THEN NULL ELSE app_id END AS "appId", sum(destination_amount) AS amount
       FROM payments
      WHERE status IN ('payment_unpaid', 'payment_started') AND destination_amount IS NOT NULL AND NOT (${seenInFull})
      GROUP BY 1, 2, 3`,
  );
  return sums.map((sum) => ({ ...inUnits(sum), appId: sum.appId }));
}

interface Sum {
  readonly chainId: ChainId;
  readonly tokenAddress: string;
  readonly amount: string;
}

function inUnits({ chainId, tokenAddress, amount }: Sum): Obligation {
  const token = tokenAt(chainOf(chainId), tokenAddress);
  const parsed = token && parseAmount(amount, token.decimals);
  if (typeof parsed !== 'bigint') throw new Error(`${amount} of ${tokenAddress} on chain ${chainId} is no amount`);
  return { chainId, tokenAddress, amount: parsed };
}

export interface RecentPayout extends PaymentKey {
  readonly chainId: ChainId;
  readonly appId: string;
  readonly tokenAddress: string;
  /** In whole tokens. */
  readonly amount: string;
  /** When it was settled; null while it is not. */
  readonly settledAt: Instant | null;
}

/** Payouts that are signed and not settled, and those that were settled after `since`, the newest first. @throws Unavailable */
export const recentPayouts = (sql: Sql, { since, max }: { readonly since: Instant; readonly max: number }) =>
  sql.query<RecentPayout>(
    `SELECT payment_id AS "paymentId", destination_chain_id AS "chainId", app_id AS "appId",
            destination_token_address AS "tokenAddress", destination_amount AS amount, payout_confirmed_at AS "settledAt"
       FROM payments
      WHERE status = 'payment_payout_started' OR payout_confirmed_at > $1
      ORDER BY payout_confirmed_at DESC NULLS FIRST LIMIT $2`,
    [since, max],
  );

export interface UnsettledPayouts {
  readonly chainId: ChainId;
  readonly token: AssetRef;
  /** Payments that are not counted. */
  readonly but: readonly string[];
}

/** What payouts that are signed, and can land and are not settled, take of a token on a chain, in smallest units. @throws Unavailable */
export async function signedAndUnsettled(sql: Sql, { chainId, token, but }: UnsettledPayouts): Promise<bigint> {
  const [sum] = await sql.query<{ amount: string }>(
    `SELECT coalesce(sum(destination_amount), 0) AS amount FROM payments
      WHERE destination_chain_id = $1 AND destination_token_address = $2
        AND status = 'payment_payout_started' AND payment_id <> ALL ($3)
        AND NOT EXISTS (SELECT FROM todo_payments t WHERE t.payment_id = payments.payment_id AND t.step = 'hold')`,
    [chainId, token.address, but],
  );
  return inUnits({ chainId, tokenAddress: token.address, amount: sum?.amount ?? '0' }).amount;
}

/** Payments that are funded and whose payout is not settled, the oldest first. @throws Unavailable */
export const openPayouts = (sql: Sql, max: number): Promise<readonly PaymentKey[]> =>
  sql.query(
    `SELECT payment_id AS "paymentId" FROM payments
      WHERE status IN ('payment_payin_completed', 'payment_bridging', 'payment_payout_started')
      ORDER BY payin_confirmed_at LIMIT $1`,
    [max],
  );

/** Payments whose payout on a chain was confirmed after `since`, oldest first. @throws Unavailable */
export const settledPayouts = (
  sql: Sql,
  { chainId, since, max }: { readonly chainId: number; readonly since: Instant; readonly max: number },
): Promise<readonly PaymentKey[]> =>
  sql.query(
    `SELECT payment_id AS "paymentId" FROM payments
      WHERE destination_chain_id = $1 AND payout_confirmed_at > $2 ORDER BY payout_confirmed_at LIMIT $3`,
    [chainId, since, max],
  );
