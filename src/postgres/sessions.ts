/** Checks that each connection to Postgres is a separate session, with its requested options. */
import type pg from 'pg';
import type { Database } from './database.ts';

/** SQLSTATE of a pooler that refuses a session's options. */
const protocolViolation = '08P01';
const remedy =
  'let DATABASE_URL name Postgres itself, or a pool in session mode (docs/operate/requirements-and-sizing.md#postgres)';

/**
 * Returns why a pooler between the service and Postgres cannot be used; null if there is none, or it keeps sessions. PgBouncer with
 * `pool_mode` transaction or statement gives each transaction any free session: leases, notifications and settings of a session would be
 * lost without an error.
 *
 * Two open connections must be two sessions of the server, and each must keep its own.
 * @throws Unavailable
 */
export async function sessionFault(database: Pick<Database, 'connect'>): Promise<string | null> {
  const open: pg.Client[] = [];
  const connect = async () => {
    const client = await database.connect('sessions');
    open.push(client);
    return client;
  };
  try {
    const [one, other] = [await connect(), await connect()];
    const first = await sessionOf(one);
    // A transaction keeps its session, so the first connection cannot get it.
    await other.query('BEGIN');
    const second = await sessionOf(other);
    const third = await sessionOf(one);
    if (first.pid !== third.pid || first.pid === second.pid)
      return `a pooler gives each transaction another session of Postgres: ${remedy}`;
    return first.zone === 'UTC' ? null : `a pooler drops the options of a session (TimeZone=UTC): ${remedy}`;
  } catch (error) {
    const { code, message } = error as pg.DatabaseError;
    if (code === protocolViolation) return `a pooler answers "${message}": ${remedy}`;
    throw error;
  } finally {
    await Promise.allSettled(open.map((client) => client.end()));
  }
}

async function sessionOf(client: pg.Client): Promise<{ readonly pid: number; readonly zone: string }> {
  const { rows } = await client.query(`SELECT pg_backend_pid() AS pid, current_setting('TimeZone') AS zone`);
  return rows[0];
}
