import type { CashbackRequest, PaymentResult } from '../../../commands/payByCredit.ts';
import { isRefusal } from '../../../domain/decider.ts';
import type { Access } from '../auth.ts';
import type { HttpDeps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { type AnyRoute, ok, route } from '../route.ts';
import { pageSize } from '../schemas/queries.ts';
import {
  CashbackPaymentRequest,
  CashbackPaymentResponse,
  CashbackQuery,
  CashbackResponse,
  CashbackWithdrawRequest,
  CashbackWithdrawResponse,
} from './schemas_cashback.ts';

const tag = 'Cashback';

/** Where the call is, below the URL that the operator chose for it. */
export const cashbackSignPath = '/v1/cashbacksign';

const messages: Readonly<Record<PaymentResult, string>> = {
  SUCCESS: 'the amount is credited to the merchant',
  EXPIRED: 'timestamp is more than five minutes from the service’s clock: sign a new message',
  OUT_OF_CREDIT: 'the buyer’s credit is not enough for this payment',
  NOT_VALID_SIGN: 'the signature is not from_address’s over this request’s canonical text',
};

/** Buyers pay by credit; merchants see what came. */
export const cashbackRoutes = (deps: HttpDeps, { findApp }: Access): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: `${deps.cashback.path}${cashbackSignPath}`,
    auth: 'none',
    anyOrigin: true,
    body: CashbackPaymentRequest,
    answers: {
      200: {
        description: 'What became of the payment',
        schema: CashbackPaymentResponse,
      },
    },
    errors: ['invalidRequest', 'handleNotFound', 'orderConflict'],
    doc: {
      id: 'cashbackSign',
      tag,
      summary: 'Pay a merchant out of a buyer’s credit',
      description:
        'The buyer’s signature is the authorisation. Sending the same message again pays once and is answered alike.',
    },
    async handle({ body, by }) {
      const request = requestOf(body);
      const app = await findApp(`merchant_${request.toHandle}`);
      if (!app)
        throw new ApiError('handleNotFound', 'no merchant has this handle: check to_handle', { errors: [noHandle] });
      const result = await deps.cashback.pay(request, app.appId, by);
      if (isRefusal(result)) return result;
      const status = result === 'SUCCESS' ? 'success' : 'failed';
      return ok({ status, message: messages[result], order_id: request.orderId, payment_status: result });
    },
  }),
  route({
    method: 'get',
    path: '/merchant-api/me/cashback',
    auth: 'app',
    query: CashbackQuery,
    answers: { 200: { description: 'The balance and the newest payments', schema: CashbackResponse } },
    errors: ownErrors,
    doc: { id: 'getCashback', tag, summary: 'Read what buyers paid out of their credit' },
    async handle({ caller, query: { limit = pageSize } }) {
      const { payments, ...account } = await deps.cashback.of(caller.appId, limit);
      return ok({
        balance_usd_cents: account.balance_cents,
        received_usd_cents: account.received_cents,
        withdrawn_usd_cents: account.withdrawn_cents,
        received: account.received,
        payments: payments.map((payment) => ({
          from_address: payment.account,
          amount_usd_cents: Number(payment.cents),
          amount_local: payment.amountLocal === null ? null : Number(payment.amountLocal),
          currency_local: payment.currencyLocal,
          order_id: payment.orderId,
          about: payment.about,
          paid_at: payment.spentAt,
        })),
      });
    },
  }),
  route({
    method: 'post',
    path: '/merchant-api/me/cashback/withdraw',
    auth: 'app',
    body: CashbackWithdrawRequest,
    answers: { 200: { description: 'It is on its way', schema: CashbackWithdrawResponse } },
    errors: [...ownErrors, 'settlementMissing', 'orderConflict', 'routeUnavailable'],
    doc: { id: 'withdrawCashback', tag, summary: 'Withdraw what buyers paid out of their credit' },
    async handle({ caller, body, by }) {
      const app = await findApp(caller.appId);
      if (!app) throw new ApiError('settlementMissing', 'the app is not known yet: try again shortly');
      const asked = { withdrawalId: body.withdrawal_id, cents: BigInt(body.amount_usd_cents) };
      const withdrawn = await deps.withdrawCashback(app, asked, by);
      if (isRefusal(withdrawn)) return withdrawn;
      return ok({ payment_id: withdrawn.paymentId, balance_usd_cents: Number(withdrawn.balance_cents) });
    },
  }),
];

const ownErrors = ['invalidRequest', 'unauthenticated', 'scope_insufficient'] as const;

const noHandle = { pointer: '/to_handle', message: 'is no merchant’s handle' };

const requestOf = (body: CashbackPaymentRequest): CashbackRequest => ({
  fromAddress: body.from_address,
  toHandle: body.to_handle,
  amountUsdCents: body.amount_usd_cents,
  timestamp_ms: body.timestamp,
  signature: body.signature,
  amountLocal: body.amount_local ?? null,
  currencyLocal: body.currency_local ?? null,
  orderId: body.order_id ?? null,
  about: body.about ?? null,
});
