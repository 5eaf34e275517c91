/** Helpers of queries. A fixed query is SQL; one with varying conditions is built with knex. */
import knex, { type Knex } from 'knex';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { parseInstant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';

/** Builds statements and never connects: they run on the service's one pool. */
export const build = knex({ client: 'pg' });

function run<R>(sql: Sql, statement: Knex.QueryBuilder): Promise<readonly R[]> {
  const { sql: text, bindings } = statement.toSQL().toNative();
  return sql.query<R>(text, bindings);
}

/** Formats a numeric like an amount: without trailing zeros, with at least two decimals. */
export function decimalText(numeric: string): string {
  const [whole = '0', fraction = ''] = numeric.split('.');
  return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}

// Pages of lists, newest first: a page ends at a row and not at a row number, so concurrent rows neither repeat nor
// hide others.

export interface PageOf<R> {
  readonly rows: readonly R[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** The columns that order a list. */
export interface Newest<R> {
  readonly at: keyof R & string;
  readonly id: keyof R & string;
}

/**
 * @param cursor `nextCursor` of the previous page
 * @returns a refusal for an invalid cursor. @throws Unavailable
 */
export async function newestFirst<R extends object>(
  sql: Sql,
  query: Knex.QueryBuilder,
  { at, id }: Newest<R>,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<PageOf<R> | Refusal> {
  if (cursor !== undefined) {
    const after = readCursor(cursor);
    if (isRefusal(after)) return after;
    query.whereRaw('(??, ??) < (?, ?)', [at, id, ...after]);
  }
  query.orderBy([
    { column: at, order: 'desc' },
    { column: id, order: 'desc' },
  ]);
  // An extra row reveals whether there is a next page.
  const found = await run<R>(sql, query.limit(limit + 1));
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, nextCursor: last && found.length > limit ? writeCursor(last[at], last[id]) : null };
}

export const writeCursor = (at: unknown, id: unknown): string => Buffer.from(`${at} ${id}`).toString('base64url');

export function readCursor(cursor: string): readonly [at: string, id: string] | Refusal {
  const [, time = '', id] = /^(\S{24}) ([\w-]{36})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const at = parseInstant(time);
  if (at !== undefined && id !== undefined) return [at, id];
  return refuse('invalidRequest', 'this cursor is none that a list answered: begin without one', '/cursor');
}
