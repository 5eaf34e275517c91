/** The route table as an express router. */

import { once } from 'node:events';
import { type IRoute, type Request, type RequestHandler, type Response, Router } from 'express';
import type { Static, TSchema } from 'typebox';
import type { By } from '../../commands/handle.ts';
import { type Cause, isRefusal, type Refusal } from '../../domain/decider.ts';
import type { Asker } from '../accounts/accounts.ts';
import type { Access, AnyCaller, Auth, CallerOf } from './auth.ts';
import { ApiError, type ErrorCode, errorOfRefusal } from './errors.ts';
import { compileBody, compileParameters, readBody, readQuery, type Upload, uploadReader } from './input.ts';
import { localsOf, type RequestLimit, type RequestSlot } from './middleware.ts';
import type { Admission, Clients } from './rateLimits.ts';

// Cross-origin access (CORS) to routes without a key. Browsers send neither keys nor cookies with it.

/** Response headers that pages of other origins may read. */
const exposed = ['Idempotent-Replayed', 'Location', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id'];

export const anyOriginHeaders: Map<string, string> = new Map([
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', exposed.join(', ')],
]);

/** Without `X-API-Key` and `Authorization`: a key in a page is a leaked key. */
const allowed = ['Content-Type', 'X-Request-Id'];
/** Chromium's own maximum. */
const preflightLife_s = 7_200;

/** Headers that answer a browser's preflight for the routes of one path. */
export function preflightOf(routes: readonly AnyRoute[]): Readonly<Record<string, string>> {
  const open = routes.filter(({ anyOrigin }) => anyOrigin);
  if (open.length === 0) return {};
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': open.map(({ method }) => method.toUpperCase()).join(', '),
    'Access-Control-Allow-Headers': allowed.join(', '),
    'Access-Control-Max-Age': String(preflightLife_s),
  };
}

/** Checks before every route. */
export interface Gate {
  readonly access: Access;
  readonly admission: Admission;
  readonly limit: RequestLimit;
  readonly clients: Pick<Clients, 'of'>;
}

export function createRouter(routes: readonly AnyRoute[], gate: Gate): Router {
  const router = Router({ caseSensitive: true });
  for (const [path, here] of Map.groupBy(routes, ({ path }) => path)) {
    const resource = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const route of here) resource[route.method](serve(route, gate));
    answerOtherMethods(resource, path, here, preflightOf(here));
  }
  return router;
}

/** Answers OPTIONS, and 405 for methods that a path does not have. */
export function answerOtherMethods(
  resource: IRoute,
  path: string,
  here: readonly { readonly method: string }[],
  headers: Readonly<Record<string, string>> = {},
): void {
  const methods = here.map(({ method }) => method.toUpperCase());
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  resource.options((_request, response) => {
    localsOf(response).route = path;
    response.writeHead(204, { Allow: allow, ...headers }).end();
  });
  resource.all((request, response) => {
    localsOf(response).route = path;
    throw new ApiError('methodNotAllowed', `${request.method} is not possible here: use ${allow}`, {
      headers: { Allow: allow },
    });
  });
}

/** Key, rate limits, parameters, body, overload, handler: each may end the request with an ApiError. */
function serve(route: AnyRoute, gate: Gate): RequestHandler {
  const checkParams = route.params && compileParameters(route.params);
  const checkQuery = route.query && compileParameters(route.query);
  const checkBody = route.body && compileBody(route.body);
  const readFile = route.upload && uploadReader(route.upload);

  return async (request, response) => {
    const locals = localsOf(response);
    locals.route = route.path;
    if (route.anyOrigin && isAnonymous(request)) response.setHeaders(anyOriginHeaders);
    const caller = await identify(request, response);
    locals.keyId = caller && 'keyId' in caller ? caller.keyId : null;
    checkParams?.(request.params);
    const query = route.auth === 'none' ? {} : readQuery(request, checkQuery);
    const read = checkBody ? readBody : readFile;
    const body = await read?.(request, response);
    checkBody?.(body);
    if (route.creates && !caller) await gate.admission.ofKeylessCreation(request, response, appIn(body));
    // Only a complete request uses a slot: a sender of half a body blocks nobody.
    const place = route.always ? anyPlace : gate.limit.enter(response);
    const by = { cause: causeOf(caller), requestId: locals.requestId };
    const answer = await route.handle({
      caller,
      params: request.params,
      query,
      body,
      by,
      asker: { address: gate.clients.of(request), userAgent: request.headers['user-agent'] ?? null },
      waiting: waitingOf(response, place),
    });
    if (isRefusal(answer)) throw errorOfRefusal(answer);
    if ('pieces' in answer) await sendPieces(request, response, answer);
    else send(response, answer);
  };

  /** Identifies the key's caller, and counts the request for them, or for the address without a valid key. */
  async function identify(request: Request, response: Response): Promise<AnyCaller | null> {
    const { access, admission } = gate;
    if (route.always) return null;
    const accepted = (caller: AnyCaller) => noteCaller(response, caller);
    const caller = await access.authenticate(request, route.auth, accepted).catch(async (error: unknown) => {
      if (error instanceof ApiError && error.code === 'unauthenticated') await admission.ofStranger(request, response);
      throw error;
    });
    if (caller) accepted(caller);
    if (caller) await admission.ofCaller(caller, response);
    else await admission.ofStranger(request, response);
    return caller;
  }
}

/** Names the app that the request belongs to. A person without an app has none. */
function noteCaller(response: Response, caller: AnyCaller): void {
  const locals = localsOf(response);
  locals.appId = 'appId' in caller ? caller.appId : null;
  locals.caller = causeOf(caller);
}

const appIn = (body: unknown): string | undefined => (body as { readonly appId?: string | null }).appId ?? undefined;

/** Slot of requests that are not counted. */
const anyPlace: RequestSlot = { aside: (wait) => wait() };

/** Few requests wait: the signal is created on demand. */
function waitingOf(response: Response, place: RequestSlot): Waiting {
  let away: AbortSignal | undefined;
  return {
    aside: place.aside,
    get away() {
      away ??= closing(response);
      return away;
    },
  };
}

function closing(response: Response): AbortSignal {
  const closed = new AbortController();
  if (response.closed) closed.abort();
  else response.once('close', () => closed.abort());
  return closed.signal;
}

const causeOf = (caller: AnyCaller | null): Cause => {
  if (!caller) return 'keyless';
  return 'keyId' in caller ? `key:${caller.keyId}` : `developer:${caller.developerId}`;
};

const isAnonymous = ({ headers }: Request): boolean => !headers['x-api-key'] && !headers.authorization?.trim();

export function send(response: Response, { status, body, type, headers }: Answer): void {
  const content = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  response.statusCode = status;
  response.setHeader('Content-Type', type ?? 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(content));
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value === null) response.removeHeader(name);
    else response.setHeader(name, value);
  }
  response.end(content);
}

/** Declarative form of an endpoint. Router, validation, 405 with Allow and the OpenAPI document follow from it. */
export interface ApiRequest<A extends Auth, P, Q, B> {
  readonly caller: CallerOf<A>;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Actor recorded in its events. */
  readonly by: By;
  readonly asker: RequestAsker;
  readonly waiting: Waiting;
}

/** Origin of the request, for anonymous requests. */
export type RequestAsker = Pick<Asker, 'address' | 'userAgent'>;

/** For requests that are answered at an event. */
export interface Waiting extends RequestSlot {
  /** Aborts when the caller disconnects, or has been answered. */
  readonly away: AbortSignal;
}

/** Objects are sent as JSON; text and bytes with `type`. */
export interface Answer {
  readonly status: number;
  readonly body: object | string | Uint8Array;
  readonly type?: string;
  /** Null removes a header that every answer has. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

export type AnswerHeader = 'Location' | 'Idempotent-Replayed' | 'Retry-After';

export interface AnswerSpec {
  readonly description: string;
  /** Omitted for answers other than JSON. */
  readonly schema?: TSchema;
  /** Type of an answer without a schema. Default: text/plain. */
  readonly type?: string;
  /** Headers besides those of every answer. */
  readonly headers?: readonly AnswerHeader[];
}

export interface Route<
  A extends Auth = Auth,
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
> {
  readonly method: 'get' | 'post';
  /** In OpenAPI's form: `/payments/{id}`. */
  readonly path: string;
  readonly auth: A;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The body is a file: its handler gets the raw bytes. */
  readonly upload?: Upload;
  readonly answers: Readonly<Record<number, AnswerSpec>>;
  /** Errors of this route besides those of every route. */
  readonly errors: readonly ErrorCode[];
  /** Null for pages and files, which the document omits. */
  readonly doc: Documentation | null;
  /** Pages of any origin may call it without a key (CORS, never with credentials). */
  readonly anyOrigin?: boolean;
  /** Without a key, a valid request counts as a stranger's payment creation. */
  readonly creates?: boolean;
  /** Answered even under overload, and without a rate limit. */
  readonly always?: boolean;
  handle(request: ApiRequest<A, Static<P>, Static<Q>, Static<B>>): Promise<Answer | Streamed | Refusal>;
}

export interface Documentation {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
}

/** A route without its schemas' types, for tables of routes. */
export type AnyRoute = Omit<Route, 'handle'> & {
  handle(request: ApiRequest<Auth, unknown, unknown, unknown>): Promise<Answer | Streamed | Refusal>;
};

/** Infers the handler's types from the schemas. The router calls it only with accepted input. */
export const route = <A extends Auth, P extends TSchema, Q extends TSchema, B extends TSchema>(
  definition: Route<A, P, Q, B>,
): AnyRoute => definition as unknown as AnyRoute;

export const ok = (body: object, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status: 200,
  body,
  headers,
});

// Streams answers piece by piece at the reader's speed.

export interface Streamed {
  readonly pieces: AsyncIterable<string>;
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Timeout for a reader that accepts nothing. */
const stall_ms = 30_000;

/** A disconnected reader is no error, and cannot be notified: the connection ends before the content does. */
export async function sendPieces(
  request: Request,
  response: Response,
  { pieces, type, headers = {} }: Streamed,
): Promise<void> {
  response.writeHead(200, { 'Content-Type': type, ...headers });
  if (request.method === 'HEAD') return void response.end();
  response.flushHeaders();
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    for await (const piece of pieces) {
      if (response.closed) return;
      if (response.write(piece)) continue;
      await once(response, 'drain', { signal: AbortSignal.any([gone.signal, AbortSignal.timeout(stall_ms)]) });
    }
    response.end();
  } catch {
    response.destroy();
  }
}
