/** Error pages for people, with the status and text of the API's answer. */

import type { VNode } from 'preact';
import { type ApiError, statusOfError } from '../../src/api/errors.ts';
import { lengthText } from '../parts/cells.ts';
import { linkButton } from '../parts/field.ts';
import type { Mode, Outer } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { outerPage } from '../parts/layout.ts';
import { paths } from '../parts/paths.ts';
import { type PlainName, pageLanguage, sayContent, sayText } from '../parts/say.ts';
import { refusalText } from './refusals.ts';

export interface ErrorModel extends Outer {
  readonly status: 400 | 403 | 404 | 413 | 429 | 500 | 503;
  /** Remedy, if more specific than the status. */
  readonly message: string | null;
  readonly retryAfter_s: number | null;
  readonly requestId: string;
}

const words: Readonly<Record<ErrorModel['status'], readonly [title: PlainName, text: PlainName]>> = {
  400: ['badTitle', 'badText'],
  403: ['deniedTitle', 'deniedText'],
  404: ['missingTitle', 'missingText'],
  413: ['largeTitle', 'largeText'],
  429: ['manyTitle', 'manyText'],
  500: ['failedTitle', 'failedText'],
  503: ['busyTitle', 'busyText'],
};

export const errorPage = (model: ErrorModel): VNode => {
  const [title, text] = words[model.status];
  return outerPage(
    model,
    sayText(title),
    html`<div class="single"><section class="card"><div class="inside">
      <p class="muted small">${model.status}</p>
      <h1>${sayContent(title)}</h1>
      <p>${model.message ?? sayContent(text)}</p>
      ${model.retryAfter_s !== null && html`<p>${sayContent('tryAgainIn', { time: lengthText(1_000 * model.retryAfter_s) })}</p>`}
      <div class="controls">${linkButton(paths.home, sayContent('toYourApps'), 'primary')}</div>
      <p class="small muted">${sayContent('giveRequestId', { id: html`<span class="mono" dir=${pageLanguage() === 'en' ? undefined : 'ltr'}>${model.requestId}</span>` })}</p>
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
    message: error.code === 'notFound' ? null : messageOf(error),
    retryAfter_s: retryAfter_s > 0 ? retryAfter_s : null,
    requestId,
  });
}

/** In English, the message of the API's answer. */
const messageOf = ({ code, message }: ApiError): string =>
  pageLanguage() === 'en' ? message : refusalText(code, message);

const shown: readonly ErrorModel['status'][] = [400, 403, 404, 413, 429, 500, 503];

/** Pages distinguish fewer kinds than statuses. */
const shownAs = (status: number): ErrorModel['status'] =>
  shown.find((known) => known === status) ?? (status < 500 ? 400 : 500);
