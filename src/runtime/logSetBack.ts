/** Whether the event log is older than what Postgres remembers of it: it was restored from a backup, or is another one. */
import type { EventStore } from '../../commands/ports.ts';
import type { Sql } from '../../projections/sql.ts';
import { notePayoutsToPause } from '../postgres/payoutsToPause.ts';

/** Nothing may run on it: read models and scans would leave out what the log has from here on. */
export class LogSetBack extends Error {
  override readonly name = 'LogSetBack';
  constructor(known: bigint, end: bigint) {
    super(
      `the event log ends at ${end}, but Postgres knows it up to ${known}: it was restored from a backup, or EVENTSTORE_URL names another one. ` +
        'Restored: npm run rebuild -- --log-restored, before anything else (docs/operations.md, Backup)',
    );
  }
}

/** @throws LogSetBack, Unavailable */
export async function refuseSetBack(sql: Sql, store: Pick<EventStore, 'tail'>): Promise<void> {
  // The checkpoints first: the log's end only grows.
  const known = await furthestCheckpoint(sql);
  if (known === 0n) return;
  const end = await store.tail();
  if (known > end) throw new LogSetBack(known, end);
}

/** How far any read model has come; 0 before the first event. @throws Unavailable */
export async function furthestCheckpoint(sql: Sql): Promise<bigint> {
  const [row] = await sql.query<{ position: bigint | null }>(
    `SELECT max(position) AS position FROM ops.projections WHERE status = 'active'`,
  );
  return row?.position ?? 0n;
}

/**
 * The scans of all chains begin again where the restored log ends, and what follows the log goes on there: what they have passed since was
 * recorded in the lost part of it. Payouts are paused by the next start, for what was paid since is unknown, too. To be done before the
 * read models are filled anew, so that a crash in between is noticed again.
 */
export async function forgetLost(sql: Sql, end: bigint): Promise<void> {
  await notePayoutsToPause(sql);
  await sql.query('DELETE FROM ops.chain_cursors');
  await sql.query('UPDATE ops.followers SET position = $1 WHERE position > $1', [end]);
}
