/** Helpers of queries. A fixed query is SQL; one whose conditions vary is built with knex. */
import knex, { type Knex } from 'knex';
import type { Sql } from '../projections/sql.ts';

/** Builds statements and never connects: they run on the one pool. */
export const build = knex({ client: 'pg' });

export function run<R>(sql: Sql, statement: Knex.QueryBuilder): Promise<readonly R[]> {
  const { sql: text, bindings } = statement.toSQL().toNative();
  return sql.query<R>(text, bindings);
}

/** Spells a caller's text as the read models hold it: what Postgres text cannot hold became U+FFFD there. */
export const asStored = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

/** Prints a numeric as amounts are printed: without trailing zeros, with at least two places. */
export function decimalText(numeric: string): string {
  const [whole = '0', fraction = ''] = numeric.split('.');
  return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}
