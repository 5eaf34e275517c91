/** What payers see of the app. POST: name, supportContact, returnUrlTemplate, colour. POST to logo: a file named logo. */
import type { VNode } from 'preact';
import type { FormState } from '../parts/form.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export interface BrandingModel extends Frame {
  /** Fields: name, supportContact, returnUrlTemplate, colour (#rrggbb), logo. */
  readonly form: FormState;
}

export const brandingPage = (model: BrandingModel): VNode =>
  html`<html lang="en"><head><title>branding</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
