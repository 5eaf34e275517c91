/** Paying by credit, and what a merchant has received of it. */
import Type, { type Static } from 'typebox';
import { paymentResults } from '../../../commands/payByCredit.ts';
import { aboutMax } from '../../../domain/credit.ts';
import { Address, closed, Identifier, IdentifierOrNull, NullableText, oneOf, orNull, Time } from '../schemas/base.ts';
import { limit } from '../schemas/queries.ts';

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
      description: 'a signature in hex, base58 or base64, as the wallet gives it',
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
      'A payment out of the buyer’s credit. The signature is over one canonical text of the service’s URL, the version and all other fields; its rule is on the page docs/cashback.md. Fields that are null count as left out. No personal data in order_id and about: they are kept forever.',
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
        'SUCCESS: the amount is credited to the merchant; the same message or order sent again is answered the same and paid once. EXPIRED: timestamp is more than five minutes off. OUT_OF_CREDIT: the buyer has less. NOT_VALID_SIGN: from_address did not sign this request.',
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
      'Takes an amount out of the balance, to the settlement wallet. withdrawal_id is your own name of it: sent again, it is the same withdrawal.',
    examples: [{ withdrawal_id: 'november', amount_usd_cents: 2_500 }],
  },
);

export const CashbackWithdrawResponse = Type.Object(
  {
    payment_id: Type.String({
      description: 'The payment that pays it out, less the fee of any payment: follow it like one.',
    }),
    balance_usd_cents: Cents,
  },
  { ...closed, title: 'CashbackWithdrawResponse' },
);
