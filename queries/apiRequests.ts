/** The newest API requests of an app, for its developers. */
import { isRefusal, type Refusal } from '../domain/decider.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';
import { build, newestFirst } from './sql.ts';

/** One API request with an accepted key or session. It has no body, query, header or address. */
export interface ApiRequestEntry {
  /** Start of the request. */
  readonly at: Instant;
  /** `key:<id>` or `developer:<id>`. */
  readonly caller: string;
  readonly method: string;
  /** Pattern of the path, without ids. */
  readonly route: string;
  readonly status: number;
  /** Error code of the answer; null for a success. */
  readonly error: string | null;
  readonly requestId: string;
  readonly durationMs: number;
}

export interface ApiRequestFilter {
  /** Rows of a page, from 1 on. */
  readonly limit: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** True for answers from 400 on only. */
  readonly failed?: boolean;
  readonly caller?: string | undefined;
}

export interface ApiRequestsPage {
  readonly requests: readonly ApiRequestEntry[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

interface Row extends ApiRequestEntry {
  readonly entry_id: string;
}

const columns = build.raw(
  'entry_id, at, caller, method, route, status, error, request_id AS "requestId", duration_ms AS "durationMs"',
);

/** An app's requests, newest first. Refuses an invalid cursor. @throws Unavailable */
export async function listApiRequests(
  sql: Sql,
  appId: string,
  { limit, cursor, failed = false, caller }: ApiRequestFilter,
): Promise<ApiRequestsPage | Refusal> {
  const query = build('ops.api_requests').select(columns).where('app_id', appId);
  if (failed) query.where('status', '>=', 400);
  if (caller !== undefined) query.where('caller', caller);
  const page = await newestFirst<Row>(sql, query, { at: 'at', id: 'entry_id' }, { limit, cursor });
  if (isRefusal(page)) return page;
  return { requests: page.rows.map(({ entry_id: _, ...request }) => request), nextCursor: page.nextCursor };
}
