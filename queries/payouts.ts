/** What was paid out and what is still owed. */
import { type ChainId, chainOf, tokenAt } from '../domain/chains.ts';
import { parseAmount } from '../domain/money.ts';
import type { TokenRef } from '../domain/payment/events.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';
import type { PaymentKey } from './work.ts';

/** What is owed on a chain in a token: payments whose money has been seen, all of it, and whose payout is not settled. */
export interface Obligation {
  readonly chainId: number;
  readonly tokenAddress: string;
  /** Smallest units. */
  readonly amount: bigint;
}

/**
 * A started payment is owed only once the agreed amount has been seen: else a few units sent to each of many large payments
 * would bind the whole float.
 *
 * @throws Unavailable
 */
export async function openObligations(sql: Sql): Promise<readonly Obligation[]> {
  const sums = await sql.query<{ chainId: ChainId; tokenAddress: string; amount: string }>(
    `SELECT destination_chain_id AS "chainId", destination_token_address AS "tokenAddress", sum(destination_amount) AS amount
       FROM payments
      WHERE status IN ('payment_started', 'payment_payin_completed', 'payment_bridging', 'payment_payout_started')
        AND destination_amount IS NOT NULL
        AND (status <> 'payment_started' OR amount_received >= source_amount)
      GROUP BY 1, 2`,
  );
  return sums.map(({ chainId, tokenAddress, amount }) => ({
    chainId,
    tokenAddress,
    amount: inUnits(chainId, tokenAddress, amount),
  }));
}

export interface UnsettledPayouts {
  readonly chainId: ChainId;
  readonly token: TokenRef;
  /** Payments that are not counted. */
  readonly but: readonly string[];
}

/** What payouts that are signed and not settled take of a token on a chain, in smallest units. @throws Unavailable */
export async function signedAndUnsettled(sql: Sql, { chainId, token, but }: UnsettledPayouts): Promise<bigint> {
  const [sum] = await sql.query<{ amount: string }>(
    `SELECT coalesce(sum(destination_amount), 0) AS amount FROM payments
      WHERE destination_chain_id = $1 AND destination_token_address = $2
        AND status = 'payment_payout_started' AND payment_id <> ALL ($3)`,
    [chainId, token.address, but],
  );
  return inUnits(chainId, token.address, sum?.amount ?? '0');
}

function inUnits(chainId: ChainId, tokenAddress: string, amount: string): bigint {
  const token = tokenAt(chainOf(chainId), tokenAddress);
  const parsed = token && parseAmount(amount, token.decimals);
  if (typeof parsed !== 'bigint') throw new Error(`${amount} of ${tokenAddress} on chain ${chainId} is no amount`);
  return parsed;
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
