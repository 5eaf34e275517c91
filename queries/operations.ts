/** Facts for operators and probes: read models, scans and failed work. */
import type { Pass } from '../commands/chainPorts.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';

/** Facts about the read side, judged elsewhere. */
export interface ReadModelFacts {
  readonly sets: readonly {
    readonly set: string;
    readonly position: bigint | null;
    readonly events: bigint;
    readonly updatedAt: Instant;
    /** Reason of the set's stop; null while it runs. */
    readonly stopped: string | null;
  }[];
  /** Oldest due payment; null if none is due. */
  readonly oldestDuePayment: Instant | null;
  readonly oldestDueWebhook: Instant | null;
  /** Transfers that must not be signed: their money left its chain, an operator holds them, or less arrived than was ordered. */
  readonly held: bigint;
  /** Number of parked items per worker, which wait for an operator. */
  readonly parked: readonly { readonly worker: string; readonly count: bigint }[];
}

/** @throws Unavailable */
export async function readModelFacts(sql: Sql, now: Instant): Promise<ReadModelFacts> {
  const [sets, [payment], [webhook], [held], parked] = await Promise.all([
    sql.query<ReadModelFacts['sets'][number]>(
      `SELECT set_name AS set, position, events, updated_at AS "updatedAt", stopped
         FROM ops.projections WHERE status = 'active' ORDER BY set_name`,
    ),
    sql.query<{ at: Instant | null }>(
      `SELECT least((SELECT min(due_at) FROM todo_payments WHERE due_at <= $1),
                    (SELECT min(due_at) FROM transfers WHERE step IN ('order', 'sign', 'broadcast', 'tell', 'batched', 'hold'))) AS at`,
      [now],
    ),
    sql.query<{ at: Instant | null }>('SELECT min(created_at) AS at FROM todo_webhooks'),
    sql.query<{ count: bigint }>("SELECT count(*) AS count FROM transfers WHERE step = 'hold'"),
    sql.query<ReadModelFacts['parked'][number]>(
      'SELECT worker, count(*) AS count FROM ops.work_failures WHERE parked_at IS NOT NULL GROUP BY worker ORDER BY worker',
    ),
  ]);
  const [oldestDuePayment, oldestDueWebhook] = [payment?.at ?? null, webhook?.at ?? null];
  return { sets, oldestDuePayment, oldestDueWebhook, held: held?.count ?? 0n, parked };
}

/** Chain time up to which a pass has scanned. */
export interface ScannedPass {
  readonly chainId: number;
  readonly pass: Pass;
  readonly chainTime: Instant;
}

/** @throws Unavailable */
export const scannedPasses = (sql: Sql): Promise<readonly ScannedPass[]> =>
  sql.query('SELECT chain_id AS "chainId", pass, chain_time AS "chainTime" FROM ops.chain_cursors');

export interface FailedWork {
  readonly worker: string;
  readonly key: string;
  readonly attempts: number;
  readonly since: Instant;
  readonly parked: boolean;
  readonly error: string;
}

/** Number of a worker's failed items, waiting or parked. @throws Unavailable */
export async function countFailed(sql: Sql, worker: string): Promise<number> {
  const [row] = await sql.query<{ count: bigint }>(
    'SELECT count(*) AS count FROM ops.work_failures WHERE worker = $1',
    [worker],
  );
  return Number(row?.count ?? 0n);
}

/** Parked items first, then those that wait for their next attempt; each newest first. @throws Unavailable */
export const failedWork = (
  sql: Sql,
  { max, errorCharacters }: { readonly max: number; readonly errorCharacters: number },
): Promise<readonly FailedWork[]> =>
  sql.query(
    `SELECT worker, key, attempts, failed_at AS since, parked_at IS NOT NULL AS parked, left(last_error, $1) AS error
       FROM ops.work_failures ORDER BY parked DESC, failed_at DESC LIMIT $2`,
    [errorCharacters, max],
  );

/** A possible payin whose transaction cannot be parsed as nodes return it. */
export interface UnreadableTransaction {
  readonly worker: string;
  readonly txHash: string;
  readonly block: string;
  readonly seenAt: Instant;
  readonly attempts: number;
  /** Null once it waits for an operator. */
  readonly nextAttempt: Instant | null;
  readonly addresses: readonly string[];
  readonly evidence: string;
  readonly lastError: string;
}

/** Transactions that wait for an operator first, then the oldest. @throws Unavailable */
export const unreadableTransactions = (sql: Sql, max: number): Promise<readonly UnreadableTransaction[]> =>
  sql.query(
    `SELECT worker, key AS "txHash", u.block_number AS block, u.seen_at AS "seenAt", f.attempts,
            CASE WHEN f.parked_at IS NULL THEN f.next_attempt_at END AS "nextAttempt", u.addresses, u.evidence,
            f.last_error AS "lastError"
       FROM ops.unreadable_transactions u JOIN ops.work_failures f USING (worker, key)
      ORDER BY f.parked_at IS NULL, u.seen_at, key LIMIT $1`,
    [max],
  );

/** Blocks of a chain with more unreadable transactions than the service records. */
export interface UnreadBlocksOfChain {
  readonly chainId: number;
  readonly from: string;
  readonly to: string;
  readonly transactions: bigint;
}

/** @throws Unavailable */
export const unreadBlocks = (sql: Sql): Promise<readonly UnreadBlocksOfChain[]> =>
  sql.query(
    'SELECT chain_id AS "chainId", from_block AS "from", to_block AS "to", transactions FROM ops.unread_blocks ORDER BY chain_id',
  );

export interface FailedTry {
  readonly key: string;
  readonly attempts: number;
  readonly error: string;
  readonly parked: boolean;
  readonly nextAttempt: Instant;
}

/** Failures of these items of a worker. @throws Unavailable */
export const failedTries = (sql: Sql, worker: string, keys: readonly string[]): Promise<readonly FailedTry[]> =>
  sql.query(
    `SELECT key, attempts, left(last_error, 400) AS error, parked_at IS NOT NULL AS parked, next_attempt_at AS "nextAttempt"
       FROM ops.work_failures WHERE worker = $1 AND key = ANY ($2)`,
    [worker, keys],
  );

/** Newest block that was read of each chain, by chain id. @throws Unavailable */
export async function headsOf(sql: Sql): Promise<ReadonlyMap<number, bigint>> {
  const rows = await sql.query<{ chainId: number; head: string }>(
    `SELECT chain_id AS "chainId", block_number AS head FROM ops.chain_cursors WHERE pass = 'head'`,
  );
  return new Map(rows.map(({ chainId, head }) => [chainId, BigInt(head)]));
}
