/** The route table as an express router. */
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { isRefusal } from '../../domain/decider.ts';
import { readBody } from './body.ts';
import { ApiError, errorOfRefusal } from './errors.ts';
import { localsOf, type Places } from './guards.ts';
import type { Access } from './keys.ts';
import type { Answer, AnyRoute } from './route.ts';
import { compileBody, compileParameters, type Validate } from './validation.ts';

export function createRouter(routes: readonly AnyRoute[], access: Access, places: Places): Router {
  const router = Router({ caseSensitive: true });
  for (const [path, here] of Map.groupBy(routes, ({ path }) => path)) {
    const methods = here.map(({ method }) => method.toUpperCase());
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
    const resource = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const route of here) resource[route.method](serve(route, access, places));
    resource.options((_request, response) => {
      localsOf(response).route = path;
      response.writeHead(204, { Allow: allow, ...corsOf(here) }).end();
    });
    resource.all((request, response) => {
      localsOf(response).route = path;
      throw new ApiError('methodNotAllowed', `${request.method} is not possible here: use ${allow}`, {
        headers: { Allow: allow },
      });
    });
  }
  return router;
}

const corsOf = (routes: readonly AnyRoute[]): Record<string, string> =>
  routes.some(({ publicRead }) => publicRead)
    ? { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Methods': 'GET' }
    : {};

/** Overload, key, parameters, body, handler: each may end the request with an ApiError. */
function serve(route: AnyRoute, access: Access, places: Places): RequestHandler {
  const checkParams = route.params && compileParameters(route.params);
  const checkQuery = route.query && compileParameters(route.query);
  const checkBody = route.body && compileBody(route.body);

  return async (request, response) => {
    const locals = localsOf(response);
    locals.route = route.path;
    if (!route.always) places.take(response);
    if (route.publicRead && isAnonymous(request)) response.setHeader('Access-Control-Allow-Origin', '*');
    const caller = await access.authenticate(request, route.auth);
    locals.keyId = caller?.keyId ?? null;
    checkParams?.(request.params);
    const query = route.auth === 'none' ? {} : readQuery(request, checkQuery);
    const body = checkBody ? await readBody(request, response) : undefined;
    checkBody?.(body);
    const { requestId } = locals;
    const answer = await route.handle({ caller, params: request.params, query, body, requestId });
    if (isRefusal(answer)) throw errorOfRefusal(answer);
    send(response, answer);
  };
}

const isAnonymous = ({ headers }: Request): boolean =>
  headers['x-api-key'] === undefined && headers.authorization === undefined;

/** Every parameter once and known: a misspelt filter must not be a filter that is silently left out. */
function readQuery(request: Request, check: Validate | undefined): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  const start = request.url.indexOf('?');
  if (start >= 0) {
    for (const [name, value] of new URLSearchParams(request.url.slice(start + 1))) {
      if (name in values) throw badParameter(name, 'is given more than once');
      values[name] = value;
    }
  }
  if (check) check(values);
  else {
    const [name] = Object.keys(values);
    if (name !== undefined) {
      throw badParameter(name, 'is not known here: this takes no query parameters, and keys never belong in a URL');
    }
  }
  return values;
}

function badParameter(name: string, message: string): ApiError {
  const pointer = `/${name.slice(0, 64)}`;
  return new ApiError('invalidRequest', `${pointer} ${message}`, { errors: [{ pointer, message }] });
}

export function send(response: Response, { status, body, type, headers }: Answer): void {
  const content = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  response.statusCode = status;
  response.setHeader('Content-Type', type ?? 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(content));
  if (headers) for (const name in headers) response.setHeader(name, headers[name] as string);
  response.end(content);
}
