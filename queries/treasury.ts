/** Treasury operations besides payouts, and the treasury transactions that the log knows. */

import { Unavailable } from '../commands/ports.ts';
import type { ChainId } from '../domain/chains.ts';
import { payinAddress } from '../domain/payment/payins.ts';
import type { Instant } from '../domain/time.ts';
import { keyOf, type TransferKey } from '../domain/transfer/shapes.ts';
import type { Sql } from '../projections/sql.ts';
import { knownDeposits } from './payins.ts';

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

/**
 * Transfers with hashes missing in the rows of `recordedHashes`: pending payouts, and refunds, burns and mints that were not settled before.
 * Chains without nonces would call them unknown, and sign nothing. @throws Unavailable
 */
export async function transfersToAsk(
  sql: Sql,
  { chainId, since }: Omit<Candidates, 'hashes'>,
): Promise<readonly TransferKey[]> {
  const rows = await sql.query<{ reference: string }>(
    `SELECT reference FROM transfers
      WHERE chain_id = $1 AND signed AND ((settled_at IS NULL AND step <> 'done') OR (settled_at > $2 AND kind IN ('refund', 'burn', 'mint')))
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

// Effects of recorded transfers on treasury accounts.

/** An account with the addresses that belong to it. */
export interface MovementsOf {
  readonly chainId: number;
  /** Account of the books. */
  readonly account: string;
  readonly accounts: readonly string[];
  /**
   * Number of networks of the chain that were closed before. A later network repeats block numbers, so log positions tell networks apart.
   */
  readonly networksClosed: number;
  /** Blocks after this one. */
  readonly after: bigint;
  readonly upTo: bigint;
}

/** Kinds that the books' own stream records; it is always current. */
const ofBooks = `kind IN ('opening', 'topUp', 'flush', 'explained', 'networkClosed')`;
const asked = 'chain_id = $1 AND account = ANY ($2) AND block_number > $3 AND block_number <= $4 AND position > $5';

async function valuesOf(sql: Sql, of: MovementsOf) {
  const { chainId, accounts, after, upTo } = of;
  return [chainId, accounts, after.toString(), upTo.toString(), await networkBegan(sql, of)];
}

/** Returns the log position after which events belong to the current network. @throws Unavailable while the rows are behind the log */
async function networkBegan(sql: Sql, { chainId, account, networksClosed }: MovementsOf): Promise<string> {
  if (networksClosed === 0) return '-1';
  const [row] = await sql.query<{ position: string }>(
    `SELECT position::text FROM treasury_movements
      WHERE chain_id = $1 AND account = $2 AND kind = 'networkClosed' AND reference = $3`,
    [chainId, account, String(networksClosed)],
  );
  if (!row) throw new Unavailable(`the read models do not know yet that a network of chain ${chainId} was closed`);
  return row.position;
}

/** Sums per asset in smallest units, without the books' own entries. @throws Unavailable */
export async function movedBetween(sql: Sql, of: MovementsOf): Promise<Readonly<Record<string, bigint>>> {
  const sums = await sql.query<{ asset: string; units: string }>(
    `SELECT asset, sum(amount)::text AS units FROM treasury_movements WHERE ${asked} AND NOT ${ofBooks} GROUP BY 1`,
    await valuesOf(sql, of),
  );
  return Object.fromEntries(sums.map(({ asset, units }) => [asset, BigInt(units)]));
}

/** Hashes of the recorded transactions. @throws Unavailable */
export async function movedHashes(sql: Sql, of: MovementsOf): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ hash: string }>(
    `SELECT DISTINCT tx_hash AS hash FROM treasury_movements WHERE ${asked} AND tx_hash <> ''`,
    await valuesOf(sql, of),
  );
  return new Set(rows.map(({ hash }) => hash));
}

export interface MovementSum {
  readonly asset: string;
  readonly kind: string;
  /** fee, rent, or amount. */
  readonly part: 'fee' | 'rent' | 'amount';
  readonly units: bigint;
}

/** Sums by asset and kind, without the opening. @throws Unavailable */
export async function movementSums(sql: Sql, of: MovementsOf): Promise<readonly MovementSum[]> {
  const rows = await sql.query<Omit<MovementSum, 'units'> & { units: string }>(
    `SELECT asset, kind, CASE WHEN part IN ('fee', 'rent') THEN part ELSE 'amount' END AS part, sum(amount)::text AS units
       FROM treasury_movements WHERE ${asked} AND kind <> 'opening' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    await valuesOf(sql, of),
  );
  return rows.map((row) => ({ ...row, units: BigInt(row.units) }));
}

/** Returns the transactions that payments or operations have signed. @throws Unavailable */
export async function signedAmong(sql: Sql, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ hash: string }>(
    `SELECT tx_hash AS hash FROM transactions WHERE tx_hash = ANY ($1) AND kind <> 'payin'
     UNION SELECT tx_hash FROM operations WHERE tx_hash = ANY ($1)`,
    [hashes],
  );
  return new Set(rows.map(({ hash }) => hash));
}

/** Returns the addresses that are deposits, in this spelling. @throws Unavailable */
export async function depositsAmong(sql: Sql, addresses: readonly string[]): Promise<ReadonlySet<string>> {
  if (addresses.length === 0) return new Set();
  const keys = new Map(addresses.map((address) => [payinAddress(address, null).address, address]));
  const known = await knownDeposits(sql, [...keys.keys()]);
  return new Set([...keys].flatMap(([key, address]) => (known.has(key) ? [address] : [])));
}
