import type { By } from '../../../commands/handle.ts';
import type { PayinHint, PaymentRef, RegisteredPayin } from '../../../commands/recordPayin.ts';
import { type AsOf, parseAsOf } from '../../../domain/asOf.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import type { PaymentTransaction } from '../../../domain/payment/transactions.ts';
import type { PaymentView } from '../../../domain/payment/view.ts';
import { type PaymentAsOf, type PaymentFilter, type PaymentPage, paymentIdIn } from '../../../queries/payments.ts';
import type { Stats, StatsPeriod } from '../../../queries/reports.ts';
import { type Access, openApp, unauthenticated } from '../auth.ts';
import type { ExportPayments } from '../reports.ts';
import { createResources, type PayLinkDeps, publicResource, type Resources, viewAfter } from '../resource.ts';
import { type AnyRoute, ok, route } from '../router.ts';
import * as queries from '../schemas/queries.ts';
import { ExportQuery, inUtc, StatsQuery } from '../schemas/queries.ts';
import * as requests from '../schemas/requests.ts';
import * as responses from '../schemas/responses.ts';
import { StatsResponse } from '../schemas/responses.ts';

const tag = 'Payments';
/** Another app's payment is answered like an unknown one. */
const noPayment = refuse('paymentNotFound', 'no payment has this id: check it against the create response', '/id');

/** Reads of payments. */
export interface PaymentReads {
  /** Finds a payment from the moment of its creation, as `getPaymentByOrder` does. */
  readonly getPayment: (paymentId: string) => Promise<PaymentView | null>;
  /** The payment at an earlier moment; null for an unknown id. */
  readonly getPaymentAsOf: (paymentId: string, asOf: AsOf) => Promise<PaymentAsOf | null>;
  readonly getPaymentByOrder: (appId: string, orderId: string) => Promise<PaymentView | null>;
  readonly listPayments: (filter: PaymentFilter) => Promise<PaymentPage | Refusal>;
  readonly listTransactions: (paymentId: string) => Promise<readonly PaymentTransaction[]>;
}

/** Needs of the routes that read payments and register payins. */
export interface PaymentRoutesDeps extends PaymentReads, PayLinkDeps {
  readonly registerPayin: (own: PaymentRef, hint: PayinHint, by: By) => Promise<RegisteredPayin | Refusal>;
}

/** Payment API except creation: read, list, register a payin. */
export function paymentRoutes(deps: PaymentRoutesDeps, access: Access): readonly AnyRoute[] {
  const { full } = createResources(deps);
  return [...reading(deps, full), registering(deps, full, access), transactions(deps)];
}

async function find({ getPayment }: Pick<PaymentRoutesDeps, 'getPayment'>, text: string): Promise<PaymentView | null> {
  const id = paymentIdIn(text);
  return id === undefined ? null : getPayment(id);
}

interface AskedAsOf {
  readonly text: string;
  readonly asOf: string;
  /** App to filter by; null lists all apps. */
  readonly appId: string | null;
}

async function findAsOf(
  { getPaymentAsOf }: Pick<PaymentRoutesDeps, 'getPaymentAsOf'>,
  { text, asOf, appId }: AskedAsOf,
): Promise<PaymentView | Refusal> {
  const moment = parseAsOf(asOf);
  if (!moment) return refuse('invalidRequest', 'is no such time, and no position in the event log', '/asOf');
  const id = paymentIdIn(text);
  const found = id === undefined ? null : await getPaymentAsOf(id, moment);
  if (!found || (appId !== null && found.appId !== appId)) return noPayment;
  const { view, createdAt } = found;
  return (
    view ??
    refuse('paymentNotFound', `the payment was created at ${createdAt}: ask for that time or a later one`, '/asOf')
  );
}

function reading(deps: PaymentRoutesDeps, full: Resources['full']): readonly AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/payment-api/payments',
      auth: 'admin',
      query: queries.ListQuery,
      answers: { 200: { description: 'A page of the app’s payments', schema: responses.PaymentListResponse } },
      errors: ['invalidRequest', 'unauthenticated', 'scope_insufficient'],
      doc: { id: 'listPayments', tag, summary: 'List payments, newest first' },
      async handle({ caller, query }) {
        const page = await deps.listPayments(filterOf(query, caller.appId));
        if (isRefusal(page)) return page;
        const { payments, nextCursor } = page;
        return ok({ data: await Promise.all(payments.map(full)), hasMore: nextCursor !== null, nextCursor });
      },
    }),
    route({
      method: 'get',
      path: '/payment-api/payments/{id}',
      auth: 'optional',
      params: requests.PaymentPath,
      query: queries.PaymentQuery,
      answers: { 200: { description: 'The payment', schema: responses.PaymentResponse } },
      errors: ['invalidRequest', 'unauthenticated', 'paymentNotFound'],
      anyOrigin: true,
      doc: {
        id: 'getPayment',
        tag,
        summary: 'Get a payment',
        description:
          'Poll until the status is terminal. With asOf, an extension: the payment as it was then, from its events. The app’s profile is today’s.',
      },
      async handle({ caller, params, query: { asOf } }) {
        const view = await (asOf === undefined
          ? find(deps, params.id)
          : findAsOf(deps, { text: params.id, asOf, appId: caller?.appId ?? null }));
        if (isRefusal(view)) return view;
        if (!view || (caller && view.appId !== caller.appId)) return noPayment;
        return ok(caller ? await full(view) : publicResource(view));
      },
    }),
    route({
      method: 'get',
      path: '/payment-api/payments/order/{appId}/{orderId}',
      auth: 'orders',
      params: requests.OrderPath,
      answers: { 200: { description: 'The payment', schema: responses.PaymentResponse } },
      errors: ['invalidRequest', 'unauthenticated', 'paymentNotFound'],
      doc: {
        id: 'getPaymentByOrder',
        tag,
        summary: 'Get a payment by order id',
        description:
          'Finds only payments that were created with a key, because anybody can choose an order id without one.',
      },
      async handle({ caller, params: { appId, orderId } }) {
        const view = appId === caller.appId ? await deps.getPaymentByOrder(appId, orderId) : null;
        return view ? ok(await full(view)) : noOrder;
      },
    }),
  ];
}

const noOrder = refuse('paymentNotFound', 'the app has no payment with this orderId', '/orderId');

function registering(deps: PaymentRoutesDeps, full: Resources['full'], access: Access): AnyRoute {
  return route({
    method: 'post',
    path: '/payment-api/payments/{id}/payin',
    auth: 'optional',
    anyOrigin: true,
    params: requests.PaymentPath,
    body: requests.PaymentUpdateRequest,
    answers: { 200: { description: 'Stored; it is verified on chain', schema: responses.PayinResponse } },
    errors: ['invalidRequest', 'unauthenticated', 'paymentNotFound', 'paymentNotUpdatable'],
    doc: {
      id: 'registerPayin',
      tag,
      summary: 'Register the payin transaction',
      description:
        'Optional: payins are detected anyway. It speeds up confirmation. Another transaction may replace the registered one until that one is found on its chain. No key is needed for a payment that was created without one, while its app is open for that.',
    },
    async handle({ caller, params, body, by }) {
      const appId = caller?.appId ?? (await appOfKeyless(deps, access, params.id));
      const paymentId = paymentIdIn(params.id);
      if (paymentId === undefined) return noPayment;
      const hint = hintOf(body);
      if (isRefusal(hint)) return hint;
      const registered = await deps.registerPayin({ paymentId, appId }, hint, by);
      if (isRefusal(registered)) return asSpelled(registered, body);
      const view = viewAfter(registered);
      return ok(payinAnswer(caller ? await full(view) : publicResource(view)));
    },
  });
}

/** Buyer's address under either name: answers contain it as source.senderAddress. */
function hintOf({ txHash, fromAddress, senderAddress }: requests.PaymentUpdateRequest): PayinHint | Refusal {
  const buyer = fromAddress ?? senderAddress ?? null;
  if (buyer === null) return refuse('invalidRequest', 'is required: the buyer’s address', '/fromAddress');
  if (buyer.toLowerCase() === (senderAddress ?? buyer).toLowerCase()) return { txHash, fromAddress: buyer };
  return refuse('invalidRequest', 'is another one than fromAddress: send one of the two', '/senderAddress');
}

/** Points at the buyer's address by the name in the request. */
const asSpelled = (refusal: Refusal, { fromAddress }: requests.PaymentUpdateRequest): Refusal =>
  refusal.pointer === '/fromAddress' && !fromAddress ? { ...refusal, pointer: '/senderAddress' } : refusal;

/** A payment that needs a key is answered like an unknown one. */
async function appOfKeyless(deps: PaymentRoutesDeps, access: Access, id: string): Promise<string> {
  const view = await find(deps, id);
  const app = view?.keyless ? await openApp(access, view.appId) : null;
  if (app) return app.appId;
  throw unauthenticated('only a payment that was created without a key takes a payin without one: send the API key');
}

function transactions(deps: PaymentRoutesDeps): AnyRoute {
  return route({
    method: 'get',
    path: '/payment-api/payments/{id}/transactions',
    auth: 'orders',
    params: requests.PaymentPath,
    answers: { 200: { description: 'Payins, payouts and refunds', schema: responses.TransactionsResponse } },
    errors: ['invalidRequest', 'unauthenticated', 'paymentNotFound'],
    doc: {
      id: 'listTransactions',
      tag,
      summary: 'List a payment’s transactions on the chains',
      description:
        'Every payin, payout attempt and refund attempt of the payment, with its block once it is in one. By kind, oldest first.',
    },
    async handle({ caller, params }) {
      const view = await find(deps, params.id);
      if (view?.appId !== caller.appId) return noPayment;
      return ok({ data: (await deps.listTransactions(view.paymentId)).map(transactionOf) });
    },
  });
}

const transactionOf = (transaction: PaymentTransaction) => ({ ...transaction, chainId: String(transaction.chainId) });

/** Both documented shapes in one (service reference 4.4). */
function payinAnswer(payment: responses.PaymentResponse) {
  const { id, status, source } = payment;
  return {
    ...payment,
    success: true,
    message: 'The payin is registered and is being verified on chain.',
    payment: { id, status, source: { txHash: source.txHash, senderAddress: source.senderAddress } },
  };
}

const filterOf = ({ limit = queries.pageSize, ...query }: queries.ListQuery, appId: string): PaymentFilter => ({
  ...inUtc(query),
  appId,
  limit,
});

const merchantTag = 'Merchant';
const merchantErrors = ['invalidRequest', 'unauthenticated', 'scope_insufficient'] as const;

/** Needs of the routes of an app's statistics and exports. */
export interface MerchantRoutesDeps {
  readonly getStats: (appId: string, period: StatsPeriod) => Promise<Stats>;
  readonly exportPayments: ExportPayments;
}

/** Merchant API: reads for an app's owner. */
export const merchantRoutes = (deps: MerchantRoutesDeps): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: '/merchant-api/me/stats',
    auth: 'app',
    query: StatsQuery,
    answers: { 200: { description: 'Statistics of the period', schema: StatsResponse } },
    errors: merchantErrors,
    doc: { id: 'getStats', tag: merchantTag, summary: 'Read statistics' },
    handle: async ({ caller, query }) => ok(await deps.getStats(caller.appId, query.period)),
  }),
  route({
    method: 'get',
    path: '/merchant-api/me/payments.csv',
    auth: 'app',
    query: ExportQuery,
    answers: { 200: { description: 'A table of payments', type: 'text/csv' } },
    errors: [...merchantErrors, 'rateLimited', 'unavailable'],
    doc: {
      id: 'exportPayments',
      tag: merchantTag,
      summary: 'Export payments as CSV',
      description:
        'With period: the payments whose payout was confirmed in it, which sum up to its statistics. Else those of a list with the same filters. A text that a spreadsheet could read as a formula begins with an apostrophe.',
    },
    async handle({ caller: { appId }, query, waiting }) {
      const { period, ...filters } = query;
      if (period === undefined) return deps.exportPayments({ appId, ...inUtc(filters) }, waiting.away);
      const [other] = Object.keys(filters);
      if (other === undefined) return deps.exportPayments({ appId, period }, waiting.away);
      return refuse('invalidRequest', `stands alone: send it without ${other}, or ${other} without it`, '/period');
    },
  }),
];
