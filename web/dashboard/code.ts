/** Asks for the mailed code. POST: code, next. */
import type { VNode } from 'preact';
import { submit } from '../parts/button.ts';
import { problems, textField } from '../parts/field.ts';
import type { FormState } from '../parts/form.ts';
import type { Outer } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { outerPage } from '../parts/layout.ts';
import { paths } from '../parts/paths.ts';

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
  outerPage(
    model,
    'Enter the code',
    html`<div class="single">
      <section class="card">
        <div class="inside">
          <div><h1>Enter the code</h1><p class="muted">${
            model.purpose === 'register'
              ? html`<span>We mailed it to <strong>${bdi(model.email)}
                </strong>. It proves that the address is yours, and your app starts to work.</span>`
              : html`<span>If <strong>${bdi(model.email)}</strong> may sign in, a mail with it is on its way.</span>`
          }</p></div>
          ${problems(model.form)}
          ${codeForm(model.form, model.next)}
        </div>
        ${model.mailboxUrl !== null && mailboxNote(model.mailboxUrl)}
      </section>
      <p class="muted center">Nothing came? Look into the spam, or <a href=${paths.signIn}>ask for another code</a>. A
      new code ends the old one.</p>
    </div>`,
  );

/** A code works ten minutes long, in the browser that asked for it. */
export const codeForm = (form: FormState, next: string | null): VNode =>
  html`<form class="rows" method="post" action=${paths.code}>
    ${next !== null && html`<input type="hidden" name="next" value=${next} />`}
    ${textField({
      form,
      name: 'code',
      label: 'Code',
      autocomplete: 'one-time-code',
      inputmode: 'numeric',
      pattern: ' *([0-9] *){6,8}',
      maxlength: 16,
      focus: true,
      mono: true,
      hint: 'The digits of the mail. They work for ten minutes, in this browser only.',
    })}
    ${submit('Go on')}
  </form>`;

export const mailboxNote = (mailboxUrl: string): VNode =>
  html`<p class="foot">${icon('mail')}
    <span>The sandbox sends no mail: read it in its <a href=${mailboxUrl} target="_blank">mailbox</a>.</span></p>`;
