/** Recorded payins and the payments that wait for theirs. */
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';

/** A recorded payin. Its payment's stream decides what is done about it. */
export interface RecordedPayin {
  readonly paymentId: string;
  readonly appId: string;
  readonly transferId: string;
  readonly txHash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  /** Whether its own amount or the agreed one reaches the limit. */
  readonly large: boolean;
}

const recorded = `SELECT payment_id AS "paymentId", app_id AS "appId", transfer_id AS "transferId", tx_hash AS "txHash",
  block_number::bigint AS "blockNumber", block_hash AS "blockHash", coalesce(amount >= $2::numeric OR coalesce(agreed_usd, 0) >= $2, false) AS large FROM payins`;

/** Payins of a chain that were recorded in one of these blocks. @throws Unavailable */
export const payinsInBlocks = (
  sql: Sql,
  chainId: number,
  blockHashes: readonly string[],
  largeFrom_usd: bigint | null,
): Promise<readonly RecordedPayin[]> =>
  sql.query(`${recorded} WHERE chain_id = $1 AND block_hash = ANY ($3)`, [chainId, largeFrom_usd, blockHashes]);

/** Detected, not confirmed and not orphaned, in blocks up to `upTo`; oldest first. @throws Unavailable */
export const pendingPayins = (
  sql: Sql,
  chainId: number,
  upTo: bigint,
  largeFrom_usd: bigint | null,
): Promise<readonly RecordedPayin[]> =>
  sql.query(`${recorded} WHERE chain_id = $1 AND phase = 'detected' AND block_number <= $3 ORDER BY block_number`, [
    chainId,
    largeFrom_usd,
    upTo,
  ]);

/** When the oldest payment was created that still waits for its money; null when none does. @throws Unavailable */
export async function oldestOpenPayment(sql: Sql): Promise<Instant | null> {
  const [oldest] = await sql.query<{ created_at: Instant }>(
    `SELECT created_at FROM payments WHERE status IN ('payment_unpaid', 'payment_started') ORDER BY created_at LIMIT 1`,
  );
  return oldest?.created_at ?? null;
}

/** What a scan of a chain need not ask again until the read models change. */
export interface ExpectedOfChain {
  /** The oldest block that holds a payin which is detected and not confirmed; null when there is none. */
  readonly oldestPending: bigint | null;
  /** When the next payment expires by the chain's time, from `after` on; null when none does. */
  readonly nextExpiry: Instant | null;
}

/** @throws Unavailable */
export async function expectedOfChain(sql: Sql, chainId: number, after: Instant): Promise<ExpectedOfChain> {
  const [expected] = await sql.query<ExpectedOfChain>(
    `SELECT (SELECT min(block_number)::bigint FROM payins WHERE chain_id = $1 AND phase = 'detected') AS "oldestPending",
            (SELECT min(due_at) FROM todo_payments WHERE chain_id = $1 AND step = 'expire' AND due_at >= $2) AS "nextExpiry"`,
    [chainId, after],
  );
  return expected ?? { oldestPending: null, nextExpiry: null };
}
