/** Treasury operations besides payouts, and the treasury transactions that the log knows. */
import type { ChainId } from '../domain/chains.ts';
import type { Instant } from '../domain/time.ts';
import { keyOf, type TransferKey } from '../domain/transfer/shapes.ts';
import type { Sql } from '../projections/sql.ts';

/** Row for operators. Amounts in whole tokens or coins. */
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
  /** Transaction of the settled attempt, else of the latest signed one. */
  readonly txHash: string | null;
  readonly arrived: string | null;
  /** For a rebalance: its destination chain, and the transaction that arrived there. */
  readonly expectsChainId: ChainId | null;
  readonly arrivedTxHash: string | null;
}

/** Pending operations first, then the newest. @throws Unavailable */
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

/** Amount of a chain's coin that owed payouts and withdrawals need. */
export interface OwedCoin {
  /** Number of unsettled payouts with detected money, and of refunds: each costs its fee. */
  readonly payouts: number;
  /** Withdrawals of the coin itself, in whole coins. */
  readonly withdrawn: string;
}

/** @param but an operation to exclude. @throws Unavailable */
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

// Treasury transactions that the log knows, and transfers that are not done.

export interface Candidates {
  readonly chainId: ChainId;
  readonly hashes: readonly string[];
  /** Time at which the oldest of them landed, or earlier. */
  readonly since: Instant;
}

/** Hashes of landed or pending payouts, and of operations. @throws Unavailable */
export async function recordedHashes(sql: Sql, { chainId, hashes, since }: Candidates): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ hash: string }>(
    `SELECT payout_tx_hash AS hash FROM payments
      WHERE destination_chain_id = $1 AND payout_confirmed_at > $3 AND payout_tx_hash = ANY ($2)
     UNION
     SELECT payout_tx_hash FROM payments
      WHERE destination_chain_id = $1 AND status = 'payment_payout_started' AND payout_tx_hash = ANY ($2)
     UNION
     SELECT hash FROM operations, json_array_elements_text(tx_hashes) AS hash WHERE chain_id = $1 AND hash = ANY ($2)`,
    [chainId, hashes, since],
  );
  return new Set(rows.map(({ hash }) => hash));
}

/** Transfers with hashes missing in the rows: pending payouts, and other signed transfers not settled before. @throws Unavailable */
export async function transfersToAsk(
  sql: Sql,
  { chainId, since }: Omit<Candidates, 'hashes'>,
): Promise<readonly TransferKey[]> {
  const rows = await sql.query<{ reference: string }>(
    `SELECT reference FROM transfers
      WHERE chain_id = $1 AND signed AND ((settled_at IS NULL AND step <> 'done') OR (settled_at > $2 AND kind = 'refund'))
      LIMIT 10000`,
    [chainId, since],
  );
  return rows.map(({ reference }) => keyOf(reference));
}

/** Unfinished transfers of an asset. @param amount in whole tokens. @throws Unavailable */
export async function openTransfersOf(
  sql: Sql,
  { chainId, asset, amount }: { readonly chainId: ChainId; readonly asset: string; readonly amount: string },
): Promise<readonly TransferKey[]> {
  const rows = await sql.query<{ reference: string }>(
    `SELECT reference FROM transfers
      WHERE chain_id = $1 AND token_address = $2 AND amount = $3 AND settled_at IS NULL AND step <> 'done' LIMIT 1000`,
    [chainId, asset, amount],
  );
  return rows.map(({ reference }) => keyOf(reference));
}
