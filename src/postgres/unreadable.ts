/** Unreadable transactions in Postgres: up to a maximum per chain, and the blocks of any excess. */
import { evidenceMax, type Unreadable } from '../../commands/chainPorts.ts';
import type { ChainId } from '../../domain/chains.ts';
import type { Instant } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import type { WorkFailures } from './failures.ts';

/** Worker name under which they are listed and retried. queries/work.ts knows the name: payments do not expire meanwhile. */
export const unreadableName = (chainId: ChainId): string => `payins:${chainId}:unreadable`;

/** Maximum per chain, so a flood neither fills the table nor keeps the nodes busy. */
export const unreadableMax = 1_000;
/** Maximum per deposit: a flood of one deposit leaves room for the others. */
export const unreadablePerDepositMax = 20;

/** Blocks to read again, because their transactions exceeded the maximum. */
export interface UnreadBlocks {
  readonly from: bigint;
  readonly to: bigint;
}

export interface UnreadableRecord {
  /** Transactions that were not recorded before. */
  readonly fresh: readonly Unreadable[];
  /** Null if there was room for all. */
  readonly beyond: UnreadBlocks | null;
}

export interface UnreadableNotes {
  /** After a crash the range is handled again, and existing records stay unchanged. @throws Unavailable */
  note(found: readonly Unreadable[], at: Instant): Promise<UnreadableRecord>;
  /** Transactions to retry now, without those that wait for an operator. @throws Unavailable */
  due(max: number, now: Instant): Promise<readonly { readonly key: string; readonly addresses: readonly string[] }[]>;
  /** Removes blocks that were read again, unless recorded since `before`. @throws Unavailable */
  readAgain(blocks: UnreadBlocks, before: Instant): Promise<void>;
}

export function createUnreadableNotes(
  sql: Sql,
  failures: Pick<WorkFailures, 'note'>,
  chainId: ChainId,
): UnreadableNotes {
  const worker = unreadableName(chainId);
  return {
    async note(found, at) {
      const room = await roomOf(sql, worker);
      const fresh: Unreadable[] = [];
      const beyond: Unreadable[] = [];
      for (const each of byTransaction(found)) {
        if (room.isKnown(each)) {
          const more = room.add(each);
          if (more.length > 0) await keepMore(sql, worker, each, more);
        } else if (room.take(each)) {
          fresh.push(each);
          await keep(sql, failures, worker, each, at);
        } else beyond.push(each);
      }
      return { fresh, beyond: beyond.length > 0 ? await leaveOut(sql, chainId, beyond, at) : null };
    },

    due: (max, now) =>
      sql.query(
        `SELECT f.key, coalesce(u.addresses, '{}') AS addresses
           FROM ops.work_failures f LEFT JOIN ops.unreadable_transactions u USING (worker, key)
          WHERE f.worker = $1 AND f.parked_at IS NULL AND f.next_attempt_at <= $2 ORDER BY f.next_attempt_at LIMIT $3`,
        [worker, now, max],
      ),

    async readAgain({ from, to }, before) {
      await sql.query(
        `DELETE FROM ops.unread_blocks WHERE chain_id = $1 AND from_block >= $2 AND to_block <= $3 AND noted_at < $4`,
        [chainId, from, to, before],
      );
    },
  };
}

/** Merges by transaction: each of its events may have paid another deposit of ours. */
function byTransaction(found: readonly Unreadable[]): readonly Unreadable[] {
  const transactions = new Map<string, Unreadable>();
  for (const each of found) {
    const { addresses = [], evidence } = transactions.get(each.txHash) ?? {};
    transactions.set(each.txHash, {
      ...each,
      addresses: [...new Set([...addresses, ...each.addresses])],
      evidence: evidence === undefined ? each.evidence : `${evidence}\n${each.evidence}`,
    });
  }
  return [...transactions.values()];
}

/** Number of recorded transactions of the chain, and the remaining room. */
async function roomOf(sql: Sql, worker: string) {
  const rows = await sql.query<{ key: string; addresses: readonly string[] }>(
    'SELECT key, addresses FROM ops.unreadable_transactions WHERE worker = $1',
    [worker],
  );
  const known = new Map(rows.map(({ key, addresses }) => [key, addresses]));
  const ofDeposit = new Map<string, number>();
  const count = (addresses: readonly string[]) => {
    for (const address of addresses) ofDeposit.set(address, (ofDeposit.get(address) ?? 0) + 1);
  };
  for (const { addresses } of rows) count(addresses);
  return {
    isKnown: ({ txHash }: Unreadable) => known.has(txHash),
    take({ txHash, addresses }: Unreadable): boolean {
      const crowded = addresses.some((address) => (ofDeposit.get(address) ?? 0) >= unreadablePerDepositMax);
      if (crowded || known.size >= unreadableMax) return false;
      known.set(txHash, addresses);
      count(addresses);
      return true;
    },
    /** @returns its addresses that were not recorded */
    add({ txHash, addresses }: Unreadable): readonly string[] {
      const before = known.get(txHash) ?? [];
      const more = addresses.filter((address) => !before.includes(address));
      known.set(txHash, [...before, ...more]);
      count(more);
      return more;
    },
  };
}

async function keep(
  sql: Sql,
  failures: Pick<WorkFailures, 'note'>,
  worker: string,
  { txHash, blockNumber, addresses, evidence }: Unreadable,
  at: Instant,
): Promise<void> {
  const told = evidence.replaceAll('\0', '').slice(0, evidenceMax);
  await failures.note(worker, txHash, told, at);
  await sql.query(
    `INSERT INTO ops.unreadable_transactions (worker, key, block_number, addresses, evidence, seen_at)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
    [worker, txHash, blockNumber, addresses, told, at],
  );
}

/** Adds deposits to a record: their payments do not expire, and the record is not deleted, until these are covered too. */
async function keepMore(
  sql: Sql,
  worker: string,
  { txHash, evidence }: Unreadable,
  more: readonly string[],
): Promise<void> {
  await sql.query(
    `UPDATE ops.unreadable_transactions SET addresses = addresses || $3::text[], evidence = left(evidence || E'\\n' || $4, $5)
      WHERE worker = $1 AND key = $2`,
    [worker, txHash, more, evidence.replaceAll('\0', ''), evidenceMax],
  );
}

async function leaveOut(
  sql: Sql,
  chainId: ChainId,
  beyond: readonly Unreadable[],
  at: Instant,
): Promise<UnreadBlocks | null> {
  const [row] = await sql.query<{ from: string; to: string }>(
    `INSERT INTO ops.unread_blocks AS b (chain_id, from_block, to_block, transactions, noted_at)
     SELECT $1, min(block), max(block), count(*), $3 FROM unnest($2::numeric[]) AS block
     ON CONFLICT (chain_id) DO UPDATE
        SET from_block = least(b.from_block, excluded.from_block), to_block = greatest(b.to_block, excluded.to_block),
            transactions = b.transactions + excluded.transactions, noted_at = excluded.noted_at
     RETURNING from_block AS "from", to_block AS "to"`,
    [chainId, beyond.map(({ blockNumber }) => blockNumber), at],
  );
  return row ? { from: BigInt(row.from), to: BigInt(row.to) } : null;
}
