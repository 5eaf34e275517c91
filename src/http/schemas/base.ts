/**
 * Building blocks and enumerations of the public API. A schema's `title` is its name: named schemas become OpenAPI components.
 * A `description` on a pattern ends the sentence "must be …" of the error message that a caller gets.
 */
import Type from 'typebox';
import { chainIds, tokenSymbols } from '../../../domain/chains.ts';
import { bounceCodes, paymentTypes } from '../../../domain/payment/events.ts';
import { paymentStatuses } from '../../../domain/payment/view.ts';
import { webhookEventTypes } from '../../../domain/webhook.ts';

/** Requests hold what their schema names and nothing else. */
export const closed = { additionalProperties: false } as const;

type Options = Readonly<Record<string, unknown>>;

const string = (options: Options) => Type.Unsafe<string>({ type: 'string', ...options });
const nullableString = (options: Options) => Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });

export const oneOf = <const T extends readonly string[]>(values: T, options: Options = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });
export const oneOfOrNull = <const T extends readonly string[]>(values: T, options: Options = {}) =>
  Type.Unsafe<T[number] | null>({ type: ['string', 'null'], enum: [...values, null], ...options });

/** No control characters (line breaks and tabs aside) and no broken surrogates: what a database or a chain would choke on. */
const printable = {
  pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f\\ud800-\\udfff]*$',
  description: 'text without control characters',
};
const identifier = {
  minLength: 1,
  maxLength: 128,
  pattern: '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*$',
  description: 'text of 1 to 128 characters without control characters',
};
const address = { ...identifier, pattern: '^[!-~]*$', description: 'an address as its chain spells it' };
const decimal = {
  maxLength: 60,
  pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$',
  description: 'a plain decimal string such as "10.00"',
};

export const Text = (maxLength: number) => nullableString({ ...printable, maxLength });
export const Entry = (maxLength: number) => string({ ...printable, maxLength });
export const Identifier = string(identifier);
export const IdentifierOrNull = nullableString(identifier);
export const Address = string(address);
export const AddressOrNull = nullableString(address);
export const Memo = nullableString({ ...identifier, description: 'a memo of 1 to 128 characters' });
export const Decimal = string(decimal);
export const DecimalOrNull = nullableString(decimal);
export const Uuid = string({ format: 'uuid', description: 'a UUID' });
export const Time = string({ format: 'date-time', maxLength: 40, description: 'an ISO 8601 time' });
export const TimeOrNull = nullableString({ format: 'date-time', description: 'an ISO 8601 time' });
export const NullableText = nullableString({});
export const TxHash = string({
  pattern: '^(0x)?[0-9A-Za-z]{32,128}$',
  description: 'a transaction hash as its chain spells it',
});
export const TxHashOrNull = nullableString({ description: 'transaction hash' });

export const appIdPattern = '^(merchant|wallet)_[a-z0-9]([a-z0-9_-]{0,46}[a-z0-9])?$';
export const AppId = string({ pattern: appIdPattern, description: 'of the form merchant_<slug> or wallet_<slug>' });

/** Digits in answers; requests may also send a number or an alias. */
export const ChainId = oneOf(chainIds.map(String), {
  title: 'ChainId',
  description:
    '8453 Base, 56 BNB Chain, 1 Ethereum, 42161 Arbitrum, 137 Polygon, 501 Solana, 1500 Stellar. Which of them an installation offers is its configuration.',
});
export const ChainIdInput = Type.Unsafe<string | number>({
  title: 'ChainIdInput',
  type: ['string', 'integer'],
  minLength: 1,
  maxLength: 16,
  description: 'a chain id as string or number (900 is read as 501)',
  examples: ['8453', 8453],
});
export const TokenSymbol = oneOf(tokenSymbols, { title: 'TokenSymbol' });
export const PaymentStatus = oneOf(paymentStatuses, {
  title: 'PaymentStatus',
  description:
    'payment_payout_completed and payment_completed both mean: fulfil the order. A poller may stop at these two and at payment_bounced, payment_expired and payment_refunded.',
});
export const PaymentErrorCode = oneOfOrNull(bounceCodes, {
  title: 'PaymentErrorCode',
  description: 'Why a payment bounced; its money is held and can be refunded. Null for every other payment.',
});
export const FeeType = oneOf(['fixed', 'basisPoints'], {
  title: 'FeeType',
  description: 'The parts that source.fee is made of: a fixed amount, and hundredths of a percent, both set per route.',
});
export const PaymentType = oneOf(paymentTypes, {
  description:
    'exactIn: source.amount is given. exactOut: destination.amount is given. anyAmount: none, the payin decides.',
});
export const StatsPeriod = oneOf(['today', '7d', '30d']);
export const WebhookEventType = oneOf(webhookEventTypes, { title: 'WebhookEventType' });
