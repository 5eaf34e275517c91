/**
 * A stranger registers an app. POST: email, displayName, kind (merchant or wallet), slug, settlementChainId, settlementTokenSymbol,
 * settlementAddress, settlementMemo, webhookUrl.
 */
import type { VNode } from 'preact';
import type { Chain } from '../../domain/chains.ts';
import { submit } from '../parts/button.ts';
import { choiceField, problems, textField } from '../parts/field.ts';
import type { FormState } from '../parts/form.ts';
import type { Outer } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { outerPage } from '../parts/layout.ts';
import { paths } from '../parts/paths.ts';
import { walletFields } from '../parts/walletFields.ts';

export interface RegisterModel extends Outer {
  readonly form: FormState;
  /** Where the app can be paid out. */
  readonly chains: readonly Chain[];
}

const wallet = {
  chain: 'settlementChainId',
  token: 'settlementTokenSymbol',
  address: 'settlementAddress',
  memo: 'settlementMemo',
};

export const registerPage = (model: RegisterModel): VNode => {
  const { form, chains } = model;
  const later = ['settlementAddress', 'settlementChainId', 'settlementMemo', 'webhookUrl'];
  const open = later.some((name) => form.errors[name] !== undefined || (form.values[name] ?? '') !== '');
  return outerPage(
    model,
    'Register an app',
    html`<div class="single">
      <section class="card">
        <form class="inside" method="post" action=${paths.register}>
          <div><h1>Register an app</h1>
          <p class="muted">An app takes payments on one chain and is paid on another. It works as soon as your e-mail
          is proved.</p></div>
          ${problems(form)}
          ${textField({
            form,
            name: 'email',
            label: 'E-mail',
            type: 'email',
            autocomplete: 'email',
            inputmode: 'email',
            maxlength: 254,
            focus: true,
            hint: 'You sign in with it. It is shown to nobody.',
          })}
          ${textField({
            form,
            name: 'displayName',
            label: 'Name of your shop or app',
            autocomplete: 'organization',
            maxlength: 80,
            hint: 'Your customers see it when they pay.',
          })}
          ${choiceField({
            form,
            name: 'kind',
            label: 'What it does',
            options: [
              {
                value: 'merchant',
                label: 'A shop',
                hint: 'Every payment is paid out to your own wallet. No key can change where.',
              },
              { value: 'wallet', label: 'A wallet or platform', hint: 'Each payment names who receives it.' },
            ],
          })}
          ${textField({
            form,
            name: 'slug',
            label: 'Short name',
            optional: true,
            mono: true,
            maxlength: 48,
            pattern: '[a-z0-9]([a-z0-9_\\-]*[a-z0-9])?',
            placeholder: 'teahouse',
            hint: 'Becomes part of the app’s id, as in merchant_teahouse, and cannot be changed. Small letters, digits, - and _.',
          })}
          <details open=${open}>
          <summary>Payout wallet and webhook <small class="muted">optional: both can be set later</small></summary>
            <div class="rows">
              ${walletFields(form, wallet, chains, true)}
              ${textField({
                form,
                name: 'webhookUrl',
                label: 'Webhook URL',
                type: 'url',
                optional: true,
                inputmode: 'url',
                maxlength: 2048,
                placeholder: 'https://shop.example/webhooks',
                hint: 'We tell it when a payment has arrived and when it was paid out. Must start with https://.',
              })}
            </div>
          </details>
          ${submit('Register')}
        </form>
      </section>
      <p class="muted center">Registered already? <a href=${paths.signIn}>Sign in</a></p>
    </div>`,
  );
};
