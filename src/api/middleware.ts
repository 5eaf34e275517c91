/** Steps of every request before its route: id, security headers, limit on requests in progress, log entry at its end. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import type { Ids } from '../../commands/ports.ts';
import type { RequestSeen } from '../process/reports.ts';
import { ApiError, unavailable } from './errors.ts';
import type { FinishedRequest } from './requestLog.ts';

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
