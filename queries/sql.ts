/** Helpers of queries. A fixed query is SQL; one with varying conditions is built with knex. */
import knex, { type Knex } from 'knex';
import type { Sql } from '../projections/sql.ts';

/** Builds statements and never connects: they run on the service's one pool. */
export const build = knex({ client: 'pg' });

export function run<R>(sql: Sql, statement: Knex.QueryBuilder): Promise<readonly R[]> {
  const { sql: text, bindings } = statement.toSQL().toNative();
  return sql.query<R>(text, bindings);
}

/** Converts a caller's text to its form in the read models: characters that Postgres text cannot hold became U+FFFD. */
export const asStored = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

/** Formats a numeric like an amount: without trailing zeros, with at least two decimals. */
export function decimalText(numeric: string): string {
  const [whole = '0', fraction = ''] = numeric.split('.');
  return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}
