/** Transfers to a shared address without a known memo. */
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';
import { decimalText } from './sql.ts';

export interface UnmatchedPayin {
  readonly id: string;
  readonly chainId: number;
  readonly txHash: string;
  readonly at: Instant;
  readonly from: string;
  readonly to: string;
  readonly memo: string | null;
  readonly tokenSymbol: string;
  readonly amount: string;
  readonly verdict: 'open' | 'assigned' | 'refundRequested';
  readonly paymentId: string | null;
  readonly refundAddress: string | null;
  readonly refundMemo: string | null;
  readonly refundReason: string | null;
}

/** What waits for a decision first, then what was decided; each newest first. @throws Unavailable */
export async function listUnmatched(sql: Sql, max: number): Promise<readonly UnmatchedPayin[]> {
  const rows = await sql.query<UnmatchedPayin>(
    `SELECT transfer_id AS id, chain_id AS "chainId", tx_hash AS "txHash", block_time AS at, from_address AS "from",
            to_address AS "to", memo, token_symbol AS "tokenSymbol", amount, verdict, payment_id AS "paymentId",
            refund_address AS "refundAddress", refund_memo AS "refundMemo", refund_reason AS "refundReason"
       FROM unmatched ORDER BY verdict <> 'open', seen_at DESC, transfer_id LIMIT $1`,
    [max],
  );
  return rows.map((row) => ({ ...row, amount: decimalText(row.amount) }));
}
