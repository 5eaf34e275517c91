/** Asks for the e-mail. POST: email, next. */
import type { VNode } from 'preact';
import type { FormState } from '../parts/form.ts';
import type { Outer } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export interface SignInModel extends Outer {
  /** Field: email. */
  readonly form: FormState;
  /** Where to go afterwards: a path under /dashboard that was asked for without a session. */
  readonly next: string | null;
  /** Whether strangers may register. */
  readonly registrationOpen: boolean;
  /** Of the sandbox: whom to sign in as, and where its mails can be read. */
  readonly demo: { readonly email: string; readonly mailboxUrl: string } | null;
}

export const signInPage = (model: SignInModel): VNode =>
  html`<html lang="en"><head><title>signIn</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
