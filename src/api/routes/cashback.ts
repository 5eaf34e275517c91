import Type, { type Static } from 'typebox';
import {
  type CashbackRequest,
  type PayByCredit,
  type PaymentResult,
  paymentResults,
} from '../../../commands/payByCredit.ts';
import type { WithdrawCashback } from '../../../commands/withdrawCashback.ts';
import { aboutMax } from '../../../domain/credit.ts';
import { isRefusal } from '../../../domain/decider.ts';
import type { Cashback, CashbackMovement } from '../../../queries/cashback.ts';
import type { Access } from '../auth.ts';
import { ApiError } from '../errors.ts';
import { type AnyRoute, ok, route } from '../router.ts';
import { Address, closed, Identifier, IdentifierOrNull, NullableText, oneOf, orNull, Time } from '../schemas/base.ts';
import { limit, pageSize } from '../schemas/queries.ts';

// Payments by credit, and a merchant's receipts.

const { Optional } = Type;

/** Ten million dollars: far above any credit. */
export const amountMax_cents = 1_000_000_000;

const Line = (maxLength: number, description: string) =>
  orNull(
    Type.Unsafe<string>({
      type: 'string',
      minLength: 1,
      maxLength,
      wellFormed: true,
      pattern: '^[^\\x00-\\x1f\\x7f]*$',
      description,
    }),
  );

export const CashbackPaymentRequest = Type.Object(
  {
    from_address: Address,
    to_handle: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'a merchant’s handle: the slug of merchant_<slug>',
    }),
    amount_usd_cents: Type.Integer({ minimum: 1, maximum: amountMax_cents }),
    timestamp: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Unix time in milliseconds, within five minutes of the service’s clock',
    }),
    signature: Type.String({
      minLength: 1,
      maxLength: 8_194,
      pattern: '^[!-~]*$',
      description: 'a signature in hex, base58 or base64, as the wallet returns it',
    }),
    amount_local: Optional(orNull(Type.Number({ minimum: 0 }))),
    currency_local: Optional(
      orNull(
        Type.Unsafe<string>({ type: 'string', pattern: '^[A-Z]{3}$', description: 'a currency code such as EUR' }),
      ),
    ),
    order_id: Optional(IdentifierOrNull),
    about: Optional(Line(aboutMax, `text of 1 to ${aboutMax} characters in one line`)),
  },
  {
    ...closed,
    title: 'CashbackPaymentRequest',
    description:
      'A payment out of the buyer’s credit. The signature is over one canonical text of the service’s URL, the version and all other fields; its rule is on the page docs/integrate/cashback.md. Fields that are null count as omitted. No personal data in order_id and about: they are kept forever.',
  },
);
export type CashbackPaymentRequest = Static<typeof CashbackPaymentRequest>;

export const CashbackPaymentResponse = Type.Object(
  {
    status: oneOf(['success', 'failed'], {
      title: 'CashbackStatus',
      description: 'success only with payment_status SUCCESS',
    }),
    message: Type.String(),
    order_id: NullableText,
    payment_status: oneOf(paymentResults, {
      title: 'CashbackPaymentStatus',
      description:
        'SUCCESS: the amount is credited to the merchant; a repeated message or order gets the same answer and is paid once. EXPIRED: timestamp is more than five minutes off. OUT_OF_CREDIT: the buyer has less. NOT_VALID_SIGN: from_address did not sign this request.',
    }),
  },
  { ...closed, title: 'CashbackPaymentResponse' },
);

export const CashbackQuery = Type.Object({ limit: limit('payments') }, closed);

const Cents = Type.Integer({ minimum: 0 });

export const CashbackResponse = Type.Object(
  {
    balance_usd_cents: Cents,
    received_usd_cents: Cents,
    withdrawn_usd_cents: Cents,
    received: Type.Integer({ minimum: 0, description: 'how many payments' }),
    payments: Type.Array(
      Type.Object(
        {
          from_address: Type.String(),
          amount_usd_cents: Cents,
          amount_local: orNull(Type.Number()),
          currency_local: NullableText,
          order_id: NullableText,
          about: NullableText,
          paid_at: Time,
        },
        { ...closed, title: 'CashbackPayment' },
      ),
      { description: 'the newest first' },
    ),
  },
  { ...closed, title: 'CashbackResponse' },
);

export const CashbackWithdrawRequest = Type.Object(
  {
    withdrawal_id: Identifier,
    amount_usd_cents: Type.Integer({ minimum: 1, maximum: amountMax_cents }),
  },
  {
    ...closed,
    title: 'CashbackWithdrawRequest',
    description:
      'Withdraws an amount of the balance to the settlement wallet. withdrawal_id is your own name of it: a repeated name is the same withdrawal.',
    examples: [{ withdrawal_id: 'november', amount_usd_cents: 2_500 }],
  },
);

export const CashbackWithdrawResponse = Type.Object(
  {
    payment_id: Type.String({
      description: 'The payment that pays it out, less the usual fee: follow it like any payment.',
    }),
    balance_usd_cents: Cents,
  },
  { ...closed, title: 'CashbackWithdrawResponse' },
);

const tag = 'Cashback';

/** Path of the call below the operator's URL for it. */
export const cashbackSignPath = '/v1/cashbacksign';

const messages: Readonly<Record<PaymentResult, string>> = {
  SUCCESS: 'the amount is credited to the merchant',
  EXPIRED: 'timestamp is more than five minutes from the service’s clock: sign a new message',
  OUT_OF_CREDIT: 'the buyer’s credit is not enough for this payment',
  NOT_VALID_SIGN: 'the signature is not from_address’s over this request’s canonical text',
};

/** Buyers' credit. */
export interface CashbackDeps {
  /** Path of the calls below the public URL: empty, or a path like `/cashback`. */
  readonly path: string;
  readonly pay: PayByCredit;
  /** Returns a merchant's cashback with at most `limit` of its newest payments. */
  readonly of: (appId: string, limit: number) => Promise<Cashback>;
  /** Returns at most `limit` of the newest receipts and withdrawals. */
  readonly movements: (appId: string, limit: number) => Promise<readonly CashbackMovement[]>;
}

/** Needs of the routes of credit and cashback. */
export interface CashbackRoutesDeps {
  readonly cashback: CashbackDeps;
  readonly withdrawCashback: WithdrawCashback;
}

/** Buyers pay by credit; merchants list their receipts. */
export const cashbackRoutes = (deps: CashbackRoutesDeps, { findApp }: Access): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: `${deps.cashback.path}${cashbackSignPath}`,
    auth: 'none',
    anyOrigin: true,
    body: CashbackPaymentRequest,
    answers: {
      200: {
        description: 'The result of the payment',
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
    errors: [...ownErrors, 'forbidden', 'settlementMissing', 'orderConflict', 'routeUnavailable'],
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
