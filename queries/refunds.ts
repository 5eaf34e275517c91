/** Refunds for operators. */
import type { ChainId } from '../domain/chains.ts';
import type { RefundView } from '../domain/payment/view.ts';
import type { Sql } from '../projections/sql.ts';

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
