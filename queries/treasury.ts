/** What is done with the treasury's money besides paying out, and which of its transactions the log knows. */
import type { ChainId } from '../domain/chains.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';

/** As operators read it. Amounts in whole tokens or coins. */
export interface ListedOperation {
  readonly id: string;
  readonly kind: string;
  readonly chainId: ChainId;
  readonly tokenSymbol: string;
  readonly amount: string;
  readonly receiver: string;
  readonly receiverMemo: string | null;
  readonly standing: string;
  readonly reason: string;
  readonly orderedBy: string;
  readonly approvedBy: string | null;
  readonly orderedAt: Instant;
  /** Of the settled transaction, else of the latest one that was signed. */
  readonly txHash: string | null;
  readonly arrived: string | null;
  /** Of a rebalance: where its money is to arrive in the end, and the transaction that brought it there. */
  readonly expectsChainId: ChainId | null;
  readonly arrivedTxHash: string | null;
}

/** What is still under way first, then the newest. @throws Unavailable */
export const listOperations = (sql: Sql, max: number): Promise<readonly ListedOperation[]> =>
  sql.query(
    `SELECT operation_id AS id, kind, chain_id AS "chainId", token_symbol AS "tokenSymbol", amount,
            receiver_address AS receiver, receiver_memo AS "receiverMemo", standing, reason, ordered_by AS "orderedBy",
            approved_by AS "approvedBy", ordered_at AS "orderedAt", tx_hash AS "txHash", arrived,
            expects_chain_id AS "expectsChainId", arrived_tx_hash AS "arrivedTxHash"
       FROM operations
      ORDER BY standing IN ('waitsForApproval', 'ordered', 'signed') DESC, ordered_at DESC, operation_id DESC LIMIT $1`,
    [max],
  );

/** What payouts and withdrawals that are owed take of a chain's coin. */
export interface OwedCoin {
  /** Payouts whose money has been seen, and refunds, that are not settled: each costs its fee. */
  readonly payouts: number;
  /** What is to be withdrawn of the coin itself, in whole coins. */
  readonly withdrawn: string;
}

/** @param but an operation that is not counted. @throws Unavailable */
export async function owedCoin(sql: Sql, chainId: ChainId, but = ''): Promise<OwedCoin> {
  const [row] = await sql.query<{ payouts: bigint; withdrawn: string }>(
    `SELECT (SELECT count(*) FROM payments WHERE destination_chain_id = $1
              AND status IN ('payment_payin_completed', 'payment_bridging', 'payment_payout_started'))
            + (SELECT count(*) FROM transfers WHERE chain_id = $1 AND kind = 'refund' AND step <> 'done') AS payouts,
            (SELECT coalesce(sum(amount), 0) FROM operations WHERE chain_id = $1 AND token_address = 'coin' AND operation_id <> $2
              AND standing IN ('waitsForApproval', 'ordered', 'signed')) AS withdrawn`,
    [chainId, but],
  );
  return { payouts: Number(row?.payouts ?? 0n), withdrawn: row?.withdrawn ?? '0' };
}
