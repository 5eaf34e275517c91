/** The webhook secret of a new app, once, and the way to prove the e-mail. POST to the code page: code. */
import type { VNode } from 'preact';
import type { FormState } from '../parts/form.ts';
import type { Outer } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export interface RegisteredModel extends Outer {
  readonly appId: string;
  readonly email: string;
  readonly webhookUrl: string | null;
  readonly webhookSecret: string;
  readonly webhookSecretFingerprint: string;
  /** Null when the e-mail is proved already: somebody signed in took a pending registration up. */
  readonly proof: { readonly form: FormState; readonly mailboxUrl: string | null } | null;
}

export const registeredPage = (model: RegisteredModel): VNode =>
  html`<html lang="en"><head><title>registered</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
