/** The single error format of the API (RFC 9457 problem details with this API's fields). */

import Type, { type Static } from 'typebox';
import type { Refusal, RefusalCode } from '../../domain/decider.ts';
import { qualityOf } from './accept.ts';
import { oneOf } from './schemas/base.ts';

const kinds = {
  invalidRequest: [400, 'Invalid request'],
  codeWrong: [400, 'Wrong code'],
  codeExpired: [400, 'Code expired'],
  unauthenticated: [401, 'Valid API key required'],
  scope_insufficient: [403, 'Scope of the API key is too narrow'],
  forbidden: [403, 'Not allowed'],
  registrationClosed: [403, 'Registration is closed'],
  paymentNotFound: [404, 'Payment not found'],
  deliveryNotFound: [404, 'Webhook delivery not found'],
  handleNotFound: [404, 'Merchant not found'],
  notFound: [404, 'Not found'],
  methodNotAllowed: [405, 'Method not allowed'],
  requestTimeout: [408, 'Request timed out'],
  paymentNotUpdatable: [409, 'Not possible in the payment’s status'],
  orderConflict: [409, 'This orderId was used with different terms'],
  conflict: [409, 'Not possible in the current state'],
  settlementMissing: [409, 'The app has no settlement wallet'],
  appIdTaken: [409, 'App id is taken'],
  deliveryNotRedeliverable: [409, 'Delivery cannot be redelivered'],
  webhookUrlMissing: [409, 'The app has no webhook URL'],
  refundAddressUnproven: [409, 'Refund address is not proven'],
  refundExceedsHeld: [409, 'Refund exceeds the refundable amount'],
  refundTooSmall: [409, 'Refund does not cover its network cost'],
  relayTooDear: [409, 'Gas costs too much to pay it for the payer'],
  payloadTooLarge: [413, 'Request body too large'],
  unsupportedMediaType: [415, 'Unsupported media type'],
  rateLimited: [429, 'Too many requests'],
  headersTooLarge: [431, 'Request headers too large'],
  internal: [500, 'Internal error'],
  routeUnavailable: [503, 'Route cannot be paid out right now'],
  unavailable: [503, 'Service temporarily unavailable'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

export type ErrorCode = keyof typeof kinds;
export const errorCodes = Object.keys(kinds) as ErrorCode[];

/** An error of one field; `pointer` is a JSON pointer into the body, or `/<name>` of a path or query parameter. */
export interface FieldError {
  readonly pointer: string;
  readonly message: string;
}

export const ErrorResponse = Type.Object(
  {
    error: oneOf(errorCodes, { title: 'ErrorCode', description: 'stable code' }),
    message: Type.String({ description: 'What is wrong and what to do next.' }),
    requestId: Type.String(),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            pointer: Type.String({
              description: 'JSON pointer into the body, or /<name> of a path or query parameter',
            }),
            message: Type.String(),
          },
          { title: 'FieldError' },
        ),
      ),
    ),
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
  },
  { title: 'ErrorResponse' },
);
export type ErrorResponse = Static<typeof ErrorResponse>;

/** Thrown anywhere below a route; the router turns it into an answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly errors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    code: ErrorCode,
    message: string,
    more: { errors?: readonly FieldError[]; headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.code = code;
    this.errors = more.errors ?? [];
    this.headers = more.headers ?? {};
  }
}

export const statusOfError = (code: ErrorCode): number => kinds[code][0];

/** Errors of the request as a whole point at its root. */
const wholeRequest: ReadonlySet<ErrorCode> = new Set(['payloadTooLarge', 'unsupportedMediaType', 'methodNotAllowed']);

export function problem(code: ErrorCode, message: string, requestId: string, fields: readonly FieldError[] = []) {
  const [status, title] = kinds[code];
  const errors = fields.length === 0 && wholeRequest.has(code) ? [{ pointer: '', message }] : fields;
  return {
    error: code,
    message,
    requestId,
    ...(errors.length > 0 ? { errors: [...errors] } : {}),
    type: `urn:payment-intents:error:${code}`,
    title,
    status,
  } satisfies ErrorResponse;
}

const json = 'application/json; charset=utf-8';
const problemJson = 'application/problem+json; charset=utf-8';

/**
 * Media type of errors: JSON by default, because most clients read nothing else; problem details (RFC 9457) if the Accept header prefers
 * them. The body is the same.
 */
export function errorType(accept: string | undefined): string {
  const quality = qualityOf(accept, 'application/problem+json');
  return quality > 0 && quality >= qualityOf(accept, 'application/json') ? problemJson : json;
}

/** Error code of each refusal. Treasury refusals mean: retry later. */
const codeOfRefusal: Readonly<Record<RefusalCode, ErrorCode>> = {
  invalidRequest: 'invalidRequest',
  forbidden: 'forbidden',
  notFound: 'notFound',
  conflict: 'conflict',
  paymentNotFound: 'paymentNotFound',
  paymentNotUpdatable: 'paymentNotUpdatable',
  orderConflict: 'orderConflict',
  settlementMissing: 'settlementMissing',
  memoRequired: 'invalidRequest',
  deliveryNotFound: 'deliveryNotFound',
  deliveryNotRedeliverable: 'deliveryNotRedeliverable',
  webhookUrlMissing: 'webhookUrlMissing',
  routeUnavailable: 'routeUnavailable',
  unavailable: 'unavailable',
  illegalStep: 'paymentNotUpdatable',
  treasuryBusy: 'unavailable',
  treasuryPaused: 'unavailable',
  treasuryBehindChain: 'unavailable',
  attemptsSpent: 'unavailable',
  codeWrong: 'codeWrong',
  codeExpired: 'codeExpired',
  appIdTaken: 'appIdTaken',
  registrationClosed: 'registrationClosed',
  rateLimited: 'rateLimited',
  refundAddressUnproven: 'refundAddressUnproven',
  refundExceedsHeld: 'refundExceedsHeld',
  refundTooSmall: 'refundTooSmall',
  relayTooDear: 'relayTooDear',
};

const retryLater_s: Partial<Record<ErrorCode, number>> = { routeUnavailable: 60, unavailable: 1 };

export function errorOfRefusal({
  refused,
  message,
  pointer,
  also = [],
  retryAfter_s: told_s,
  cause,
}: Refusal): ApiError {
  const code = codeOfRefusal[refused];
  const retryAfter_s = told_s ?? retryLater_s[code];
  return new ApiError(code, message, {
    errors: [{ pointer, message }, ...also].flatMap((each) =>
      each.pointer === undefined ? [] : [{ pointer: each.pointer, message: each.message }],
    ),
    cause,
    headers: retryAfter_s === undefined ? {} : { 'Retry-After': String(retryAfter_s) },
  });
}

/** @param cause for the operator only */
export const unavailable = (message: string, retryAfter_s: number, cause?: unknown): ApiError =>
  new ApiError('unavailable', message, {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter_s))) },
    cause,
  });
