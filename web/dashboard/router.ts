/** Express router of the dashboard's pages, beside the API's. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { isRefusal } from '../../domain/decider.ts';
import { rolePointer } from '../../domain/merchant/roles.ts';
import { encodingOf } from '../../src/api/accept.ts';
import type { AccessDeps, Owner, SignedIn } from '../../src/api/auth.ts';
import { ApiError, errorOfRefusal, statusOfError } from '../../src/api/errors.ts';
import { compileBody, compileParameters, readQuery, type Validate } from '../../src/api/input.ts';
import { localsOf } from '../../src/api/middleware.ts';
import type { Clients } from '../../src/api/rateLimits.ts';
import { answerOtherMethods, type Gate, send, sendPieces } from '../../src/api/router.ts';
import { documentOf } from '../parts/html.ts';
import { paths } from '../parts/paths.ts';
import { inLanguage } from '../parts/say.ts';
import { cookieText, noNotice, noticeCookie, noticeIn, readCookies, type SetCookie } from './cookies.ts';
import { readForm, readUpload, refusedForm, type Uploaded } from './forms.ts';
import type { AnyForm, AnyPage, Audience, PageAnswer, Submitted, Visit } from './page.ts';
import { readingOf } from './signIn.ts';

/**
 * Browsers report a form's origin in Sec-Fetch-Site and in Origin (Fetch standard). Each present header must name us, and at least one must
 * be present. `Origin: null` is a page that hides its origin: never one of ours.
 *
 * @param publicUrl public URL of the service, if a proxy changes the Host header
 * @throws ApiError forbidden
 */
export function requireSameOrigin({ headers }: Pick<IncomingMessage, 'headers'>, publicUrl: string): void {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  const siteFits = site === undefined || site === 'same-origin';
  const originFits = origin === undefined || isOurs(origin, host, publicUrl);
  if (siteFits && originFits && (site !== undefined || origin !== undefined)) return;
  throw new ApiError('forbidden', 'this did not come from the dashboard itself: open the page and try again there');
}

function isOurs(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const sent = new URL(origin);
  return sent.host === host?.toLowerCase() || sent.origin === new URL(publicUrl).origin;
}

/** Needs of the pages' router. */
export interface PageRouterDeps extends Pick<AccessDeps, 'findSession' | 'appsOf'> {
  readonly clients: Pick<Clients, 'of'>;
  readonly publicUrl: () => string;
}

export interface PageGate extends Pick<Gate, 'admission' | 'limit'> {
  /** Pages ignore unknown parameters. Default: they refuse them. */
  readonly ignoresUnknown?: boolean;
  /** A slash at a path's end makes another path. */
  readonly strict?: boolean;
  /** Pages are in the reader's language, as `say` returns it. Default: pages choose their language themselves. */
  readonly isTranslated?: true;
  readonly deps: PageRouterDeps;
}

type Served = AnyPage | AnyForm;
type Handler = (visit: Visit<Audience>, request: Request, response: Response) => Promise<PageAnswer>;

export function createPageRouter(pages: readonly Served[], gate: PageGate): Router {
  const router = Router({ caseSensitive: true, strict: gate.strict ?? false });
  for (const [path, here] of Map.groupBy(pages, (each) => each.path)) {
    const resource = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const each of here) resource[each.method](serve(each, gate));
    answerOtherMethods(resource, path, here);
  }
  return router;
}

/** Origin, identity, rate limits, ownership, input, overload, handler. */
function serve(
  page: Served,
  { deps, admission, limit, ignoresUnknown = false, isTranslated }: PageGate,
): RequestHandler {
  const checkParams = page.params && compileParameters(page.params);
  const handle = page.method === 'get' ? showing(page, limit, ignoresUnknown) : acting(page, { admission, limit });

  return async (request, response) => {
    localsOf(response).route = page.path;
    if (page.method === 'post') requireSameOrigin(request, deps.publicUrl());
    await (isTranslated
      ? inLanguage(readingOf(request, readCookies(request)), () => answer(request, response))
      : answer(request, response));
  };

  async function answer(request: Request, response: Response): Promise<void> {
    const visit = await visitOf(request, response);
    if (!visit) return sendPage(request, response, { to: signInFor(request) });
    await sendPage(request, response, await handle(visit, request, response), visit);
  }

  /** Null if the visitor must sign in first. */
  async function visitOf(request: Request, response: Response): Promise<Visit<Audience> | null> {
    const cookies = readCookies(request);
    const person = cookies.session === undefined ? null : await deps.findSession(cookies.session);
    if (person) await admission.ofCaller(person, response);
    else await admission.ofStranger(request, response);
    if (!person && page.audience !== 'anyone') return null;
    const visitor = person && page.audience === 'owner' ? await ownerOf(person, request) : person;
    if (checkParams) existing(checkParams, request.params);
    return {
      visitor,
      params: request.params,
      query: {},
      cookies,
      address: deps.clients.of(request),
      languages: request.headers['accept-language'] ?? null,
      agent: request.headers['user-agent']?.slice(0, agentMax) ?? null,
      flash: noticeIn(cookies),
      gone: goneWith(response),
      by: {
        cause: person ? `developer:${person.developerId}` : 'keyless',
        requestId: localsOf(response).requestId,
      },
    };
  }

  /** Another owner's app is answered like an unknown one. */
  async function ownerOf(person: SignedIn, { params }: Request): Promise<Owner> {
    const appId = String(params['appId']);
    const own = await deps.appsOf(person.developerId);
    if (!own.includes(appId)) throw noSuchPage();
    return { ...person, appId };
  }
}

const agentMax = 300;

export const noSuchPage = (): ApiError => new ApiError('notFound', 'there is no such page: check the address');

/** An impossible id is answered like an unknown one. */
function existing(check: Validate, params: unknown): void {
  try {
    check(params);
  } catch {
    throw noSuchPage();
  }
}

function goneWith(response: Response): AbortSignal {
  const gone = new AbortController();
  once(response, 'close')
    .finally(() => gone.abort())
    .catch(() => {});
  return gone.signal;
}

/** Redirects back to the requested page; a form's values are not kept. */
const signInFor = ({ method, originalUrl }: Request): string =>
  method === 'POST' || originalUrl === paths.home
    ? paths.signIn
    : `${paths.signIn}?${new URLSearchParams({ next: originalUrl })}`;

function showing(page: AnyPage, limit: Gate['limit'], ignoresUnknown: boolean): Handler {
  const checkQuery = page.query && compileParameters(page.query);
  const names = new Set(Object.keys((page.query as { readonly properties?: object } | undefined)?.properties ?? {}));
  return async (visit, request, response) => {
    const query = readQuery(filled(request, ignoresUnknown ? names : undefined), checkQuery);
    if (!page.stays) limit.enter(response);
    return page.show({ ...visit, query });
  };
}

/**
 * The URL with its non-empty parameters: GET forms send empty fields.
 *
 * @param names parameters to keep. Default: all.
 */
function filled({ url }: Request, names?: ReadonlySet<string>): Pick<Request, 'url'> {
  const start = url.indexOf('?');
  if (start < 0) return { url };
  const given = [...new URLSearchParams(url.slice(start + 1))].filter(
    ([name, value]) => value !== '' && (names?.has(name) ?? true),
  );
  return { url: `${url.slice(0, start)}?${new URLSearchParams(given)}` };
}

function acting(page: AnyForm, { admission, limit }: Pick<Gate, 'admission' | 'limit'>): Handler {
  const check = compileBody(page.fields);
  const names = Object.keys((page.fields as { readonly properties?: object }).properties ?? {});
  const { file: fileLimits } = page;

  const read = async (request: Request, response: Response): Promise<Uploaded> =>
    fileLimits ? readUpload(request, response, fileLimits) : { fields: await readForm(request, response), file: null };

  return async (visit, request, response) => {
    const sent = await read(request, response);
    // Only a complete request uses a slot: a sender of half a form blocks nobody.
    limit.enter(response);
    const again = async (error: ApiError): Promise<PageAnswer> => {
      if (!isShownInForm(error)) throw error;
      const state = refusedForm(sent.fields, error, fileLimits ? [...names, fileLimits.name] : names, page.pointers);
      return { status: statusOfError(error.code), headers: error.headers, ...(await page.again(visit, state)) };
    };
    try {
      check(sent.fields);
      if (page.creates) await admission.ofKeylessCreation(request, response);
      const submitted: Submitted<Audience, unknown, unknown> = { ...visit, ...sent };
      const answer = await page.act(submitted);
      return isRefusal(answer) ? await again(errorOfRefusal(answer)) : answer;
    } catch (error) {
      if (error instanceof ApiError) return again(error);
      throw error;
    }
  };
}

/** Errors to correct in the form, or by sending it again; others have a separate page. */
const isShownInForm = ({ code, errors }: ApiError): boolean =>
  !['notFound', 'paymentNotFound', 'deliveryNotFound', 'internal'].includes(code) &&
  !(code === 'forbidden' && errors.some(({ pointer }) => pointer === rolePointer));

// Answers of pages to the browser.

export const htmlType = 'text/html; charset=utf-8';

/** @param visit its notice, if any, is displayed by the page */
async function sendPage(
  request: Request,
  response: Response,
  answer: PageAnswer,
  visit?: Pick<Visit<'anyone'>, 'flash'>,
): Promise<void> {
  if ('pieces' in answer) return sendPieces(request, response, answer);
  if ('to' in answer) {
    setCookies(response, [...(answer.set ?? []), ...(answer.told ? [noticeCookie(answer.told)] : [])]);
    return send(response, { status: 303, body: '', type: htmlType, headers: { Location: answer.to } });
  }
  if ('page' in answer) {
    setCookies(response, [...(answer.set ?? []), ...(visit?.flash ? [noNotice] : [])]);
    const { page, status = 200, headers = {} } = answer;
    const { body, encoding } = compressedFor(request, response, documentOf(page));
    return send(response, { status, headers: { ...headers, ...encoding }, body, type: htmlType });
  }
  send(response, answer);
}

/** Below this size, compressing saves no packet. */
const compressedFrom_bytes = 1_400;

/** A page is another one at each request, so it is compressed quickly rather than well. */
function compressedFor(request: Request, response: Response, text: string) {
  const isAccepted = encodingOf(request.headers['accept-encoding'], ['gzip']) !== null;
  if (!localsOf(response).isCompressible || !isAccepted || text.length < compressedFrom_bytes)
    return { body: text, encoding: {} };
  return { body: gzipSync(text, { level: 5 }), encoding: { 'Content-Encoding': 'gzip' } };
}

function setCookies(response: Response, cookies: readonly SetCookie[]): void {
  if (cookies.length > 0) response.setHeader('Set-Cookie', cookies.map(cookieText));
}
