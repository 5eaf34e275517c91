import type pg from 'pg';
import type { Clock } from '../../commands/ports.ts';
import type { Database } from '../postgres/database.ts';

export interface LeaseDeps {
  readonly database: Pick<Database, 'connect'>;
  readonly clock: Clock;
}

/** How soon a standby notices that the lease is free. */
const retry_ms = 500;
/** How often the holder makes sure that its connection, and with it the lease, still is there. */
const heartbeat_ms = 5_000;

/**
 * Runs `work` while this process holds the lease of that name, one process at a time: a session advisory lock on a
 * connection of its own, which the server frees when the connection or the process dies. Whoever does not hold it waits.
 *
 * The lease only spares double work. A holder that lost it without noticing must be stopped by a fence on what it writes.
 *
 * @param work ends soon after its signal aborts; when the lease was lost, it is run again once the lease is held again
 * @throws what `work` throws
 */
export async function withLease(
  deps: LeaseDeps,
  name: string,
  signal: AbortSignal,
  work: (held: AbortSignal) => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    const client = await acquire(deps, name, signal);
    if (!client) continue;
    const lost = new AbortController();
    client.on('end', () => lost.abort());
    const ended = new AbortController();
    const watch = heartbeat(client, deps.clock, lost, ended.signal);
    try {
      await work(AbortSignal.any([signal, lost.signal]));
      if (!lost.signal.aborted) return;
    } finally {
      ended.abort();
      await watch;
      await client.end().catch(() => {});
    }
  }
}

/**
 * The connection that holds the lease; undefined, after a pause, when somebody else has it or there is no connection to be had,
 * whatever the reason: a role that gave up would be missed more than one that tries in vain.
 */
async function acquire({ database, clock }: LeaseDeps, name: string, signal: AbortSignal) {
  let client: pg.Client | undefined;
  try {
    client = await database.connect(`lease ${name}`.slice(0, 63));
    const { rows } = await client.query('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS held', [name]);
    if (rows[0]?.held) return client;
  } catch {
    // Readiness tells why Postgres does not answer.
  }
  await client?.end().catch(() => {});
  await clock.sleep(retry_ms, signal);
  return undefined;
}

async function heartbeat(client: pg.Client, clock: Clock, lost: AbortController, ended: AbortSignal): Promise<void> {
  const stop = AbortSignal.any([lost.signal, ended]);
  for (;;) {
    await clock.sleep(heartbeat_ms, stop);
    if (stop.aborted) return;
    const answered = client.query('SELECT 1').then(
      () => true,
      () => false,
    );
    if (!(await Promise.race([answered, clock.sleep(heartbeat_ms, ended).then(() => ended.aborted)]))) lost.abort();
  }
}
