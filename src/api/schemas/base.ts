/**
 * Building blocks and enumerations of the public API. A schema's `title` is its name: named schemas become OpenAPI components. A
 * `description` on a pattern ends the sentence "must be …" of the caller's error message. Two keywords are our own: `shownAs` replaces the
 * checking schema in the document, `alsoShown` extends it there.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { chainIds, chainOf, tokenSymbols } from '../../../domain/chains.ts';
import { bounceCodes, paymentTypes } from '../../../domain/payment/events.ts';
import { type Metadata as AnyMetadata, metadataLevels, metadataMax_bytes } from '../../../domain/payment/lineItems.ts';
import { paymentStatuses } from '../../../domain/payment/view.ts';
import { laterWebhookEventTypes, sentEventTypes, webhookEventTypes } from '../../../domain/webhook.ts';

/** Requests hold the fields of their schema and no others. */
export const closed = { additionalProperties: false } as const;

type Options = Readonly<Record<string, unknown>>;

const string = (options: Options) => Type.Unsafe<string>({ type: 'string', ...options });
const nullableString = (options: Options) => Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });

export const oneOf = <const T extends readonly string[]>(values: T, options: Options = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });

/** Adds null to a schema, equivalent to omitting the field: answers contain nulls, and callers send them back. */
export function orNull<T extends TSchema>(schema: T) {
  const { type, enum: values, ...rest } = schema as T & { readonly type: string | string[]; readonly enum?: unknown[] };
  const nullable = { ...rest, type: [type, 'null'].flat(), ...(values ? { enum: [...values, null] } : {}) };
  return Type.Unsafe<Static<T> | null>(nullable);
}

/** `wellFormed` refuses lone surrogates, direction marks and invisible characters, which no portable pattern can express. */
const text = {
  wellFormed: true,
  description: 'text without control characters, direction marks and characters that are not seen',
};
/** Refuses control characters except line breaks and tabs, because databases or chains reject them. */
const printable = { ...text, pattern: '^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]*$' };
const identifier = {
  ...text,
  minLength: 1,
  maxLength: 128,
  pattern: '^[^\\x00-\\x1f\\x7f]*$',
  description:
    'text of 1 to 128 characters, without control characters, direction marks and characters that are not seen',
};
const address = {
  minLength: 1,
  maxLength: 128,
  pattern: '^[!-~]*$',
  description: 'an address in the spelling of its chain',
};
const time = { format: 'date-time', description: 'an ISO 8601 time' };

export const Text = (maxLength: number) => nullableString({ ...printable, maxLength });

/** Text for payers. `displayText` removes invisible characters: shops' texts are full of soft hyphens and direction marks. */
export const DisplayText = (maxLength: number) =>
  nullableString({
    displayText: true,
    pattern: printable.pattern,
    maxLength,
    description:
      'text without control characters; soft hyphens, zero-width spaces and direction marks in it are removed',
  });
/** As `DisplayText`, where a text is needed. */
export const DisplayName = (maxLength: number) =>
  string({
    displayText: true,
    pattern: printable.pattern,
    minLength: 1,
    maxLength,
    description: `text of 1 to ${maxLength} characters without control characters; characters that are not seen are removed`,
  });
export const Identifier = string(identifier);
export const IdentifierOrNull = nullableString(identifier);
export const Address = string(address);
export const AddressOrNull = nullableString(address);
export const Memo = nullableString({ ...identifier, description: 'a memo of 1 to 128 characters' });
export const Decimal = string({
  title: 'Decimal',
  maxLength: 60,
  pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$',
  description: 'a plain decimal string such as "10.00"',
});
export const DecimalOrNull = orNull(Decimal);
export const Uuid = string({ format: 'uuid', description: 'a UUID' });
export const Time = string(time);
export const TimeOrNull = nullableString(time);
/** A time in a request: long texts are refused, which the document omits. */
export const TimeSent = string({ ...time, maxLength: 40 });
export const NullableText = nullableString({});
export const TxHash = string({
  title: 'TxHash',
  pattern: '^(0x[0-9a-fA-F]{64}|[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$',
  description: 'a transaction hash in the spelling of its chain',
});
export const TxHashOrNull = orNull(TxHash);

export const appIdPattern = '^(merchant|wallet)_[a-z0-9]([a-z0-9_-]{0,46}[a-z0-9])?$';
export const AppId = string({ pattern: appIdPattern, description: 'of the form merchant_<slug> or wallet_<slug>' });

/** `nextCursor` of a list: base64url of a time, a space and a payment's id. */
export const PageCursor = string({
  title: 'PageCursor',
  pattern: '^[A-Za-z0-9_-]{82}$',
  description: 'the nextCursor of a former answer',
});

const digits = '0|[1-9][0-9]{0,17}';
/** Below the database's largest integer. */
export const Ordinal = string({
  title: 'Ordinal',
  pattern: `^(${digits})$`,
  description: 'an ordinal of the feed',
});
const isoTime =
  '[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])';
export const AsOfSent = string({
  maxLength: 40,
  pattern: `^(${digits}|${isoTime})$`,
  description: 'an ISO 8601 time with its offset, or a position in the event log',
});
export const OrdinalSent = string({
  title: 'FeedCursor',
  pattern: `^(${digits}|latest)$`,
  description: 'an ordinal or nextCursor of the feed, 0 for its beginning, or latest',
});

/** Digits in answers; requests may also send a number or an alias. */
export const ChainId = oneOf(chainIds.map(String), {
  title: 'ChainId',
  'x-enum-varnames': chainIds.map((id) => chainOf(id).name.toUpperCase().replaceAll(' ', '_')),
  description: `${chainIds.map((id) => `${id} ${chainOf(id).name}`).join(', ')}. Which of them an installation offers is its configuration. Requests may send it as a number, too, and 900 for Solana.`,
});
/** The document contains the answers' form, so clients have one type for both, which every generator supports. */
export const ChainIdInput = Type.Unsafe<string | number>({
  shownAs: ChainId,
  type: ['string', 'integer'],
  minLength: 1,
  maxLength: 16,
  description: 'a chain id as string or number (900 is read as 501)',
});
export const TokenSymbol = oneOf(tokenSymbols, { title: 'TokenSymbol' });
/** The document contains the answers' spelling. */
export const TokenSymbolInput = string({
  shownAs: TokenSymbol,
  pattern: '^[Uu][Ss][Dd][CcTt]$',
  description: `one of ${tokenSymbols.join(', ')}, in any letter case`,
});
/** The command checks its content. */
export const Metadata = Type.Unsafe<AnyMetadata>({
  title: 'Metadata',
  type: 'object',
  additionalProperties: true,
  description: `Any JSON object for your own use: at most ${metadataMax_bytes.keyed} bytes as JSON (without a key ${metadataMax_bytes.keyless}), ${metadataLevels} levels of objects and lists, the object itself included. No entry is named __proto__, constructor or prototype.`,
});
/** A field of answers that requests ignore: callers may send an answer back. The document omits it, or clients would offer it. */
export const Ignored = Type.Unsafe<unknown>({ unpublished: true });
export const PaymentStatus = oneOf(paymentStatuses, {
  title: 'PaymentStatus',
  description:
    'payment_payout_completed and payment_completed both mean: fulfil the order. A poller may stop at these two and at payment_bounced, payment_expired and payment_refunded.',
});
export const PaymentErrorCode = oneOf(bounceCodes, {
  title: 'PaymentErrorCode',
  description: 'Reason why a payment bounced; its money is held and refundable. Null for every other payment.',
});
export const FeeType = oneOf(['fixed', 'basisPoints'], {
  title: 'FeeType',
  description: 'The parts of source.fee: a fixed amount, and hundredths of a percent, both set by the operator.',
});
export const PaymentType = oneOf(paymentTypes, {
  title: 'PaymentType',
  description:
    'exactIn: source.amount is given. exactOut: destination.amount is given. anyAmount: none, the payin decides.',
});
export const StatsPeriod = oneOf(['today', '7d', '30d'], { title: 'StatsPeriod' });
export const WebhookEventType = oneOf(sentEventTypes, { title: 'WebhookEventType' });
export const ChosenWebhookType = oneOf(webhookEventTypes, {
  title: 'ChosenWebhookType',
  description: 'a webhook type that an endpoint can choose',
});
export const OptionalWebhookType = oneOf(laterWebhookEventTypes, {
  title: 'OptionalWebhookType',
  description: 'a webhook type that an app can choose',
});
