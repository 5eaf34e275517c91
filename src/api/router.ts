/** The route table as an express router. */
import { type IRoute, type Request, type RequestHandler, type Response, Router } from 'express';
import { type Cause, isRefusal } from '../../domain/decider.ts';
import { anyOriginHeaders, preflightOf } from './anyOrigin.ts';
import type { Access } from './auth.ts';
import type { AnyCaller } from './callers.ts';
import type { Clients } from './clients.ts';
import { ApiError, errorOfRefusal } from './errors.ts';
import { compileBody, compileParameters, readBody, readQuery, uploadReader } from './input.ts';
import { localsOf, type Place, type RequestLimit } from './middleware.ts';
import type { Admission } from './rateLimits.ts';
import type { Answer, AnyRoute, Waiting } from './route.ts';
import { sendPieces } from './stream.ts';

/** What stands before every route. */
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

/** OPTIONS, and 405 for the methods that a path does not have. */
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

/** Key, how often the caller asks, parameters, body, overload, handler: each may end the request with an ApiError. */
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
    // Only what is here whole takes a place: somebody who sends half a body keeps nobody out.
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

  /** Whose key it is; and whether he, or the address without a good key, may ask again already. */
  async function identify(request: Request, response: Response): Promise<AnyCaller | null> {
    const { access, admission } = gate;
    if (route.always) return null;
    const caller = await access.authenticate(request, route.auth).catch(async (error: unknown) => {
      if (error instanceof ApiError && error.code === 'unauthenticated') await admission.ofStranger(request, response);
      throw error;
    });
    if (caller) await admission.ofCaller(caller, response);
    else await admission.ofStranger(request, response);
    return caller;
  }
}

const appIn = (body: unknown): string | undefined => (body as { readonly appId?: string | null }).appId ?? undefined;

/** Of requests that are not counted. */
const anyPlace: Place = { aside: (wait) => wait() };

/** Few requests wait: the signal is made when it is asked for. */
function waitingOf(response: Response, place: Place): Waiting {
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
