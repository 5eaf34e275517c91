/** Asks for the e-mail. POST: email, next. */
import type { VNode } from 'preact';
import { submit } from '../parts/button.ts';
import { problems, textField } from '../parts/field.ts';
import type { FormState } from '../parts/form.ts';
import type { Outer } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { outerPage } from '../parts/layout.ts';
import { paths } from '../parts/paths.ts';

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

export const signInPage = (model: SignInModel): VNode => {
  const { form, next, demo } = model;
  const shown = demo && form.values['email'] === undefined ? { ...form, values: { email: demo.email } } : form;
  return outerPage(
    model,
    'Sign in',
    html`<div class="single">
      <section class="card">
        <form class="inside" method="post" action=${paths.signIn}>
          <div><h1>Sign in</h1><p class="muted">No password: we mail you a code.</p></div>
          ${problems(form)}
          ${next !== null && html`<input type="hidden" name="next" value=${next} />`}
          ${textField({
            form: shown,
            name: 'email',
            label: 'E-mail',
            type: 'email',
            autocomplete: 'username',
            inputmode: 'email',
            maxlength: 254,
            focus: true,
          })}
          ${submit('Mail me a code')}
        </form>
        ${
          demo &&
          html`<p class="foot">${icon('mail')}<span>In the sandbox, sign in as <strong>${demo.email}
        </strong>. The mail with the code is in the <a href=${demo.mailboxUrl} target="_blank">sandbox’s
        mailbox</a>.</span></p>`
        }
      </section>
      ${
        model.registrationOpen
          ? html`<p class="muted center">New here? <a href=${paths.register}>Register an app</a></p>`
          : html`<p class="muted center">New apps are registered by the operator, who can invite you.</p>`
      }
    </div>`,
  );
};
