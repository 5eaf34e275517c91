/** The dashboard: pages for people under /dashboard. */

import { type RequestHandler, Router } from 'express';
import { prefersHtml } from '../../src/api/accept.ts';
import type { PageRoutes } from '../../src/api/app.ts';
import { contentSecurityPolicy, localsOf } from '../../src/api/middleware.ts';
import { answerOtherMethods } from '../../src/api/router.ts';
import { documentOf } from '../parts/html.ts';
import { paths } from '../parts/paths.ts';
import { inLanguage } from '../parts/say.ts';
import { type AuditPagesDeps, auditPages } from './audit.ts';
import { type BrandingPagesDeps, type BrandingPreviewDeps, brandingPages, brandingPreviewPages } from './branding.ts';
import { type CashbackPagesDeps, cashbackPages } from './cashback.ts';
import { readCookies } from './cookies.ts';
import { type BulkRedeliveryDeps, bulkRedeliveryPages, type DeliveryPagesDeps, deliveryPages } from './deliveries.ts';
import { type EmbeddingPagesDeps, embeddingPages } from './embedding.ts';
import { type EventPagesDeps, eventPages } from './events.ts';
import { filesPath, serveFiles } from './files.ts';
import { findPages } from './find.ts';
import { type FundRefundPagesDeps, fundRefundPages } from './fundRefund.ts';
import { type KeyPagesDeps, keyPages } from './keys.ts';
import { type LinkPagesDeps, linkPages } from './links.ts';
import { type LivePageDeps, livePage } from './live.ts';
import { type NewLinkPagesDeps, newLinkPages } from './newLink.ts';
import { type NotificationPagesDeps, notificationPages } from './notifications.ts';
import { type OverviewPagesDeps, overviewPages } from './overview.ts';
import { type AnyForm, type AnyPage, createFrames, type FramesDeps } from './page.ts';
import { type PayFromPagesDeps, payFromPages } from './payFrom.ts';
import { type PaymentPagesDeps, paymentPages } from './payments.ts';
import { type PolicyPagesDeps, policyPages } from './policy.ts';
import { type RefundPagesDeps, refundPages } from './refunds.ts';
import { pageOfError } from './refusals.ts';
import { type RegisterPagesDeps, registerPages } from './register.ts';
import { type ReportPagesDeps, reportPages } from './reports.ts';
import { type RequestPagesDeps, requestPages } from './requests.ts';
import { createPageRouter, htmlType, type PageRouterDeps } from './router.ts';
import { type PersonalPagesDeps, personalPages } from './sessions.ts';
import { type SettlementPagesDeps, settlementPages } from './settlement.ts';
import { languageForm, readingOf, type SignInPagesDeps, signInPages } from './signIn.ts';
import { type TeamPagesDeps, teamPages } from './team.ts';
import { type TendPagesDeps, tendPages } from './tend.ts';
import { type TestPaymentDeps, testPaymentPages } from './testPayment.ts';
import { type WebhookPagesDeps, webhookPages } from './webhooks.ts';

const headers = new Map([
  // Forms may only be sent here.
  ['Content-Security-Policy', contentSecurityPolicy({ formAction: ["'self'"] })],
  // With `no-referrer` browsers hide the origin of our own forms; for other sites this reveals as little.
  ['Referrer-Policy', 'same-origin'],
  ['Vary', 'Cookie, Accept, Accept-Language'],
]);

/** Adds the headers of a page to those of every answer, and makes later errors pages for people. */
const asPage: RequestHandler = (request, response, next) => {
  localsOf(response).isPage = true;
  withPageHeaders(request, response, next);
};

/** Adds the headers of a page with forms. */
export const withPageHeaders: RequestHandler = (_request, response, next) => {
  response.setHeaders(headers);
  next();
};

// Every page of the dashboard.

/** Needs of the dashboard: those of its pages. */
export type DashboardDeps = FramesDeps &
  PageRouterDeps &
  AuditPagesDeps &
  BrandingPagesDeps &
  BrandingPreviewDeps &
  BulkRedeliveryDeps &
  CashbackPagesDeps &
  DeliveryPagesDeps &
  EmbeddingPagesDeps &
  EventPagesDeps &
  FundRefundPagesDeps &
  KeyPagesDeps &
  LinkPagesDeps &
  LivePageDeps &
  NewLinkPagesDeps &
  NotificationPagesDeps &
  OverviewPagesDeps &
  PayFromPagesDeps &
  PaymentPagesDeps &
  PersonalPagesDeps &
  PolicyPagesDeps &
  RefundPagesDeps &
  RegisterPagesDeps &
  ReportPagesDeps &
  RequestPagesDeps &
  SettlementPagesDeps &
  SignInPagesDeps &
  TendPagesDeps &
  TestPaymentDeps &
  TeamPagesDeps &
  WebhookPagesDeps;

export function dashboardPages(deps: DashboardDeps): readonly (AnyPage | AnyForm)[] {
  const frames = createFrames(deps);
  return [
    languageForm,
    ...signInPages(deps, frames),
    ...registerPages(deps, frames),
    ...personalPages(deps, frames),
    ...overviewPages(deps, frames),
    ...paymentPages(deps, frames),
    ...tendPages(deps, frames),
    ...findPages(deps, frames),
    ...refundPages(deps, frames),
    ...fundRefundPages(deps, frames),
    ...testPaymentPages(deps, frames),
    ...newLinkPages(deps, frames),
    ...linkPages(deps, frames),
    ...cashbackPages(deps, frames),
    ...webhookPages(deps, frames),
    ...bulkRedeliveryPages(deps, frames),
    ...deliveryPages(deps, frames),
    ...keyPages(deps, frames),
    ...reportPages(deps, frames),
    ...requestPages(deps, frames),
    ...eventPages(deps, frames),
    ...settlementPages(deps, frames),
    ...brandingPages(deps, frames),
    ...brandingPreviewPages(deps, frames),
    ...embeddingPages(deps, frames),
    ...payFromPages(deps, frames),
    ...policyPages(deps, frames),
    ...notificationPages(deps, frames),
    ...teamPages(deps, frames),
    ...auditPages(deps, frames),
    livePage(deps),
  ];
}

export const createDashboard = (deps: DashboardDeps): PageRoutes => ({
  routerBehind(gate) {
    const router = Router({ caseSensitive: true });
    router.use(paths.home, asPage);
    const files = router.route(filesPath.replace('{file}', ':file'));
    files.get(serveFiles(gate.admission));
    answerOtherMethods(files, filesPath, [{ method: 'get' }]);
    router.use(createPageRouter(dashboardPages(deps), { ...gate, deps, isTranslated: true }));
    return router;
  },
  errorPage(error, request, response) {
    const { isPage, requestId } = localsOf(response);
    if (!isPage || !prefersHtml(request.headers.accept)) return undefined;
    // An error page names no path: the pages of a missing app and of another owner's app are equal.
    const reading = { ...readingOf(request, readCookies(request)), url: null };
    const body = inLanguage(reading, () => documentOf(pageOfError(error, request.method, requestId, deps.site.mode)));
    return { type: htmlType, body };
  },
});
