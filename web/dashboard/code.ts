/** Asks for the mailed code. POST: code, next. */
import type { VNode } from 'preact';
import type { FormState } from '../parts/form.ts';
import type { Outer } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export interface CodeModel extends Outer {
  /** Whom the mail was for, as it was typed; whether anybody has that address is not said. */
  readonly email: string;
  /** Fields: code. What is wrong with it tells how many tries are left. */
  readonly form: FormState;
  readonly next: string | null;
  /** register: the code proves a registration. */
  readonly purpose: 'signIn' | 'register';
  /** Where the sandbox's mails can be read. */
  readonly mailboxUrl: string | null;
}

export const codePage = (model: CodeModel): VNode =>
  html`<html lang="en"><head><title>code</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
