/** Read-only pages for operators, on the operations port. */
import { type RequestHandler, Router } from 'express';
import type { PageRoutes } from '../../src/api/app.ts';
import { localsOf } from '../../src/api/middleware.ts';
import { answerOtherMethods, send } from '../../src/api/router.ts';
import { serveFiles } from '../dashboard/files.ts';
import { withPageHeaders } from '../dashboard/index.ts';
import { htmlType } from '../dashboard/send.ts';
import { documentOf } from '../parts/html.ts';
import { type FloatsModel, floatsPage } from './floats.ts';

export interface OperatorPagesDeps {
  /** @throws Unavailable */
  readonly floats: () => Promise<FloatsModel>;
}

const floatsPath = '/floats';

export const createOperatorPages = ({ floats }: OperatorPagesDeps): PageRoutes => ({
  routerBehind({ admission }) {
    const router = Router({ caseSensitive: true, strict: true });
    const show: RequestHandler = async (_request, response) => {
      localsOf(response).route = floatsPath;
      const headers = { 'Cache-Control': 'no-store' };
      send(response, { status: 200, type: htmlType, headers, body: documentOf(floatsPage(await floats())) });
    };
    const page = router.route(floatsPath as string);
    page.get(withPageHeaders, show);
    answerOtherMethods(page, floatsPath, [{ method: 'get' }]);
    router.get('/', (_request, response) => response.redirect(302, floatsPath));
    router.get('/dashboard/assets/:file', serveFiles(admission));
    return router;
  },
  errorPage: () => undefined,
});
