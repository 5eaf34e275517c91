import type { FieldError, Problem } from './types.ts';

/** Faults that no answer of the service names. */
export type ClientFault =
  /** No complete answer: nothing listens, the connection broke, a redirect, CORS. */
  | 'connection'
  /** The answer took too long, or waitFor's time is up. */
  | 'timeout'
  /** Something answered, but not as the service does. */
  | 'unreadableAnswer';

/** Stable: the service's codes, and the client's own. */
export type ErrorCode = Problem['error'] | ClientFault;

/** Everything that a call throws, but for the reason of an abort signal, which is thrown as it is. */
export class PaymentsError extends Error {
  override readonly name = 'PaymentsError';
  readonly code: ErrorCode;
  /** Status of the HTTP answer; null without one. */
  readonly status: number | null;
  /** Quote it in questions. */
  readonly requestId: string | null;
  /** Errors by field: `pointer` is a JSON pointer into the body, or `/<name>` of a parameter. */
  readonly fields: readonly FieldError[];

  constructor(
    code: ErrorCode,
    message: string,
    more: { status?: number; requestId?: string; fields?: readonly FieldError[]; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.code = code;
    this.status = more.status ?? null;
    this.requestId = more.requestId ?? null;
    this.fields = more.fields ?? [];
  }
}

/** @param body the answer, as JSON if it is that; proxies before the service answer in their own format */
export function errorOf(status: number, body: unknown): PaymentsError {
  if (!isProblem(body))
    return new PaymentsError('unreadableAnswer', `HTTP ${status}, and not in the service's words`, { status });
  const { error, message, requestId, errors = [] } = body;
  return new PaymentsError(error, message, { status, requestId, fields: errors });
}

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' &&
  body !== null &&
  'error' in body &&
  typeof body.error === 'string' &&
  'message' in body &&
  typeof body.message === 'string';
