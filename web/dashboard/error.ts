/** When a page cannot be shown. */
import type { VNode } from 'preact';
import type { Outer } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export interface ErrorModel extends Outer {
  readonly status: 400 | 403 | 404 | 413 | 429 | 500 | 503;
  /** What to do, when it is known better than by the status. */
  readonly message: string | null;
  readonly retryAfter_s: number | null;
  readonly requestId: string;
}

export const errorPage = (model: ErrorModel): VNode =>
  html`<html lang="en"><head><title>error</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
