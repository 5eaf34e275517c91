/** One error shape for everything that is not an answer (RFC 9457 problem details with this API's fields). */

import Type, { type Static } from 'typebox';
import type { Refusal, RefusalCode } from '../../domain/decider.ts';
import { oneOf } from './schemas/base.ts';

/** Chooses between media types by a request's Accept header (RFC 9110, 12.5.1), in time that no header can make long. */

/** Characters and ranges of the header that are read; the rest is ignored. Browsers send about 150 characters and 8 ranges. */
const charactersMax = 1_000;
const rangesMax = 32;

interface Range {
  readonly type: string;
  readonly quality: number;
}

/** Returns the header's first ranges, in lower case. */
function rangesOf(accept: string): readonly Range[] {
  return accept
    .slice(0, charactersMax)
    .split(',', rangesMax)
    .map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    });
}

/** Returns how much the header wants exactly this type; 0 if it does not name the type. */
export const qualityOf = (accept: string | undefined, type: string): number =>
  rangesOf(accept ?? '').findLast((range) => range.type === type)?.quality ?? 0;

/** Returns true unless the header prefers JSON to HTML: programs do, browsers do not. */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined) return true;
  const ranges = rangesOf(accept);
  const html = matchOf(ranges, 'text/html');
  const json = matchOf(ranges, 'application/json');
  if (!json) return true;
  if (!html) return false;
  const preference = html.quality - json.quality || html.exactness - json.exactness || json.place - html.place;
  return preference >= 0;
}

/** Returns the most exact range that covers the type; undefined if none does, or only with quality 0. */
function matchOf(ranges: readonly Range[], type: string) {
  const spellings = ['*/*', `${type.split('/')[0]}/*`, type];
  let best: { readonly quality: number; readonly exactness: number; readonly place: number } | undefined;
  for (const [place, range] of ranges.entries()) {
    const exactness = spellings.indexOf(range.type);
    if (exactness > (best?.exactness ?? -1)) best = { quality: range.quality, exactness, place };
  }
  return best && best.quality > 0 ? best : undefined;
}

const kinds = {
  invalidRequest: [400, 'The request is not valid'],
  codeWrong: [400, 'The code is another one'],
  codeExpired: [400, 'The code can no longer be used'],
  unauthenticated: [401, 'A valid API key is required'],
  scope_insufficient: [403, 'The key’s scope does not cover this'],
  forbidden: [403, 'Not allowed'],
  registrationClosed: [403, 'Registration is closed'],
  paymentNotFound: [404, 'No such payment'],
  deliveryNotFound: [404, 'No such webhook delivery'],
  handleNotFound: [404, 'No such merchant'],
  notFound: [404, 'There is no such thing here'],
  methodNotAllowed: [405, 'The endpoint has no such method'],
  requestTimeout: [408, 'The request came too slowly'],
  paymentNotUpdatable: [409, 'The payment’s status does not allow this'],
  orderConflict: [409, 'The order has other terms'],
  conflict: [409, 'The present state does not allow this'],
  settlementMissing: [409, 'The app has no settlement wallet'],
  appIdTaken: [409, 'The app’s id is taken'],
  deliveryNotRedeliverable: [409, 'This delivery is not redelivered'],
  webhookUrlMissing: [409, 'The app has no webhook URL'],
  refundAddressUnproven: [409, 'Nobody has proven where this money goes back to'],
  refundExceedsHeld: [409, 'Less than that can go back'],
  refundTooSmall: [409, 'It would not cover what sending it costs'],
  payloadTooLarge: [413, 'The body is too large'],
  unsupportedMediaType: [415, 'The body must be JSON'],
  rateLimited: [429, 'Too many requests'],
  headersTooLarge: [431, 'The request’s headers are too large'],
  internal: [500, 'The service failed'],
  routeUnavailable: [503, 'This route cannot be paid out at present'],
  unavailable: [503, 'The service is not available at present'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

export type ErrorCode = keyof typeof kinds;
export const errorCodes = Object.keys(kinds) as ErrorCode[];

/** What is wrong where; `pointer` is a JSON pointer into the body, or `/<name>` of a path or query parameter. */
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

/** Thrown anywhere below a route; the router answers it. */
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

/** Faults of the request as a whole point at its root. */
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
 * The media type of errors: JSON like every other answer, because most clients read nothing else; problem details
 * (RFC 9457) for those whose Accept names them, at least as high as JSON. The body is the same.
 */
export function errorType(accept: string | undefined): string {
  const quality = qualityOf(accept, 'application/problem+json');
  return quality > 0 && quality >= qualityOf(accept, 'application/json') ? problemJson : json;
}

/** How refusals of commands are answered. Those of the treasury mean: try again later. */
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
};

const retryLater_s: Partial<Record<ErrorCode, number>> = { routeUnavailable: 60, unavailable: 1 };

export function errorOfRefusal({ refused, message, pointer, retryAfter_s: told_s, cause }: Refusal): ApiError {
  const code = codeOfRefusal[refused];
  const retryAfter_s = told_s ?? retryLater_s[code];
  return new ApiError(code, message, {
    errors: pointer === undefined ? [] : [{ pointer, message }],
    cause,
    headers: retryAfter_s === undefined ? {} : { 'Retry-After': String(retryAfter_s) },
  });
}

/** @param cause for the operator alone */
export const unavailable = (message: string, retryAfter_s: number, cause?: unknown): ApiError =>
  new ApiError('unavailable', message, {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter_s))) },
    cause,
  });
