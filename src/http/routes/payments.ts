import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import type { PaymentTransaction, PaymentView } from '../../../domain/payment/view.ts';
import { parseInstant } from '../../../domain/time.ts';
import { createCreate } from '../create.ts';
import type { Caller, HttpDeps, PaymentFilter } from '../deps.ts';
import type { Access } from '../keys.ts';
import { paymentResource, publicResource } from '../resource.ts';
import { type AnyRoute, ok, route } from '../route.ts';
import * as requests from '../schemas/requests.ts';
import * as responses from '../schemas/responses.ts';

const tag = 'Payments';
const pageSize = 20;
const noPayment = refuse('paymentNotFound', 'no payment has this id: check it against the create response', '/id');

/** The payment API: create, read, list, announce a payin. */
export function paymentRoutes(deps: HttpDeps, access: Access): readonly AnyRoute[] {
  const full = (view: PaymentView) => paymentResource(view, { paymentLink: deps.paymentLink?.(view) ?? null });
  return [...creating(deps, access, full), ...reading(deps, full), ...following(deps, full)];
}

type Full = (view: PaymentView) => responses.PaymentResponse;

function creating(deps: HttpDeps, access: Access, full: Full): readonly AnyRoute[] {
  const create = createCreate(deps, access, full);
  const answers = {
    201: { description: 'Created; Location says where it is read.', schema: responses.CreateResponse },
    200: { description: 'The payment that this orderId has (Idempotent-Replayed).', schema: responses.CreateResponse },
  };
  const description =
    'A key acts for its own app. Without a key only wallet_ apps that the operator has opened for it can be used.';
  const errors = ['invalidRequest', 'unauthenticated', 'forbidden', 'settlementMissing', 'routeUnavailable'] as const;
  const common = { method: 'post', auth: 'optional', answers, errors, handle: create } as const;
  return [
    route({
      ...common,
      path: '/payment-api/payments',
      body: requests.CreatePaymentRequest,
      doc: { id: 'createPayment', tag, summary: 'Create a payment', description },
    }),
    route({
      ...common,
      path: '/payment-api',
      body: requests.PaymentRequest,
      doc: { id: 'createPaymentShort', tag, summary: 'Create a payment (the same, shorter address)', description },
    }),
  ];
}

function reading(deps: HttpDeps, full: Full): readonly AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/payment-api/payments',
      auth: 'admin',
      query: requests.ListQuery,
      answers: { 200: { description: 'A page of the app’s payments', schema: responses.PaymentListResponse } },
      errors: ['invalidRequest', 'unauthenticated', 'scope_insufficient'],
      doc: { id: 'listPayments', tag, summary: 'List payments, newest first' },
      async handle({ caller, query }) {
        const page = await deps.listPayments(filterOf(query, caller.appId));
        if (isRefusal(page)) return page;
        const { payments, nextCursor } = page;
        return ok({ data: payments.map(full), hasMore: nextCursor !== null, nextCursor });
      },
    }),
    route({
      method: 'get',
      path: '/payment-api/payments/{id}',
      auth: 'optional',
      params: requests.PaymentPath,
      answers: { 200: { description: 'The payment', schema: responses.GetResponse } },
      errors: ['invalidRequest', 'unauthenticated', 'paymentNotFound'],
      publicRead: true,
      doc: { id: 'getPayment', tag, summary: 'Get a payment', description: 'Poll until the status is terminal.' },
      async handle({ caller, params }) {
        if (caller) return map(await ownPayment(deps, params.id, caller), full);
        const view = await deps.getPayment(params.id);
        return view ? ok(publicResource(view)) : noPayment;
      },
    }),
    route({
      method: 'get',
      path: '/payment-api/payments/order/{appId}/{orderId}',
      auth: 'orders',
      params: requests.OrderPath,
      answers: { 200: { description: 'The payment', schema: responses.PaymentResponse } },
      errors: ['invalidRequest', 'unauthenticated', 'paymentNotFound'],
      doc: { id: 'getPaymentByOrder', tag, summary: 'Get a payment by order id' },
      async handle({ caller, params: { appId, orderId } }) {
        const view = appId === caller.appId ? await deps.getPaymentByOrder(appId, orderId) : null;
        return view ? ok(full(view)) : noOrder;
      },
    }),
  ];
}

const noOrder = refuse('paymentNotFound', 'the app has no payment with this orderId', '/orderId');

function following(deps: HttpDeps, full: Full): readonly AnyRoute[] {
  return [
    route({
      method: 'post',
      path: '/payment-api/payments/{id}/payin',
      auth: 'orders',
      params: requests.PaymentPath,
      body: requests.PaymentUpdateRequest,
      answers: { 200: { description: 'Stored; it is verified on chain', schema: responses.PayinResponse } },
      errors: ['invalidRequest', 'unauthenticated', 'paymentNotFound', 'paymentNotUpdatable'],
      doc: {
        id: 'registerPayin',
        tag,
        summary: 'Register the payin transaction',
        description: 'Optional: payins are detected anyway. It speeds up confirmation.',
      },
      async handle({ caller, params, body, requestId }) {
        const own = await ownPayment(deps, params.id, caller);
        if (isRefusal(own)) return own;
        const registered = await deps.registerPayin(params.id, body, requestId);
        return isRefusal(registered) ? registered : ok(payinAnswer(full(registered.payment)));
      },
    }),
    route({
      method: 'get',
      path: '/payment-api/payments/{id}/transactions',
      auth: 'orders',
      params: requests.PaymentPath,
      answers: { 200: { description: 'Payins, payouts and refunds', schema: responses.TransactionsResponse } },
      errors: ['invalidRequest', 'unauthenticated', 'paymentNotFound'],
      doc: { id: 'listTransactions', tag, summary: 'List a payment’s transactions on the chains' },
      async handle({ caller, params }) {
        const own = await ownPayment(deps, params.id, caller);
        if (isRefusal(own)) return own;
        return ok({ data: (await deps.listTransactions(params.id)).map(transactionOf) });
      },
    }),
  ];
}

/** Another app's payment is invisible: whether it exists is not told. */
async function ownPayment(deps: HttpDeps, paymentId: string, caller: Caller): Promise<PaymentView | Refusal> {
  const view = await deps.getPayment(paymentId);
  return view?.appId === caller.appId ? view : noPayment;
}

const map = (view: PaymentView | Refusal, full: Full) => (isRefusal(view) ? view : ok(full(view)));

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

/** Times are brought to UTC with milliseconds, as rows hold them. */
function filterOf({ limit = pageSize, ...query }: requests.ListQuery, appId: string): PaymentFilter {
  const times = {
    createdAfter: query.createdAfter,
    createdBefore: query.createdBefore,
    updatedAfter: query.updatedAfter,
  };
  const read = Object.entries(times).flatMap(([name, text]) => {
    const at = text === undefined ? undefined : parseInstant(text);
    return at === undefined ? [] : [[name, at]];
  });
  return { ...query, ...Object.fromEntries(read), appId, limit };
}
