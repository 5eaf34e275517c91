/** Steps of every request before its route: id, security headers, limit on requests in progress, log entry at its end. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import type { Clock, Ids } from '../../commands/ports.ts';
import { plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import type { ApiRequestEntry } from '../../queries/apiRequests.ts';
import type { RequestSeen } from '../process/telemetry.ts';
import { ApiError, unavailable } from './errors.ts';

/** Kept on the response while a request is handled. */
export interface RequestLocals {
  requestId: string;
  /** The matched path's pattern. */
  route: string;
  keyId: string | null;
  /** App of the accepted key or session; null while no caller is accepted. */
  appId: string | null;
  /** `key:<id>` or `developer:<id>` of that caller. */
  caller: string;
  /** Error code of the answer; null for a success. */
  errorCode: string | null;
  /** Errors are pages for people as well. */
  isPage: boolean;
  /** The page may be compressed: it holds no secret that its reader does not send with the request. */
  isCompressible?: boolean;
  /** True once a rate limit has counted the request. */
  isCounted: boolean;
}

export const localsOf = (response: Response): RequestLocals => response.locals as RequestLocals;

const wellFormedId = /^[A-Za-z0-9._:-]{1,128}$/;

/** Nothing from other origins and nothing inline: also for /docs and the dashboard. */
const directives = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/** @param more additional permissions of this answer */
export const contentSecurityPolicy = (more: Partial<typeof directives & { readonly frameSrc: string[] }>): string =>
  headersOf(helmet.contentSecurityPolicy({ useDefaults: false, directives: { ...directives, ...more } })).get(
    'Content-Security-Policy',
  ) ?? '';

/** Equal for every answer, so helmet runs once. */
const headers = headersOf(
  helmet({ contentSecurityPolicy: { useDefaults: false, directives }, xFrameOptions: { action: 'deny' } }),
);

function headersOf(middleware: ReturnType<typeof helmet>): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  const response = { setHeader: (name: string, value: string) => headers.set(name, value), removeHeader() {} };
  middleware({} as IncomingMessage, response as unknown as ServerResponse, () => {});
  return headers;
}

export const securityHeaders: RequestHandler = (_request, response, next) => {
  response.setHeaders(headers as Map<string, string>);
  next();
};

/** Needs of `track`. */
export interface TrackDeps {
  readonly ids: Pick<Ids, 'eventId'>;
  readonly logger: Logger;
  /** Receives every request at its end, for metrics; `route` is the path's pattern. */
  readonly observe?: (seen: RequestSeen) => void;
  /** Receives every request of an accepted key or session at its end, for the developers of its app. */
  readonly record?: (request: FinishedRequest) => void;
}

/** Gives the request its id (the caller's, if it is well formed) and records its outcome. */
export function track({ ids, logger, observe, record }: TrackDeps): RequestHandler {
  return (request, response, next) => {
    const started = performance.now();
    const sent = request.headers['x-request-id'];
    const requestId = typeof sent === 'string' && wellFormedId.test(sent) ? sent : ids.eventId();
    const locals = localsOf(response);
    locals.requestId = requestId;
    locals.route = 'unmatched';
    locals.keyId = null;
    locals.appId = null;
    locals.caller = '';
    locals.errorCode = null;
    locals.isPage = false;
    locals.isCounted = false;
    response.setHeader('X-Request-Id', requestId);
    response.setHeader('Cache-Control', 'no-store');
    response.once('close', () => {
      const duration_s = (performance.now() - started) / 1_000;
      const seen = { method: request.method, route: locals.route, status: response.statusCode, duration_s };
      observe?.(seen);
      if (record && locals.appId !== null) record(finishedOf(seen, locals, locals.appId));
      writeLog(logger, seen, locals);
    });
    next();
  };
}

const finishedOf = (
  { method, route, status, duration_s }: RequestSeen,
  { caller, errorCode, requestId }: RequestLocals,
  appId: string,
): FinishedRequest => ({
  ...{ appId, caller, method, route, status, requestId },
  error: errorCode,
  durationMs: Math.round(1_000 * duration_s),
});

/** Successful answers are in the metrics, and their changes in the event log: only debugging needs their lines. */
function writeLog(logger: Logger, seen: RequestSeen, { requestId, keyId }: RequestLocals): void {
  const level = seen.status >= 500 ? 'warn' : seen.status >= 400 ? 'info' : 'debug';
  if (logger.isLevelEnabled(level)) logger[level]({ requestId, keyId, ...seen }, 'request');
}

/** Refuses two Host headers: a proxy may read one site and this service another. Only HTTP/1.0 (health checks) may have none. */
export function requireOneHost({ rawHeaders, httpVersion }: Request, _response: Response, next: NextFunction): void {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  const fine = hosts === 1 || (hosts === 0 && httpVersion === '1.0');
  next(fine ? undefined : new ApiError('invalidRequest', `the request has ${hosts} Host headers: send one`));
}

/** `localhost`, addresses, and names without a dot, as containers have them. */
const localHost = /^(localhost|[a-z0-9_-]+|[0-9.]+|\[[0-9a-f:.]+\])(:[0-9]+)?$/i;

/**
 * Refuses a Host that could be a public domain. Such a domain may resolve to this port (DNS rebinding), and a page of it could then read
 * every answer in an operator's browser.
 *
 * @param names additional names of this port
 */
export const requireLocalHost =
  (names: readonly string[]): RequestHandler =>
  ({ headers: { host } }, _response, next) => {
    const isKnown =
      host === undefined || localHost.test(host) || names.includes(host.toLowerCase().replace(/:[0-9]+$/, ''));
    next(
      isKnown
        ? undefined
        : new ApiError('forbidden', 'this port has no such name: use its address, or OPERATIONS_NAMES'),
    );
  };

export interface HttpLimits {
  /** Maximum number of requests in progress; further requests are answered 503 at once. */
  readonly concurrentMax: number;
  /** Interval of heartbeats to an open page, and of checks of its session. */
  readonly heartbeat_ms: number;
}

export const defaultLimits: HttpLimits = {
  concurrentMax: 500,
  heartbeat_ms: 15_000,
};

const overloadRetry_s = 1;

export interface RequestLimit {
  /** Counts the request until its response is over. @throws ApiError when too many are in progress */
  enter(response: Response): RequestSlot;
}

/** Slot of a request in progress. */
export interface RequestSlot {
  /** Releases the slot during a wait. @throws ApiError if too many are in progress afterwards */
  aside<T>(wait: () => Promise<T>): Promise<T>;
}

/** Limit on requests in progress: beyond it, an immediate 503 is better than slow answers for everybody. */
export function createRequestLimit(max: number): RequestLimit {
  let inProgress = 0;
  const take = (): void => {
    if (inProgress >= max) throw unavailable('too many requests are in progress: try again shortly', overloadRetry_s);
    inProgress += 1;
  };
  return {
    enter(response) {
      take();
      let held = true;
      const give = (): void => {
        if (held) inProgress -= 1;
        held = false;
      };
      response.once('close', give);
      return {
        async aside(wait) {
          give();
          const result = await wait();
          if (response.closed) return result;
          take();
          held = true;
          return result;
        },
      };
    },
  };
}

// The newest API requests of each app. Collected in memory and written in batches, so no request waits for Postgres.

/** Requests that are kept of one app. */
export const keptRequestsMax = 1_000;
/** Maximum of collected requests of all apps between two writes; further ones are not recorded. */
const collectedMax = 10_000;
const write_ms = 5_000;

/** A request at its end. */
interface FinishedRequest extends Omit<ApiRequestEntry, 'at'> {
  readonly appId: string;
}

export interface RequestLog {
  record(request: FinishedRequest): void;
  /** Writes the collected requests. After a failure the next write includes them. */
  write(): Promise<void>;
  /** Writes every 5 s, until the signal aborts. */
  keepWriting(clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<void>;
}

type Entry = FinishedRequest & Pick<ApiRequestEntry, 'at'> & { readonly entryId: string };

/** Needs of the log of requests. */
export interface RequestLogDeps {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'eventId'>;
}

export function createRequestLog({ sql, clock, ids }: RequestLogDeps): RequestLog {
  let collected = new Map<string, Entry[]>();
  let count = 0;

  function keep(entry: Entry): void {
    const ofApp = collected.get(entry.appId);
    if (ofApp && ofApp.length >= keptRequestsMax) ofApp.shift();
    else if (count >= collectedMax) return;
    else count += 1;
    if (ofApp) ofApp.push(entry);
    else collected.set(entry.appId, [entry]);
  }

  async function write(): Promise<void> {
    if (count === 0) return;
    const batch = [...collected.values()].flat();
    collected = new Map();
    count = 0;
    try {
      await insert(sql, batch);
    } catch (error) {
      const newer = [...collected.values()].flat();
      collected = new Map();
      count = 0;
      for (const entry of [...batch, ...newer]) keep(entry);
      throw error;
    }
  }

  return {
    record(request) {
      const requestId = looksLikeKey.test(request.requestId) ? 'removed: it looked like a key' : request.requestId;
      keep({ ...request, requestId, entryId: ids.eventId(), at: plus(clock.now(), -request.durationMs) });
    },
    write,
    async keepWriting({ sleep }, signal) {
      while (!signal.aborted) {
        await sleep(write_ms, signal);
        await write().catch(() => {});
      }
    },
  };
}

/** A client chooses the id of its request, so it may put its API key or session token there by mistake. */
const looksLikeKey = /pi_(live|test)_|^eyJ/;

/** A repeated insert after an unknown outcome changes nothing. Keeps the newest requests of each app in the batch. */
async function insert(sql: Sql, batch: readonly Entry[]): Promise<void> {
  const column = <K extends keyof Entry>(name: K): readonly Entry[K][] => batch.map((entry) => entry[name]);
  await sql.query(
    `INSERT INTO ops.api_requests (entry_id, app_id, at, caller, method, route, status, error, request_id, duration_ms)
     SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::integer[],
                          $8::text[], $9::text[], $10::integer[])
     ON CONFLICT DO NOTHING`,
    [
      column('entryId'),
      column('appId'),
      column('at'),
      column('caller'),
      column('method'),
      column('route'),
      column('status'),
      column('error'),
      column('requestId'),
      column('durationMs'),
    ],
  );
  await sql.query(
    `DELETE FROM ops.api_requests r
      USING unnest($1::text[]) AS app (id)
      CROSS JOIN LATERAL (SELECT at, entry_id FROM ops.api_requests WHERE app_id = app.id
                           ORDER BY at DESC, entry_id DESC OFFSET $2 LIMIT 1) AS oldest
      WHERE r.app_id = app.id AND (r.at, r.entry_id) <= (oldest.at, oldest.entry_id)`,
    [[...new Set(column('appId'))], keptRequestsMax],
  );
}
