/** The pages of payments under /pay, and of reusable links under /link: for holders of a link, without cookies. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Request, type RequestHandler, Router } from 'express';
import Type from 'typebox';
import type { ChosenSource } from '../../commands/chooseSource.ts';
import type { By } from '../../commands/handle.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { isDue } from '../../domain/payment/choose.ts';
import type { Payment } from '../../domain/payment/state.ts';
import type { PayerFacts } from '../../queries/payerFacts.ts';
import { prefersHtml } from '../../src/api/accept.ts';
import type { PageRoutes } from '../../src/api/app.ts';
import { statusOfError } from '../../src/api/errors.ts';
import { contentSecurityPolicy, type HttpLimits, localsOf } from '../../src/api/middleware.ts';
import type { PaymentListener, PaymentNews } from '../../src/api/news.ts';
import { type PayLinkDeps, payPath } from '../../src/api/resource.ts';
import { entry, fields } from '../dashboard/forms.ts';
import { type AnyForm, type AnyPage, form, type PageResult, page, type Visit } from '../dashboard/page.ts';
import { createPageRouter, htmlType, noSuchPage, type PageRouterDeps } from '../dashboard/router.ts';
import { colourSheet } from '../parts/colour.ts';
import { documentOf } from '../parts/html.ts';
import { languageOf } from '../parts/language.ts';
import { withQuery } from '../parts/paths.ts';
import { wantedMax } from './choice.ts';
import { framing, troublePage } from './layout.ts';
import { type PayLinkPagesDeps, payLinkPages } from './link.ts';
import { sayIn } from './messages/index.ts';
import type { PayModel } from './model.ts';
import { payPage } from './page.ts';
import { type PageQuery, type PayerReads, payModelOf } from './payModel.ts';
import { receiptPage } from './receipt.ts';
import { type RefundFormDeps, refundForm } from './refund.ts';

/** Headers besides those of every answer, whose policy they keep: no frame, no form, nothing from other origins. */
const pageHeaders = new Map([
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

/** A page that could not be shown is not requested again sooner. */
const againLeast_s = 5;

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
      response.setHeaders(pageHeaders);
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
    const again_s = Math.max(againLeast_s, Number(error.headers['Retry-After'] ?? 0));
    const around = { say, mode: deps.site.mode, path: request.path };
    const shown =
      statusOfError(error.code) < 429
        ? troublePage(around, unknown)
        : troublePage(around, 'trouble', { requestId, again_s });
    return { type: htmlType, body: documentOf(shown) };
  },
});

// The pages of payments for holders of a payment's link: payment page, receipt, updates, a colour.

/** Needs of the pages of payments. */
interface PayPagesDeps extends RefundFormDeps, PayNewsDeps {
  /** The payer's choice; the caller has the payment's link. */
  readonly chooseSource: (paymentId: string, source: ChosenSource, by: By) => Promise<Payment | Refusal>;
}

/** `source` in the page's buttons: `8453 USDC`. */
const Choice = fields({
  source: entry(40),
  lang: Type.Optional(entry(16)),
  amount: Type.Optional(entry(wantedMax)),
});

type ChoiceRequest = Visit<'anyone', { readonly secret: string }>;

/**
 * Form of a payment's page for choosing a source.
 * @param again page after a refused choice
 */
export const choiceForm = (
  { chooseSource, paymentSecrets }: Pick<PayPagesDeps, 'chooseSource' | 'paymentSecrets'>,
  again: (visit: ChoiceRequest, lang: string | undefined) => Promise<PageResult>,
): AnyForm =>
  form({
    path: '/pay/{secret}',
    audience: 'anyone',
    params,
    fields: Choice,
    async act({ params: { secret }, fields: { source, lang = null, amount = null }, by: { requestId } }) {
      const paymentId = paymentSecrets.paymentIdOf(secret);
      if (paymentId === null) throw noSuchPage();
      const [, chainId = '', tokenSymbol = ''] = /^(\d{1,9}) ([A-Z0-9]{1,16})$/.exec(source) ?? [];
      const by = { cause: 'payer', ...(requestId !== undefined && { requestId }) } as const;
      const chosen = await chooseSource(paymentId, { chainId: Number(chainId), tokenSymbol }, by);
      if (isRefusal(chosen)) return chosen;
      return { to: withQuery(payPath(secret), { lang, amount }) };
    },
    again: (visit, { values }) => again(visit, values['lang']),
  });

const file = join(import.meta.dirname, '../embed/embed.js');

/** Modules are requested with CORS (HTML standard, 8.1.4.2), so only this file may be read from everywhere. */
const headers = {
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cache-Control': 'public, max-age=600',
};

/** Serves the script for merchants' pages, which opens payment pages there, in a frame. */
export function embedScript(): AnyPage {
  const body = readFileSync(file);
  return page({
    path: '/embed.js',
    audience: 'anyone',
    show: async () => ({ status: 200, type: 'text/javascript; charset=utf-8', body, headers }),
  });
}

const Asked = fields({ lang: Type.Optional(entry(16)), amount: Type.Optional(entry(wantedMax)) });
type Asking = Visit<'anyone', { readonly secret: string }, PageQuery>;

const params = Type.Object({ secret: Type.String({ maxLength: 200 }) });

function payPages(deps: PayPagesDeps): readonly (AnyPage | AnyForm)[] {
  return [
    page({ path: '/pay/{secret}', audience: 'anyone', params, query: Asked, show: shownBy(deps, payPage) }),
    page({ path: '/pay/{secret}/receipt', audience: 'anyone', params, query: Asked, show: shownBy(deps, receiptPage) }),
    choiceForm(deps, (visit, lang) =>
      shown(deps, payPage, { ...visit, query: lang === undefined ? {} : { lang } }, true),
    ),
    ...refundForm(deps),
    payLivePage(deps),
    embedScript(),
    page({
      path: '/colours/{file}',
      audience: 'anyone',
      params: Type.Object({ file: Type.String({ pattern: '^[0-9a-f]{6}\\.css$' }) }),
      async show({ params: { file } }) {
        const sheet = colourSheet(`#${file.slice(0, 6)}`);
        if (sheet === null) throw noSuchPage();
        const headers = { 'Cache-Control': 'public, max-age=31536000, immutable' };
        return { status: 200, type: 'text/css; charset=utf-8', body: sheet, headers };
      },
    }),
  ];
}

type Draw = (model: PayModel) => PageResult['page'];

const shownBy =
  (deps: PayPagesDeps, draw: Draw) =>
  (visit: Asking): Promise<PageResult> =>
    shown(deps, draw, visit);

/** @param refused true if the payer's last choice was refused */
async function shown(deps: PayPagesDeps, draw: Draw, visit: Asking, refused = false): Promise<PageResult> {
  const model = await payModelOf(deps, visit, visit.query);
  const { payment, situation, choiceOpen } = model.facts;
  const hasForm = choiceOpen || (payment.sourceAmount === null && isDue(situation));
  return { page: draw({ ...model, refused }), headers: framing(model.sites, hasForm) };
}

// Server-sent events (HTML standard, 9.2): notify an open payment page of its current version.

/** Needs of the news of an open payment page. */
interface PayNewsDeps extends Pick<PayerReads, 'payerFacts'>, Pick<PayLinkDeps, 'paymentSecrets'> {
  readonly paymentNews: PaymentNews;
  readonly limits: HttpLimits;
}

/** Delay before a browser reconnects. */
const retry_ms = 2_000;
const heartbeat = ': here\n\n';

const payLivePage = (deps: PayNewsDeps): AnyPage =>
  page({
    path: '/pay/{secret}/live',
    audience: 'anyone',
    params: Type.Object({ secret: Type.String({ maxLength: 200 }) }),
    stays: true,
    async show({ params, address, gone }) {
      const paymentId = deps.paymentSecrets.paymentIdOf(params.secret);
      const facts = paymentId === null ? null : await deps.payerFacts(paymentId);
      if (!facts) throw noSuchPage();
      const { appId } = facts.payment;
      const listener = deps.paymentNews.listen({ paymentId: facts.payment.paymentId, appId, address }, gone);
      const pieces = versions(deps, facts.payment.paymentId, listener, gone);
      return { pieces, type: 'text/event-stream', headers: { 'X-Accel-Buffering': 'no' } };
    },
  });

/** Each version once, the current one first. Ends with the browser's connection and with the service. */
async function* versions(
  { payerFacts, limits }: PayNewsDeps,
  paymentId: string,
  listener: PaymentListener,
  gone: AbortSignal,
): AsyncGenerator<string> {
  yield `retry: ${retry_ms}\n\n`;
  const news = listener[Symbol.asyncIterator]();
  const beating = () => sleep(limits.heartbeat_ms, 'beat' as const, { signal: gone }).catch(() => 'beat' as const);
  let told = '';
  let next = news.next();
  let beat = beating();
  let facts = await payerFacts(paymentId);
  while (facts && !gone.aborted) {
    listener.awaitHead(chainAwaited(facts));
    if (facts.version !== told) yield `data: ${facts.version}\n\n`;
    told = facts.version;
    for (;;) {
      const happened = await Promise.race([next, beat]);
      if (gone.aborted) return;
      if (happened !== 'beat') {
        if (happened.done) return;
        break;
      }
      beat = beating();
      yield heartbeat;
    }
    next = news.next();
    facts = await payerFacts(paymentId);
  }
}

/** Chain whose blocks the page counts. */
const chainAwaited = ({ situation, payment }: PayerFacts): number | null =>
  situation.depth === null ? null : payment.sourceChainId;
