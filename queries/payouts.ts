/** Amounts paid out and still owed, and open refunds for operators. */
import { type ChainId, chainOf, tokenAt } from '../domain/chains.ts';
import { parseAmount } from '../domain/money.ts';
import type { RefundView } from '../domain/payment/view.ts';
import type { Sql } from '../projections/sql.ts';
import type { PaymentKey } from './work.ts';

/**
 * Owed amount of a token on a chain: for payments with detected full payment and no settled payout, and for unfinished refunds and
 * withdrawals.
 */
export interface Obligation {
  readonly chainId: number;
  readonly tokenAddress: string;
  /** Smallest units. */
  readonly amount: bigint;
}

/** Amount that open payments will pay out once they are paid. */
export interface Promised extends Obligation {
  /** App whose key created them; null for all that were created without a key. */
  readonly appId: string | null;
}

/** The whole agreed amount was detected on its chain, final or not. */
const seenInFull = `status = 'payment_started' AND amount_received >= source_amount`;

/** Payouts, refunds, and withdrawals of operators. @param but an operation to exclude. @throws Unavailable */
export async function openObligations(sql: Sql, but = ''): Promise<readonly Obligation[]> {
  const sums = await sql.query<Sum>(
    `SELECT "chainId", "tokenAddress", sum(amount) AS amount FROM (
       SELECT destination_chain_id AS "chainId", destination_token_address AS "tokenAddress", destination_amount AS amount
         FROM payments
        WHERE status IN ('payment_started', 'payment_payin_completed', 'payment_bridging', 'payment_payout_started')
          AND destination_amount IS NOT NULL
          AND (status <> 'payment_started' OR ${seenInFull})
       UNION ALL
       SELECT chain_id, token_address, amount FROM transfers WHERE kind IN ('refund', 'burn') AND step <> 'done' AND reference <> $1
       UNION ALL
       SELECT chain_id, token_address, amount FROM operations
        WHERE standing IN ('waitsForApproval', 'ordered', 'signed')
          AND kind IN ('withdrawal', 'rebalance') AND token_address <> 'coin' AND operation_id <> $1
     ) owed GROUP BY 1, 2`,
    [but],
  );
  return sums.map(inUnits);
}

/** Amounts that are not owed yet, because their money was not detected. @throws Unavailable */
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

/** Funded payments without a settled payout, oldest first. @throws Unavailable */
export const openPayouts = (sql: Sql, max: number): Promise<readonly PaymentKey[]> =>
  sql.query(
    `SELECT payment_id AS "paymentId" FROM payments
      WHERE status IN ('payment_payin_completed', 'payment_bridging', 'payment_payout_started')
      ORDER BY payin_confirmed_at LIMIT $1`,
    [max],
  );

// Refunds for operators.

export interface OpenRefund {
  readonly paymentId: string;
  readonly appId: string;
  readonly refund: RefundView;
}

/** Refunds that are not final on their chain, oldest first. @throws Unavailable */
export const openRefunds = (sql: Sql, max: number): Promise<readonly OpenRefund[]> =>
  sql.query<OpenRefund>(
    `SELECT payment_id AS "paymentId", app_id AS "appId", refund
       FROM payments, json_array_elements(refunds) AS refund
      WHERE json_array_length(refunds) > 0 AND refund ->> 'status' NOT IN ('completed', 'calledOff')
      ORDER BY refund ->> 'requestedAt', payment_id LIMIT $1`,
    [max],
  );

/** A refund of unmatched money. Amounts in whole tokens. */
export interface OpenUnmatchedRefund {
  readonly id: string;
  readonly standing: string;
  readonly amount: string;
  readonly tokenSymbol: string;
  readonly chainId: ChainId;
  readonly receiver: string;
  readonly txHash: string | null;
}

/** Refunds that are not final on their chain, oldest first. @throws Unavailable */
export const openUnmatchedRefunds = (sql: Sql, max: number): Promise<readonly OpenUnmatchedRefund[]> =>
  sql.query<OpenUnmatchedRefund>(
    `SELECT transfer_id AS id, refund_standing AS standing, refund_amount::text AS amount, token_symbol AS "tokenSymbol",
            chain_id AS "chainId", refund_address AS receiver, refund_tx_hash AS "txHash"
       FROM unmatched WHERE refund_standing <> 'done' ORDER BY decided_at, transfer_id LIMIT $1`,
    [max],
  );

export interface HeldPayment {
  readonly paymentId: string;
  readonly appId: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly amountReceived: string | null;
}

/** Ended payments with held money, oldest first. @throws Unavailable */
export const heldPayments = (sql: Sql, max: number): Promise<readonly HeldPayment[]> =>
  sql.query<HeldPayment>(
    `SELECT payment_id AS "paymentId", app_id AS "appId", status, error_code AS "errorCode",
            amount_received AS "amountReceived"
       FROM payments WHERE status = 'payment_bounced' ORDER BY updated_at, payment_id LIMIT $1`,
    [max],
  );
