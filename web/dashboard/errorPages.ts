/** Errors for people: a page with the same status and the same words as the API's answer. */
import type { VNode } from 'preact';
import { type ApiError, statusOfError } from '../../src/api/errors.ts';
import type { Mode } from '../parts/frame.ts';
import { type ErrorModel, errorPage } from './error.ts';

export function pageOfError(error: ApiError, requestId: string, mode: Mode): VNode {
  const retryAfter_s = Number(error.headers['Retry-After'] ?? 0);
  return errorPage({
    mode,
    person: null,
    flash: null,
    status: shownAs(statusOfError(error.code)),
    message: error.code === 'notFound' ? null : error.message,
    retryAfter_s: retryAfter_s > 0 ? retryAfter_s : null,
    requestId,
  });
}

const shown: readonly ErrorModel['status'][] = [400, 403, 404, 413, 429, 500, 503];

/** Pages tell fewer kinds apart than statuses do. */
const shownAs = (status: number): ErrorModel['status'] =>
  shown.find((known) => known === status) ?? (status < 500 ? 400 : 500);
