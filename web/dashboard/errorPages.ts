/** Error pages for people, with the status and text of the API's answer. */

import type { VNode } from 'preact';
import { type ApiError, statusOfError } from '../../src/api/errors.ts';
import { lengthText } from '../parts/cells.ts';
import { linkButton } from '../parts/field.ts';
import type { Mode, Outer } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { outerPage } from '../parts/layout.ts';
import { paths } from '../parts/paths.ts';

export interface ErrorModel extends Outer {
  readonly status: 400 | 403 | 404 | 413 | 429 | 500 | 503;
  /** Remedy, if more specific than the status. */
  readonly message: string | null;
  readonly retryAfter_s: number | null;
  readonly requestId: string;
}

const words: Readonly<Record<ErrorModel['status'], readonly [title: string, text: string]>> = {
  400: ['Invalid request', 'The page did not send this form. Go back, reload the page and try again.'],
  403: [
    'Not allowed',
    'The request did not come from a page of this site, or you do not have the right to do this. Nothing was changed.',
  ],
  404: ['Not found', 'This page does not exist, or it belongs to another owner’s app.'],
  413: ['Too large', 'The form or file is larger than the limit. Nothing was changed.'],
  429: [
    'Too many requests',
    'Too many requests came from your network address, perhaps not all from you. Nothing was changed.',
  ],
  500: ['Something went wrong', 'Something went wrong on our side; we have logged it. Payments continue.'],
  503: [
    'Temporarily unavailable',
    'Part of the service is temporarily unavailable. No payment is lost: payments continue as soon as it is back.',
  ],
};

export const errorPage = (model: ErrorModel): VNode => {
  const [title, text] = words[model.status];
  return outerPage(
    model,
    title,
    html`<div class="single"><section class="card"><div class="inside">
      <p class="muted small">${model.status}</p>
      <h1>${title}</h1>
      <p>${model.message ?? text}</p>
      ${model.retryAfter_s !== null && html`<p>Try again in ${lengthText(1_000 * model.retryAfter_s)}.</p>`}
      <div class="controls">${linkButton(paths.home, 'To your apps', 'primary')}</div>
      <p class="small muted">If you contact the operator, give the request id <span class="mono">${model.requestId}</span>.</p>
    </div></section></div>`,
  );
};

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

/** Pages distinguish fewer kinds than statuses. */
const shownAs = (status: number): ErrorModel['status'] =>
  shown.find((known) => known === status) ?? (status < 500 ? 400 : 500);
