/** Recorded payins, and unmatched transfers. */
import type { PayinAddress } from '../domain/payment/payins.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';
import { decimalText } from './sql.ts';

/** A recorded payin. Its payment's stream decides about it. */
export interface RecordedPayin {
  readonly paymentId: string;
  readonly appId: string;
  readonly transferId: string;
  readonly txHash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  /** True if its own amount or the agreed one reaches the limit. */
  readonly large: boolean;
  /** Agreed amount in whole tokens, rounded up; null if the payment accepts any amount. */
  readonly agreed_usd: bigint | null;
  /** True if its block has left its chain, as far as is recorded. */
  readonly left: boolean;
}

const recorded = `SELECT payment_id AS "paymentId", app_id AS "appId", transfer_id AS "transferId", tx_hash AS "txHash",
  block_number::bigint AS "blockNumber", block_hash AS "blockHash", agreed_usd,
  phase IN ('orphaned', 'lost') AS left, coalesce(amount >= $2::numeric OR coalesce(agreed_usd, 0) >= $2, false) AS large FROM payins`;

/** Payins of a chain in one of these blocks. @throws Unavailable */
export const payinsInBlocks = (
  sql: Sql,
  chainId: number,
  blockHashes: readonly string[],
  largeFrom_usd: bigint | null,
): Promise<readonly RecordedPayin[]> =>
  sql.query(`${recorded} WHERE chain_id = $1 AND block_hash = ANY ($3)`, [chainId, largeFrom_usd, blockHashes]);

/**
 * Payins that count as on their chain, in blocks above one, one page at a time; used after a fork.
 * @param after the last payin of the previous page; null for the first page @throws Unavailable
 */
export const payinsAbove = (
  sql: Sql,
  { chainId, above, largeFrom_usd }: AboveBlock,
  after: Pick<RecordedPayin, 'blockNumber' | 'transferId'> | null,
  max: number,
): Promise<readonly RecordedPayin[]> =>
  sql.query(
    `${recorded} WHERE chain_id = $1 AND phase IN ('detected', 'confirmed') AND block_number > $3
        AND (block_number, transfer_id) > ($4, $5)
      ORDER BY block_number, transfer_id LIMIT $6`,
    [chainId, largeFrom_usd, above, after?.blockNumber ?? above, after?.transferId ?? '', max],
  );

export interface AboveBlock {
  readonly chainId: number;
  readonly above: bigint;
  readonly largeFrom_usd: bigint | null;
}

/** Confirmed and counted amount of a chain, in micro-USD, in blocks that its deepest pass has not passed. @throws Unavailable */
export async function unfinalised(sql: Sql, chainId: number): Promise<bigint> {
  const [sum] = await sql.query<{ micro: bigint }>(
    `SELECT coalesce(ceil(sum(amount) * 1000000), 0)::bigint AS micro FROM payins
      WHERE chain_id = $1 AND phase = 'confirmed' AND standing = 'counted' AND block_number >
        coalesce((SELECT block_number FROM ops.chain_cursors WHERE chain_id = $1 AND pass = 'finalLarge'), 0)`,
    [chainId],
  );
  return sum?.micro ?? 0n;
}

/**
 * Payins up to block `upTo` that a final pass must still decide: detected and unconfirmed ones, and those that left their chain, because
 * their node may have been wrong; oldest first.
 * @param leftAfter payins that left older blocks are done @throws Unavailable
 */
export const pendingPayins = (
  sql: Sql,
  { chainId, upTo, largeFrom_usd, leftAfter }: PendingUpTo,
): Promise<readonly RecordedPayin[]> =>
  sql.query(
    `${recorded} WHERE chain_id = $1 AND (phase = 'detected' OR (phase IN ('orphaned', 'lost') AND block_time > $4))
        AND block_number <= $3 ORDER BY block_number`,
    [chainId, largeFrom_usd, upTo, leftAfter],
  );

export interface PendingUpTo {
  readonly chainId: number;
  readonly upTo: bigint;
  readonly largeFrom_usd: bigint | null;
  readonly leftAfter: Instant;
}

/**
 * Time from which chains must be read without a saved cursor: the creation of the oldest payment that waits for money, or the last known
 * event if that is earlier. After a restored backup, the log's end may lack events. Null if there never was a payment. @throws Unavailable
 */
export async function firstToWatch(sql: Sql): Promise<Instant | null> {
  const [first] = await sql.query<{ at: Instant | null }>(
    `SELECT least(
       (SELECT created_at FROM payments WHERE status IN ('payment_unpaid', 'payment_started') ORDER BY created_at LIMIT 1),
       (SELECT max(updated_at) FROM payments)) AS at`,
  );
  return first?.at ?? null;
}

/** Results that a scan of a chain can reuse until the read models change. */
export interface ExpectedOfChain {
  /** Oldest block with a payin of `pendingPayins`; null if there is none. */
  readonly oldestPending: bigint | null;
  /** Next expiry of a payment by the chain's time, from `after` on; null if there is none. */
  readonly nextExpiry: Instant | null;
}

/** @param leftAfter as in `pendingPayins` @throws Unavailable */
export async function expectedOfChain(
  sql: Sql,
  { chainId, after, leftAfter }: { readonly chainId: number; readonly after: Instant; readonly leftAfter: Instant },
): Promise<ExpectedOfChain> {
  const [expected] = await sql.query<ExpectedOfChain>(
    `SELECT least((SELECT min(block_number)::bigint FROM payins WHERE chain_id = $1 AND phase = 'detected'),
                  (SELECT min(block_number)::bigint FROM payins
                    WHERE chain_id = $1 AND phase IN ('orphaned', 'lost') AND block_time > $3)) AS "oldestPending",
            (SELECT min(due_at) FROM todo_payments WHERE chain_id = $1 AND due_at >= $2) AS "nextExpiry"`,
    [chainId, after, leftAfter],
  );
  return expected ?? { oldestPending: null, nextExpiry: null };
}

/**
 * True if something waits for a chain: a payment for its money, a payin for its finality, a transfer there for its next step, or a payout
 * elsewhere whose funding must not leave the chain. @throws Unavailable
 */
export async function isChainAwaited(sql: Sql, chainId: number): Promise<boolean> {
  const [row] = await sql.query<{ awaited: boolean }>(
    `SELECT EXISTS (SELECT FROM todo_payments WHERE chain_id = $1)
         OR EXISTS (SELECT FROM transfers WHERE chain_id = $1 AND step IN ('order', 'sign', 'broadcast', 'tell', 'batched'))
         OR EXISTS (SELECT FROM transfers WHERE chain_id = $1 AND step = 'hold')
         OR EXISTS (SELECT FROM payins WHERE chain_id = $1 AND phase = 'detected')
         OR EXISTS (SELECT FROM payments WHERE source_chain_id = $1 AND status IN
              ('payment_started', 'payment_payin_completed', 'payment_bridging', 'payment_payout_started')) AS awaited`,
    [chainId],
  );
  return row?.awaited ?? true;
}

/** A transfer that no payment can use. */
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
  /** Payment of the deposit, which had recorded its maximum; null for money without a known memo. */
  readonly beyond: string | null;
  readonly verdict: 'open' | 'assigned' | 'refundRequested';
  readonly paymentId: string | null;
  readonly refundAddress: string | null;
  readonly refundMemo: string | null;
  readonly refundReason: string | null;
  /** Amount of the refund; null if there is none, or an operator sent it by hand. */
  readonly refundAmount: string | null;
  readonly refundStanding: 'ordered' | 'signed' | 'short' | 'done' | null;
  readonly refundTxHash: string | null;
}

/** Undecided transfers first, then decided ones; each newest first. @throws Unavailable */
export async function listUnmatched(sql: Sql, max: number): Promise<readonly UnmatchedPayin[]> {
  const rows = await sql.query<UnmatchedPayin>(
    `SELECT transfer_id AS id, chain_id AS "chainId", tx_hash AS "txHash", block_time AS at, from_address AS "from",
            to_address AS "to", memo, beyond_payment AS beyond, token_symbol AS "tokenSymbol", amount, verdict, payment_id AS "paymentId",
            refund_address AS "refundAddress", refund_memo AS "refundMemo", refund_reason AS "refundReason",
            refund_amount AS "refundAmount", refund_standing AS "refundStanding", refund_tx_hash AS "refundTxHash"
       FROM unmatched ORDER BY verdict <> 'open', seen_at DESC, transfer_id LIMIT $1`,
    [max],
  );
  return rows.map(({ amount, refundAmount, ...row }) => ({
    ...row,
    amount: decimalText(amount),
    refundAmount: refundAmount === null ? null : decimalText(refundAmount),
  }));
}

// Deposit addresses of open payments.

/** A deposit that a transfer may be for. */
export interface MatchedDeposit extends PayinAddress {
  readonly paymentId: string;
  readonly appId: string;
  /** Agreed amount in whole tokens, rounded up; null if the payment accepts any amount. */
  readonly agreed_usd: bigint | null;
}

const columns = 'address, memo, payment_id AS "paymentId", app_id AS "appId", agreed_usd';

/** Deposits among these addresses and memos, on any EVM chain. @throws Unavailable */
export async function matchDeposits(sql: Sql, addresses: readonly PayinAddress[]): Promise<readonly MatchedDeposit[]> {
  const shared = addresses.filter(({ memo }) => memo !== '');
  const own = shared.length === 0 ? addresses : addresses.filter(({ memo }) => memo === '');
  const [byAddress, byMemo] = await Promise.all([matchOwn(sql, own), matchShared(sql, shared)]);
  return [...byAddress, ...byMemo];
}

/** Addresses with one payment each. There may be very many, so the index answers the query directly. */
const matchOwn = async (sql: Sql, addresses: readonly PayinAddress[]) =>
  addresses.length === 0
    ? []
    : sql.query<MatchedDeposit>(`SELECT ${columns} FROM deposits WHERE address = ANY ($1) AND memo = ''`, [
        addresses.map(({ address }) => address),
      ]);

const matchShared = async (sql: Sql, addresses: readonly PayinAddress[]) =>
  addresses.length === 0
    ? []
    : sql.query<MatchedDeposit>(
        `SELECT ${columns} FROM unnest($1::text[], $2::text[]) AS paid (address, memo) JOIN deposits USING (address, memo)`,
        [addresses.map(({ address }) => address), addresses.map(({ memo }) => memo)],
      );

/** Returns those of these addresses that are payments' deposits. @throws Unavailable */
export async function knownDeposits(sql: Sql, addresses: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ address: string }>('SELECT address FROM deposits WHERE address = ANY ($1)', [
    addresses,
  ]);
  return new Set(rows.map(({ address }) => address));
}

/** A deposit address in a paged list, ordered by time and key. */
export interface ListedDeposit {
  readonly address: string;
  readonly at: Instant;
  readonly key: string;
}

/** `after`: the last entry of the previous page; null for the first page. */
export interface DepositsPage {
  readonly after: ListedDeposit | null;
  readonly max: number;
}

/** Deposit addresses on a chain whose payments wait for money, latest expiry first; each payment has one. @throws Unavailable */
export const openDeposits = (
  sql: Sql,
  chainId: number,
  { after, max }: DepositsPage,
): Promise<readonly ListedDeposit[]> =>
  sql.query(
    `SELECT address, due_at AS at, payment_id AS key FROM todo_payments JOIN deposits USING (payment_id, chain_id)
      WHERE chain_id = $1 AND (due_at, payment_id) < (coalesce($2::timestamptz, 'infinity'), $3)
      ORDER BY due_at DESC, payment_id DESC LIMIT $4`,
    [chainId, after?.at ?? null, after?.key ?? '', max],
  );

/** Deposit addresses on a chain whose payments expire at `since` or later, in any status; latest expiry first. @throws Unavailable */
export const lateDeposits = (
  sql: Sql,
  chainId: number,
  { since, after, max }: DepositsPage & { readonly since: Instant },
): Promise<readonly ListedDeposit[]> =>
  sql.query(
    `SELECT address, expires_at AS at, address AS key FROM deposits
      WHERE chain_id = $1 AND expires_at >= $2 AND (expires_at, address) < (coalesce($3::timestamptz, 'infinity'), $4)
      ORDER BY expires_at DESC, address DESC LIMIT $5`,
    [chainId, since, after?.at ?? null, after?.key ?? '', max],
  );

/** A deposit that received money. */
export interface ReceivedDeposit {
  /** In its chain's spelling. */
  readonly address: string;
  readonly paymentId: string;
}

export interface PaidPage {
  /** Statuses of payments that are over. */
  readonly statuses: readonly string[];
  /** Last payment of the previous page; empty for the first page. */
  readonly after: string;
  readonly max: number;
  /** Default: money of any time. */
  readonly since?: Instant;
}

/**
 * Joins a list of transfers with one deposit row per payment. Both tables get the page's start, so both are read along their indexes, and
 * no further than the page. @param payment its column
 */
const paidIn = (transfers: string, payment: string): string =>
  `(SELECT DISTINCT ON (payments.payment_id) payments.payment_id, to_address
      FROM ${transfers} AS paid JOIN payments ON payments.payment_id = paid.${payment}
     WHERE paid.chain_id = $1 AND paid.${payment} > $3 AND payments.payment_id > $3 AND status = ANY ($2)
       AND block_time >= coalesce($5::timestamptz, '-infinity')
     ORDER BY payments.payment_id LIMIT $4)`;

/**
 * Deposits with final receipts on a chain, including transfers beyond a payment's maximum, one page after the other. Only the chain knows
 * the current balance. @throws Unavailable
 */
export const paidDeposits = (
  sql: Sql,
  chainId: number,
  { statuses, after, max, since }: PaidPage,
): Promise<readonly ReceivedDeposit[]> =>
  sql.query(
    `SELECT DISTINCT ON (payment_id) payment_id AS "paymentId", to_address AS address FROM (
       ${paidIn(`(SELECT * FROM payins WHERE phase = 'confirmed')`, 'payment_id')}
       UNION ALL
       ${paidIn('unmatched', 'beyond_payment')}
     ) AS paid ORDER BY payment_id LIMIT $4`,
    [chainId, statuses, after, max, since ?? null],
  );
