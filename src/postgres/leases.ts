/** Assigns tasks to processes: one instance is active, the others stand by. */
import type pg from 'pg';
import type { Clock } from '../../commands/ports.ts';
import type { Database } from './database.ts';

export interface LeasesDeps {
  readonly database: Pick<Database, 'connect'>;
  readonly clock: Clock;
  /** Idle time after which Postgres ends a session and releases its leases. */
  readonly silence_ms?: number;
}

export interface Leases {
  /**
   * Runs `work` while this process holds the lease of that name; other processes wait.
   *
   * The lease only saves double work. A holder that lost it unnoticed must be stopped by a fence on its writes.
   *
   * @param work ends soon after its signal aborts; after a lost lease, it runs again once the lease is held again
   * @throws anything that `work` throws
   */
  hold(name: string, signal: AbortSignal, work: (held: AbortSignal) => Promise<void>): Promise<void>;
  /** Number of live processes that called this for that name, including this one. @throws if Postgres does not answer */
  present(name: string): Promise<number>;
  /** Releases all held leases. */
  close(): Promise<void>;
}

/** A connection of this process, on which Postgres keeps its locks as long as both live. */
interface Session {
  /** Queries run one after the other. Each task of this process has at most one waiting. */
  ask<T extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<readonly T[]>;
  readonly lost: AbortSignal;
  /** Names of the held leases. They are kept here because the server grants a lock again to its own session. */
  readonly held: Set<string>;
  end(): Promise<void>;
}

/** Interval at which a standby checks whether a lease is free. */
const retry_ms = 500;
/** Interval at which a session checks its connection, and so its leases. */
const heartbeat_ms = 5_000;

/** Three heartbeats: the server would keep a frozen or disconnected instance's connection for hours. */
const silenceUsual_ms = 15_000;

/**
 * Leases as session advisory locks, all of a process on one connection: the server releases them when connection or process dies, or is
 * silent.
 */
export function openLeases({ database, clock, silence_ms = silenceUsual_ms }: LeasesDeps): Leases {
  let current: Promise<Session> | undefined;
  let closed = false;

  /** The shared session until it is lost. @throws if Postgres gives no connection */
  function session(): Promise<Session> {
    if (closed) return Promise.reject(new Error('the leases of this process are closed'));
    const opening = current ?? openSession();
    if (current === undefined) {
      current = opening;
      const forget = () => {
        if (current === opening) current = undefined;
      };
      opening.then(({ lost }) => lost.addEventListener('abort', forget, { once: true }), forget);
    }
    return opening;
  }

  async function openSession(): Promise<Session> {
    const client = await database.connect('leases');
    const lost = new AbortController();
    client.on('end', () => lost.abort());
    // Ending closes the connection, so a pending query fails instead of waiting.
    async function end(): Promise<void> {
      lost.abort();
      await client.end().catch(() => {});
    }
    let turn: Promise<unknown> = Promise.resolve();
    const ask: Session['ask'] = (text, values = []) => {
      const answered = turn.then(() => client.query(text, [...values])).then(({ rows }) => rows);
      turn = answered.catch(() => {});
      return answered;
    };
    await ask(`SELECT set_config('idle_session_timeout', $1, false)`, [`${silence_ms}ms`]).catch(async (error) => {
      await end();
      throw error;
    });
    heartbeat(ask, lost.signal).catch(end);
    return { ask, lost: lost.signal, held: new Set(), end };
  }

  async function heartbeat(ask: Session['ask'], lost: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(heartbeat_ms, lost);
      if (lost.aborted) return;
      const silent = clock.sleep(heartbeat_ms, lost).then(() => {
        throw new Error(`no answer within ${heartbeat_ms} ms`);
      });
      await Promise.race([ask('SELECT 1'), silent]);
    }
  }

  /**
   * The session that holds the lease. Undefined, after a pause, if another process has it or Postgres gives no connection: a task that
   * retries in vain does less harm than one that gave up.
   */
  async function acquire(name: string, signal: AbortSignal): Promise<Session | undefined> {
    try {
      const on = await session();
      if (!on.held.has(name)) {
        // The name is added before the answer: a concurrent second task of this process would otherwise be granted the lock too.
        on.held.add(name);
        if (await locks(on, 'pg_try_advisory_lock', name).catch(() => false)) return on;
        on.held.delete(name);
      }
    } catch {
      // Readiness reports why Postgres does not answer.
    }
    await clock.sleep(retry_ms, signal);
    return undefined;
  }

  async function release(on: Session, name: string): Promise<void> {
    if (on.lost.aborted) return;
    // If unlocking fails, ending the session releases all its locks.
    await locks(on, 'pg_advisory_unlock', name).catch(() => on.end());
    on.held.delete(name);
  }

  return {
    async hold(name, signal, work) {
      while (!signal.aborted && !closed) {
        const on = await acquire(name, signal);
        if (!on) continue;
        try {
          await work(AbortSignal.any([signal, on.lost]));
          if (!on.lost.aborted) return;
        } finally {
          await release(on, name);
        }
      }
    },
    async present(name) {
      const { ask, held } = await session();
      const here = `${name}:present`;
      if (!held.has(here)) await ask('SELECT pg_advisory_lock_shared(hashtextextended($1, 0))', [here]);
      held.add(here);
      const [row] = await ask<{ present: number }>(countPresent, [here]);
      return row?.present ?? 1;
    },
    async close() {
      closed = true;
      await current?.then((open) => open.end()).catch(() => {});
    },
  };
}

/** A 64-bit key occupies two columns. */
const countPresent = `SELECT count(*)::integer AS present
   FROM pg_locks, LATERAL (SELECT hashtextextended($1, 0) AS key) AS wanted
  WHERE locktype = 'advisory' AND mode = 'ShareLock' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid = ((key >> 32) & 4294967295)::oid AND objid = (key & 4294967295)::oid`;

async function locks({ ask }: Session, what: 'pg_try_advisory_lock' | 'pg_advisory_unlock', name: string) {
  const [row] = await ask<{ done: boolean }>(`SELECT ${what}(hashtextextended($1, 0)) AS done`, [name]);
  return row?.done === true;
}
