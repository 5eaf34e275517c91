/** The webhook secret of a new app, once, and the way to prove the e-mail. POST to the code page: code. */
import type { VNode } from 'preact';
import { pairs } from '../parts/boxes.ts';
import { linkButton } from '../parts/button.ts';
import { problems } from '../parts/field.ts';
import type { FormState } from '../parts/form.ts';
import type { Outer } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { outerPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { secretOnce } from '../parts/secret.ts';
import { codeForm, mailboxNote } from './code.ts';

export interface RegisteredModel extends Outer {
  readonly appId: string;
  readonly email: string;
  readonly webhookUrl: string | null;
  readonly webhookSecret: string;
  readonly webhookSecretFingerprint: string;
  /** Null when the e-mail is proved already: somebody signed in took a pending registration up. */
  readonly proof: { readonly form: FormState; readonly mailboxUrl: string | null } | null;
}

export const registeredPage = (model: RegisteredModel): VNode => {
  const { proof } = model;
  return outerPage(
    model,
    'Registered',
    html`<div class="single">
      <h1>${proof ? 'Two steps, then your app works' : 'Your app works'}</h1>
      ${secretOnce('Webhook secret', model.webhookSecret, 'Your server checks with it that a webhook is ours. Lost, it can be replaced, never shown again.')}
      <section class="card"><div class="inside">
        ${
          proof
            ? html`<div><h2>Prove your e-mail</h2><p class="muted">We mailed a code to <strong>${bdi(model.email)}
        </strong>. Without it the registration ends after 24 hours, and its name is free again.</p></div>`
            : null
        }
        ${proof && problems(proof.form)}
        ${proof ? codeForm(proof.form, null) : linkButton(appPaths(model.appId).overview, 'To your app', 'primary')}
        ${pairs([
          ['App', html`<span class="mono">${model.appId}</span>`],
          [
            'Webhooks go to',
            model.webhookUrl === null ? 'nowhere yet' : html`<span class="mono">${model.webhookUrl}</span>`,
          ],
          ['Fingerprint', html`<span class="mono">${model.webhookSecretFingerprint}</span>`],
        ])}
      </div>
      ${proof && proof.mailboxUrl !== null && mailboxNote(proof.mailboxUrl)}
      </section>
    </div>`,
  );
};
