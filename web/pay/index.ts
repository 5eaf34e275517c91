/** The pages of payments under /pay, and of reusable links under /link: for holders of a link, without cookies. */
import { type Request, type RequestHandler, Router } from 'express';
import { prefersHtml } from '../../src/api/accept.ts';
import type { PageRoutes } from '../../src/api/app.ts';
import { statusOfError } from '../../src/api/errors.ts';
import { contentSecurityPolicy, localsOf } from '../../src/api/middleware.ts';
import { createPageRouter, htmlType, type PageRouterDeps } from '../dashboard/router.ts';
import { documentOf } from '../parts/html.ts';
import { languageOf } from '../parts/language.ts';
import { troublePage } from './layout.ts';
import { type PayLinkPagesDeps, payLinkPages } from './link.ts';
import { sayIn } from './messages/index.ts';
import { type PayPagesDeps, payPages } from './pages.ts';

/** Headers besides those of every answer, whose policy they keep: no frame, no form, nothing from other origins. */
const headers = new Map([
  ['Referrer-Policy', 'no-referrer'],
  ['X-Robots-Tag', 'noindex, nofollow'],
  ['Vary', 'Accept-Language, Accept, Accept-Encoding'],
]);

/** A link's page has a form, which browsers must be able to send with its origin. */
const formHeaders = new Map([
  ['Content-Security-Policy', contentSecurityPolicy({ formAction: ["'self'"] })],
  ['Referrer-Policy', 'same-origin'],
]);
const withForm: RequestHandler = (_request, response, next) => {
  response.setHeaders(formHeaders);
  next();
};

const home = { payment: '/pay', link: '/link' };

const chosenIn = ({ url }: Request): string | undefined =>
  new URLSearchParams(url.split('?')[1]).get('lang') ?? undefined;

/** Needs of the pages for payers. */
export type PayersDeps = PayPagesDeps & PayLinkPagesDeps & PageRouterDeps;

export const createPayPages = (deps: PayersDeps): PageRoutes => ({
  routerBehind(gate) {
    const router = Router({ caseSensitive: true });
    const asPage: RequestHandler = (_request, response, next) => {
      // A visitor of a payment's page knows its secret, and the page repeats no other part of a request, so its compressed size reveals nothing.
      Object.assign(localsOf(response), { isPage: true, isCompressible: true });
      response.setHeaders(headers);
      next();
    };
    router.use(home.payment, asPage);
    router.use(home.link, asPage, withForm);
    // Nobody is signed in here: an owner is a payer like any other.
    router.use(
      createPageRouter([...payPages(deps), ...payLinkPages(deps)], {
        ...gate,
        // Mail and social sites append parameters of their own to a link, such as fbclid and utm_source.
        ignoresUnknown: true,
        deps: { ...deps, findSession: async () => null },
      }),
    );
    return router;
  },

  errorPage(error, request, response) {
    const { isPage, requestId } = localsOf(response);
    const [, where] = /^\/(pay|link)(\/|$)/i.exec(request.path) ?? [];
    if (!isPage || !where || !prefersHtml(request.headers.accept)) return undefined;
    const say = sayIn(languageOf(chosenIn(request), request.headers['accept-language'] ?? null));
    const unknown = where.toLowerCase() === 'link' ? 'linkUnknown' : 'unknown';
    const what = statusOfError(error.code) < 429 ? unknown : 'trouble';
    const around = { say, mode: deps.site.mode, path: request.path };
    return { type: htmlType, body: documentOf(troublePage(around, what, what === 'trouble' ? requestId : null)) };
  },
});
