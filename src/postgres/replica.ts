/** Reads from a streaming replica that are never older than the primary at the time of the call; otherwise the primary answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from '../../commands/ports.ts';
import type { Sql } from '../../projections/sql.ts';

/** Server that answered a read: the replica, or the primary because the replica was behind or did not answer. */
export type ReplicaResult = 'replica' | 'behind' | 'unreachable';

export interface ReplicaReads {
  readonly primary: Sql;
  readonly replica: Sql;
  readonly counted: (result: ReplicaResult) => void;
  readonly now_ms: () => number;
}

/** Wait for a replica that is behind. A replica on the same network is usually 1 to 200 ms behind. */
const wait_ms = 250;
const poll_ms = 25;
/** Pause before the next try after a replica did not answer. */
const pause_ms = 5_000;

/**
 * Returns a reader for lists, statistics and exports. Each call first reads the primary's position in its write-ahead log and uses the replica only
 * once it has replayed that position. So a client that has created something, and has read it from the primary, finds it in the list too. Async commits count: the
 * insert position includes them (PostgreSQL manual, 9.28.3). The check costs one short statement on each server.
 */
export function createReplicaReads({ primary, replica, counted, now_ms }: ReplicaReads): Sql {
  let pausedUntil_ms = Number.NEGATIVE_INFINITY;

  async function hasReplayed(position: string): Promise<boolean> {
    const [row] = await replica.query<{ fresh: boolean }>(
      // A server that is no replica replays nothing: it is a primary itself and has every commit.
      'SELECT coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, NOT pg_is_in_recovery()) AS fresh',
      [position],
      { prepared: true },
    );
    return row?.fresh ?? false;
  }

  async function catchesUp(position: string): Promise<boolean> {
    for (let waited_ms = 0; ; waited_ms += poll_ms) {
      if (await hasReplayed(position)) return true;
      if (waited_ms >= wait_ms) return false;
      await sleep(poll_ms);
    }
  }

  /** @returns null if the primary must answer */
  async function fromReplica<R>(...query: Parameters<Sql['query']>): Promise<readonly R[] | null> {
    const [at] = await primary.query<{ position: string }>('SELECT pg_current_wal_insert_lsn()::text AS position', [], {
      prepared: true,
    });
    try {
      if (at === undefined || !(await catchesUp(at.position))) {
        counted('behind');
        return null;
      }
      const rows = await replica.query<R>(...query);
      counted('replica');
      return rows;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      pausedUntil_ms = now_ms() + pause_ms;
      counted('unreachable');
      return null;
    }
  }

  return {
    async query<R>(...query: Parameters<Sql['query']>) {
      const rows = now_ms() < pausedUntil_ms ? null : await fromReplica<R>(...query);
      return rows ?? primary.query<R>(...query);
    },
  };
}
