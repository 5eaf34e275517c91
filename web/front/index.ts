/** Front page at `/`, the icon and the rules for search engines, and the error page of every path that has no pages of its own. */

import { readFile } from 'node:fs/promises';
import { type Request, type RequestHandler, Router } from 'express';
import { prefersHtml, qualityOf } from '../../src/api/accept.ts';
import type { PageRoutes } from '../../src/api/app.ts';
import { localsOf } from '../../src/api/middleware.ts';
import type { Admission } from '../../src/api/rateLimits.ts';
import { type Answer, answerOtherMethods, send } from '../../src/api/router.ts';
import { memoizeFor, type Readiness, type ReadinessDeps } from '../../src/api/routes/operations.ts';
import { pageOfError } from '../dashboard/errorPages.ts';
import { createFrames, type FramesDeps } from '../dashboard/frames.ts';
import { withPageHeaders } from '../dashboard/index.ts';
import { type AnyPage, page } from '../dashboard/page.ts';
import { createPageRouter, type PageRouterDeps } from '../dashboard/router.ts';
import { htmlType } from '../dashboard/send.ts';
import { documentOf } from '../parts/html.ts';
import { llmsText } from './llms.ts';
import { frontPage, type ServiceState } from './page.ts';

/** Needs of the front page. */
export type FrontDeps = FramesDeps & PageRouterDeps & ReadinessDeps & { readonly publicUrl: () => string };

const home = '/';

/** Payment pages and the dashboard are for holders of a link and for owners. */
const robots = `User-agent: *
Allow: /$
Allow: /docs
Allow: /llms.txt
Disallow: /
`;

const cacheable = { 'Cache-Control': 'public, max-age=86400' };

/** Interval between two checks for the front page, whatever the number of its readers. */
const stateLife_ms = 5_000;

export const createFront = (deps: FrontDeps): PageRoutes => ({
  routerBehind(gate) {
    // Strict, because `//` is no valid path.
    const router = Router({ caseSensitive: true, strict: true });
    router.get(home, withPageHeaders);
    // Links from elsewhere carry parameters of their own, such as utm_source.
    router.use(createPageRouter([front(deps)], { ...gate, ignoresUnknown: true, strict: true, deps }));
    const icon = () => readFile(new URL('favicon.ico', import.meta.url));
    serveFile(router, gate.admission, '/favicon.ico', async () => ({ type: 'image/x-icon', body: await icon() }));
    serveFile(router, gate.admission, '/robots.txt', async () => ({ type: 'text/plain; charset=utf-8', body: robots }));
    const llms = () => llmsText(deps.publicUrl());
    serveFile(router, gate.admission, '/llms.txt', async () => ({ type: 'text/plain; charset=utf-8', body: llms() }));
    return router;
  },

  errorPage(error, request, response) {
    if (!isOpenedByPerson(request)) return undefined;
    response.setHeader('Vary', 'Accept, Sec-Fetch-Mode');
    return { type: htmlType, body: documentOf(pageOfError(error, localsOf(response).requestId, deps.site.mode)) };
  },
});

/** Paths of the API: programs that name text/html get JSON there, as documented. */
const apiPath = /^\/(payment-api|merchant-api|v1|x402)(\/|$)/;

/** Browsers name text/html, and report in Sec-Fetch-Mode that they open a page. Old browsers do not send that header. */
function isOpenedByPerson({ method, path, headers }: Request): boolean {
  if ((method !== 'GET' && method !== 'HEAD') || qualityOf(headers.accept, 'text/html') === 0) return false;
  const mode = headers['sec-fetch-mode'];
  return prefersHtml(headers.accept) && (mode === undefined ? !apiPath.test(path) : mode === 'navigate');
}

function serveFile(
  router: Router,
  admission: Pick<Admission, 'ofStranger'>,
  path: string,
  read: () => Promise<Pick<Answer, 'type' | 'body'>>,
): void {
  const answer: RequestHandler = async (request, response) => {
    localsOf(response).route = path;
    await admission.ofStranger(request, response);
    send(response, { status: 200, headers: cacheable, ...(await read()) });
  };
  const resource = router.route(path);
  resource.get(answer);
  answerOtherMethods(resource, path, [{ method: 'get' }]);
}

function front(deps: FrontDeps): AnyPage {
  const { site, readiness, clock } = deps;
  const frames = createFrames(deps);
  const check = memoizeFor(() => readiness().catch(() => null), { clock, life_ms: stateLife_ms });
  return page({
    path: home,
    audience: 'anyone',
    async show(visit) {
      const [outer, found] = await Promise.all([frames.outer(visit), check()]);
      const { chains, fee, registrationOpen } = site;
      const model = { chains, fee, registrationOpen, state: stateOf(found), behind: behindIn(found) };
      return { page: frontPage({ ...outer, ...model }) };
    },
  });
}

const stateOf = (found: Readiness | null): ServiceState =>
  found === null ? 'unknown' : found.ready ? 'accepting' : 'notAccepting';

const chainCheck = /^chain:(\d+)$/;

const behindIn = (found: Readiness | null): ReadonlySet<number> =>
  new Set(
    Object.entries(found?.checks ?? {}).flatMap(([name, { ok }]) => {
      const [, id] = chainCheck.exec(name) ?? [];
      return ok || id === undefined ? [] : [Number(id)];
    }),
  );
