import { readdir, readFile } from 'node:fs/promises';
import type { SetDdl } from '../../projections/generations.ts';
import type { Sql } from '../../projections/sql.ts';
import type { Database } from './database.ts';

const directory = new URL('../../projections/migrations/', import.meta.url);
const lock = 'migrations';

/**
 * Migrates the operational schema: numbered SQL files, all in one transaction that also records them. Several processes may call it
 * concurrently; a kill leaves nothing to clean up.
 */
export async function migrate(database: Database): Promise<void> {
  const files = await migrationFiles();
  await database.transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [lock]);
    await tx.query('CREATE SCHEMA IF NOT EXISTS ops');
    await tx.query('CREATE TABLE IF NOT EXISTS ops.migrations (name text PRIMARY KEY, at timestamptz DEFAULT now())');
    const done = await tx.query<{ name: string }>('SELECT name FROM ops.migrations');
    for (const name of files.filter((file) => !done.some((row) => row.name === file))) {
      await tx.query(await readSql(name));
      await tx.query('INSERT INTO ops.migrations (name) VALUES ($1)', [name]);
    }
  });
}

/** Migrations of the next start, in order; changes nothing. */
export async function waitingMigrations(sql: Sql): Promise<readonly string[]> {
  const files = await migrationFiles();
  const [made] = await sql.query<{ there: boolean }>(`SELECT to_regclass('ops.migrations') IS NOT NULL AS there`);
  if (!made?.there) return files;
  const done = await sql.query<{ name: string }>('SELECT name FROM ops.migrations');
  return files.filter((file) => !done.some(({ name }) => name === file));
}

const migrationFiles = async (): Promise<readonly string[]> =>
  (await readdir(directory)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();

/** DDL of a projection set's tables and indexes. */
export async function ddlOf(set: string): Promise<SetDdl> {
  return { tables: await readSql(`${set}.sql`), indexes: await readSql(`${set}.indexes.sql`) };
}

const readSql = (name: string): Promise<string> => readFile(new URL(name, directory), 'utf8');
