/** One Postgres per test run, one empty migrated database per caller. */
import { join } from 'node:path';
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../../sandbox/postgres.ts';
import { type Database, openDatabase } from '../../src/postgres/database.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { onStop } from './hooks.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

let server: Promise<PostgresServer> | undefined;
let template: Promise<string> | undefined;
let databases = 0;

/** Started by the first caller; its data does not survive the run. */
export function sharedPostgres(): Promise<PostgresServer> {
  server ??= start();
  return server;
}

async function start(): Promise<PostgresServer> {
  const directory = temporaryDirectory();
  const started = await startPostgres({
    dataDir: join(directory, 'postgres'),
    logFile: join(directory, 'postgres.log'),
    durable: false,
  });
  onStop(() => started.stop());
  return started;
}

/** A database of the caller's own, migrated and empty. Closed when the run ends. */
export async function freshDatabase(): Promise<Database> {
  const { url } = await sharedPostgres();
  template ??= makeTemplate(url);
  const from = await template;
  databases += 1;
  const name = `test_${databases}`;
  await admin(url, `CREATE DATABASE ${name} TEMPLATE ${from}`);
  const database = openDatabase({ url: withDatabase(url, name), applicationName: name });
  onStop(() => database.close());
  return database;
}

async function makeTemplate(url: string): Promise<string> {
  await admin(url, 'CREATE DATABASE migrated');
  const database = openDatabase({ url: withDatabase(url, 'migrated') });
  await migrate(database);
  await database.close();
  return 'migrated';
}

const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
};

async function admin(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
