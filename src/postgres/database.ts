import { hash } from 'node:crypto';
import pg from 'pg';
import { Unavailable } from '../../commands/ports.ts';
import { assert } from '../../domain/decider.ts';
import type { QueryOptions, Sql, SqlDatabase } from '../../projections/sql.ts';

/** A bounded pool. Every outage is reported as Unavailable. */
export interface Database extends SqlDatabase {
  readonly url: string;
  /**
   * A separate connection without statement timeout: for leases and notifications. The caller ends it; any other `end` means that it broke.
   */
  connect(name: string): Promise<pg.Client>;
  close(): Promise<void>;
}

/** Application names of the service's connections in Postgres; its tools have other names. */
export const serviceConnections: readonly string[] = ['payment-intents', 'leases', 'listen', 'revoked keys'];

export interface DatabaseOptions {
  readonly url: string;
  readonly applicationName?: string;
  readonly connectionsMax?: number;
  readonly statementTimeout_ms?: number;
  /** Maximum wait for a server that should have cancelled a statement. */
  readonly patience_ms?: number;
  /** Maximum wait for a connection. Default: `patience_ms`. */
  readonly connecting_ms?: number;
}

const connectionsMaxDefault = 10;
const statementTimeoutDefault_ms = 10_000;
const patienceDefault_ms = 5_000;
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

export function openDatabase(options: DatabaseOptions): Database {
  const { url, applicationName = 'payment-intents' } = options;
  const statement_ms = options.statementTimeout_ms ?? statementTimeoutDefault_ms;
  const patience_ms = options.patience_ms ?? patienceDefault_ms;
  const connecting_ms = options.connecting_ms ?? patience_ms;
  const shared = { connectionString: url, types, options: '-c TimeZone=UTC -c DateStyle=ISO', ...keepAlive };
  const pool = new pg.Pool({
    ...shared,
    application_name: applicationName,
    max: options.connectionsMax ?? connectionsMaxDefault,
    connectionTimeoutMillis: connecting_ms,
    idle_in_transaction_session_timeout: statement_ms * 2,
    statement_timeout: statement_ms,
    // The server cancels first; this is for a server that no longer answers.
    query_timeout: statement_ms + patience_ms,
    // Concurrent statements of a transaction are sent together, and answered in order.
    pipeline: true,
  });
  // A broken connection fails at its next use and leaves the pool. Without a listener its error would end the process at once, idle or
  // between two statements of a transaction.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  return {
    url,
    query: (text, values, how) => run(pool, text, values, how),

    async transaction(work, { durable = true } = {}) {
      const client = await pool.connect().catch(rethrow);
      let broken: Error | undefined;
      let over = false;
      // A late statement would run outside the transaction, or in another one.
      const query: Sql['query'] = async (text, values, how) => {
        assert(!over, 'a statement was asked for behind the end of its transaction');
        return run(client, text, values, how);
      };
      try {
        await run(client, durable ? 'BEGIN' : 'BEGIN; SET LOCAL synchronous_commit = off');
        const result = await work({ query });
        over = true;
        await run(client, 'COMMIT');
        return result;
      } catch (error) {
        over = true;
        await client.query('ROLLBACK').catch((failure: Error) => {
          broken = failure;
        });
        throw error;
      } finally {
        client.release(broken);
      }
    },

    async connect(name) {
      const client = new pg.Client({ ...shared, application_name: name, connectionTimeoutMillis: connecting_ms });
      client.on('error', () => {});
      await client.connect().catch(rethrow);
      return client;
    },

    close: () => pool.end(),
  };
}

async function run<R>(
  on: Pick<pg.ClientBase, 'query'>,
  text: string,
  values: readonly unknown[] = [],
  { prepared = false }: QueryOptions = {},
): Promise<R[]> {
  const query = { text, values: values.map(storable), ...(prepared && { name: nameOf(text) }) };
  const { rows } = await on.query(query).catch(rethrow);
  return rows as R[];
}

/**
 * Postgres text holds no U+0000. It becomes U+FFFD, as in the read models: so a caller's text finds what was stored of it, and causes no
 * error. The driver converts lone surrogates in the same way.
 */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
  return Array.isArray(value) ? value.map(storable) : value;
}

/** A prepared statement's name has at most 63 bytes. */
const nameOf = (text: string): string => hash('sha256', text).slice(0, 32);

function rethrow(error: unknown): never {
  throw unavailableOr(error);
}

const { INT8, TIMESTAMPTZ } = pg.types.builtins;

/** Prevents the driver from rounding numbers and from converting times to the local zone. */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (oid === INT8) return BigInt;
    if (oid === TIMESTAMPTZ) return isoOf;
    return pg.types.getTypeParser(oid, format);
  },
};

const isoOf = (text: string): string => new Date(text).toISOString();

/** Errors of sockets and of the pg driver itself, unrelated to the statement. */
const lostConnection =
  /ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|Connection terminated|connection timeout|timeout exceeded when trying to connect|timeout expired|Query read timeout|not queryable|Client was closed|Cannot use a pool after calling end/i;

/**
 * SQLSTATEs after which the same statement may succeed (PostgreSQL manual, appendix A): 08 connection (but 08P01, a protocol violation), 53
 * resources, 57 shutdown and cancellation, 58 system, 25006 read-only after a failover, 40001/40P01 serialisation and deadlock, 55P03 lock
 * timeout.
 */
const passing = /^(08(?!P01)...|53...|57...|58...|25006|25P0[34]|40001|40P01|55P03)$/;

/** Converts errors of an outage or overload to `Unavailable`; returns every other error unchanged. */
export function unavailableOr(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code = '' } = error as { code?: string };
  // A refused connection to several addresses is an AggregateError without its own message.
  const text = `${code} ${error.message}`;
  if (!passing.test(code) && !lostConnection.test(text)) return error;
  return new Unavailable(`Postgres cannot answer now (${text.trim()}): try again`, 1, { cause: error });
}
