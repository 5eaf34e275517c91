/**
 * Registration of an app by a stranger. POST: email, displayName, kind (merchant or wallet), slug, settlementChainId,
 * settlementTokenSymbol, settlementAddress, settlementMemo, webhookUrl.
 */

import type { VNode } from 'preact';
import Type, { type Static } from 'typebox';
import type { Chain, ChainId } from '../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import type { AccountRegistration, Accounts } from '../../src/accounts/accounts.ts';
import { AppId, ChainId as ChainIdText, oneOf } from '../../src/api/schemas/base.ts';
import { pairs, secretOnce } from '../parts/boxes.ts';
import {
  choiceField,
  emptyForm,
  type FormState,
  linkButton,
  problems,
  submit,
  textField,
  walletFields,
} from '../parts/field.ts';
import type { Outer, Site } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { outerPage } from '../parts/layout.ts';
import { appPaths, paths } from '../parts/paths.ts';
import { challengeCookie } from './cookies.ts';
import { entry, fields, noFields } from './forms.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, type Audience, form, page, type Visit } from './page.ts';
import { askerOf, codeForm, mailboxNote } from './signIn.ts';

export interface RegisterModel extends Outer {
  readonly form: FormState;
  /** Chains on which the app can be paid out. */
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

export interface RegisteredModel extends Outer {
  readonly appId: string;
  readonly email: string;
  readonly webhookUrl: string | null;
  readonly webhookSecret: string;
  readonly webhookSecretFingerprint: string;
  /** Null if the e-mail is proved already: a signed-in person confirmed a pending registration. */
  readonly proof: { readonly form: FormState; readonly mailboxUrl: string | null } | null;
}

/** Displays a new app's webhook secret once, and how to prove the e-mail. POST to the code page: code. */
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
        </strong>. Without the code, the registration ends after one hour, and its name is free again.</p></div>`
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

// A stranger registers an app; a signed-in person confirms or discards a pending registration.

/** Needs of the pages of registration. */
export interface RegisterPagesDeps {
  readonly accounts: Accounts;
  readonly site: Site;
}

const Registration = fields({
  email: entry(254),
  displayName: entry(100),
  kind: oneOf(['merchant', 'wallet']),
  slug: Type.Optional(entry(48)),
  settlementChainId: Type.Optional(ChainIdText),
  settlementTokenSymbol: Type.Optional(entry(8)),
  settlementAddress: Type.Optional(entry(128)),
  settlementMemo: Type.Optional(entry(128)),
  webhookUrl: Type.Optional(entry(2_000)),
});

const pointers = {
  '/settlement/chainId': 'settlementChainId',
  '/settlement/tokenSymbol': 'settlementTokenSymbol',
  '/settlement/receiverAddress': 'settlementAddress',
  '/settlement/receiverMemo': 'settlementMemo',
};

export function registerPages(deps: RegisterPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { accounts, site } = deps;
  const shown = async (visit: Visit<Audience>, state: FormState) => ({
    page: registerPage({ ...(await frames.outer(visit)), form: state, chains: site.chains }),
  });
  return [
    page({ path: paths.register, audience: 'anyone', show: (visit) => shown(visit, emptyForm) }),
    form({
      path: paths.register,
      audience: 'anyone',
      fields: Registration,
      pointers,
      async act(visit) {
        const request = requestOf(visit.fields);
        if (isRefusal(request)) return request;
        const registering = await accounts.register(request, askerOf(visit));
        if (isRefusal(registering)) return registering;
        const { appId, webhookUrl, webhookSecret, webhookSecretFingerprint, challenge } = registering;
        const { email } = visit.fields;
        // Only this answer contains the secret: a redirect target could be opened again.
        const shownOnce = { appId, email, webhookUrl, webhookSecret, webhookSecretFingerprint };
        const proof = { form: emptyForm, mailboxUrl: site.mailboxUrl };
        return {
          page: registeredPage({ ...(await frames.outer(visit)), ...shownOnce, proof }),
          set: [challengeCookie({ challenge, email, purpose: 'register', next: null })],
        };
      },
      again: shown,
    }),
    ...pendingForms(deps, frames),
  ];
}

/** A wallet may be omitted as a whole. */
function requestOf(sent: Static<typeof Registration>): AccountRegistration | Refusal {
  const { email, displayName, kind, slug = null, webhookUrl = null } = sent;
  const { settlementChainId, settlementTokenSymbol = 'USDC', settlementAddress, settlementMemo = null } = sent;
  const request = { email, displayName, kind, slug, webhookUrl };
  if (settlementChainId === undefined && settlementAddress === undefined) return { ...request, settlement: null };
  if (settlementChainId === undefined)
    return refuse('invalidRequest', 'is required for an address', '/settlementChainId');
  if (settlementAddress === undefined) return refuse('invalidRequest', 'is required on a chain', '/settlementAddress');
  const settlement = {
    chainId: Number(settlementChainId) as ChainId,
    tokenSymbol: settlementTokenSymbol,
    receiverAddress: settlementAddress,
    receiverMemo: settlementMemo,
  };
  return { ...request, settlement };
}

const PendingPath = Type.Object({ appId: AppId });
const toChoice = async () => ({ to: paths.home });

function pendingForms({ accounts }: RegisterPagesDeps, frames: Frames): readonly AnyForm[] {
  return [
    form({
      path: '/dashboard/register/{appId}/confirm',
      audience: 'person',
      params: PendingPath,
      fields: noFields,
      async act(visit) {
        const { developerId } = visit.visitor;
        const confirmed = await accounts.confirmRegistration(developerId, visit.params.appId, visit.by);
        if (isRefusal(confirmed)) return confirmed;
        const outer = await frames.outer(visit);
        return { page: registeredPage({ ...outer, email: outer.person ?? '', ...confirmed, proof: null }) };
      },
      again: toChoice,
    }),
    form({
      path: '/dashboard/register/{appId}/discard',
      audience: 'person',
      params: PendingPath,
      fields: noFields,
      async act({ visitor, params }) {
        await accounts.discardRegistration(visitor.developerId, params.appId);
        return { to: paths.home, told: 'registrationDiscarded' };
      },
      again: toChoice,
    }),
  ];
}
