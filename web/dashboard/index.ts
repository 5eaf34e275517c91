/** The dashboard: pages for people under /dashboard, and `/`, which leads there. */
import { Router } from 'express';
import { prefersHtml } from '../../src/api/accept.ts';
import type { Pages } from '../../src/api/app.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { localsOf } from '../../src/api/middleware.ts';
import { answerOtherMethods, type Gate, send } from '../../src/api/router.ts';
import { documentOf } from '../parts/html.ts';
import { paths } from '../parts/paths.ts';
import { pageOfError } from './errorPages.ts';
import { filesPath, serveFiles } from './files.ts';
import { asPage } from './headers.ts';
import { dashboardPages } from './pages.ts';
import { createPageRouter } from './router.ts';
import { html } from './send.ts';

export const createDashboard = (deps: HttpDeps): Pages => ({
  routerBehind(gate) {
    const router = Router({ caseSensitive: true });
    router.use(paths.home, asPage);
    router.use(leadingHome(gate));
    const files = router.route(filesPath.replace('{file}', ':file'));
    files.get(serveFiles(gate.admission));
    answerOtherMethods(files, filesPath, [{ method: 'get' }]);
    router.use(createPageRouter(dashboardPages(deps), { ...gate, deps }));
    return router;
  },
  errorPage(error, request, response) {
    const { isPage, requestId } = localsOf(response);
    if (!isPage || !prefersHtml(request.headers.accept)) return undefined;
    return { type: html, body: documentOf(pageOfError(error, requestId, deps.site.mode)) };
  },
});

const front: string = '/';

/** Strict, for `//` is no way in. */
function leadingHome({ admission }: Pick<Gate, 'admission'>): Router {
  const router = Router({ strict: true });
  const resource = router.route(front);
  resource.get(async (request, response) => {
    localsOf(response).route = front;
    await admission.ofStranger(request, response);
    send(response, { status: 303, body: '', type: html, headers: { Location: paths.home } });
  });
  answerOtherMethods(resource, front, [{ method: 'get' }]);
  return router;
}
