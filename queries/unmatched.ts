/** Money that came without a known memo. */
import type { Instant } from '../domain/time.ts';
import { decimalText, type Sql } from './sql.ts';

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

/** Given to a payment that has not taken it up: what a crash left in the middle. Oldest first. @throws Unavailable */
export const unfinishedMatches = (
  sql: Sql,
  { worker, max, now }: { readonly worker: string; readonly max: number; readonly now: Instant },
): Promise<readonly { readonly id: string }[]> =>
  sql.query(
    `SELECT u.transfer_id AS id FROM unmatched u
      WHERE u.verdict = 'assigned'
        AND NOT EXISTS (SELECT FROM payins p WHERE p.payment_id = u.payment_id AND p.transfer_id = u.transfer_id)
        AND NOT EXISTS (SELECT FROM ops.work_failures f WHERE f.worker = $1 AND f.key = u.transfer_id
                           AND (f.parked_at IS NOT NULL OR f.next_attempt_at > $2))
      ORDER BY u.decided_at LIMIT $3`,
    [worker, now, max],
  );
