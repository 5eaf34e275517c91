import pg from 'pg';
import { unavailableOr } from './unavailable.ts';

/** Runs statements. Every outage comes out as Unavailable. */
export interface Sql {
  /** @throws Unavailable */
  query<R>(text: string, values?: readonly unknown[]): Promise<readonly R[]>;
}

/** A bounded pool. bigint columns arrive as bigint, numeric as text, timestamps as ISO 8601 UTC text. */
export interface Database extends Sql {
  readonly url: string;
  /** Commits what `work` did, or rolls it back when it throws. @throws Unavailable */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** A connection of the caller's own, without statement timeout: for leases and notifications. The caller ends it; its end tells that it broke. */
  connect(name: string): Promise<pg.Client>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly applicationName?: string;
  readonly connectionsMax?: number;
  readonly statementTimeout_ms?: number;
  /** How long to wait for a connection, and for the answer of a server that should have cancelled a statement. */
  readonly patience_ms?: number;
}

const connectionsMaxDefault = 10;
const statementTimeoutDefault_ms = 10_000;
const patienceDefault_ms = 5_000;
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

export function openDatabase(options: DatabaseOptions): Database {
  const { url, applicationName = 'payment-intents' } = options;
  const statement_ms = options.statementTimeout_ms ?? statementTimeoutDefault_ms;
  const patience_ms = options.patience_ms ?? patienceDefault_ms;
  const shared = { connectionString: url, types, options: '-c TimeZone=UTC -c DateStyle=ISO', ...keepAlive };
  const pool = new pg.Pool({
    ...shared,
    application_name: applicationName,
    max: options.connectionsMax ?? connectionsMaxDefault,
    connectionTimeoutMillis: patience_ms,
    idle_in_transaction_session_timeout: statement_ms * 2,
    statement_timeout: statement_ms,
    // The server cancels first; this ends the wait for one that does not answer any more.
    query_timeout: statement_ms + patience_ms,
  });
  // A connection that breaks shows at its next use and leaves the pool; without listeners it would end the process at once,
  // whether it is idle or in the middle of a transaction between two statements.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  return {
    url,
    query: (text, values) => run(pool, text, values),

    async transaction(work) {
      const client = await pool.connect().catch(rethrow);
      let broken: Error | undefined;
      try {
        await run(client, 'BEGIN');
        const result = await work({ query: (text, values) => run(client, text, values) });
        await run(client, 'COMMIT');
        return result;
      } catch (error) {
        await client.query('ROLLBACK').catch((failure: Error) => {
          broken = failure;
        });
        throw error;
      } finally {
        client.release(broken);
      }
    },

    async connect(name) {
      const client = new pg.Client({ ...shared, application_name: name, connectionTimeoutMillis: patience_ms });
      client.on('error', () => {});
      await client.connect().catch(rethrow);
      return client;
    },

    close: () => pool.end(),
  };
}

async function run<R>(on: Pick<pg.ClientBase, 'query'>, text: string, values: readonly unknown[] = []): Promise<R[]> {
  const { rows } = await on.query(text, [...values]).catch(rethrow);
  return rows as R[];
}

function rethrow(error: unknown): never {
  throw unavailableOr(error);
}

const { INT8, TIMESTAMPTZ } = pg.types.builtins;

/** Nothing that the driver would round or move into a local time. */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (oid === INT8) return BigInt;
    if (oid === TIMESTAMPTZ) return isoOf;
    return pg.types.getTypeParser(oid, format);
  },
};

const isoOf = (text: string): string => new Date(text).toISOString();
