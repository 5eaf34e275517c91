/**
 * Registration of an app: e-mail, code (signIn.ts), name, wallet (settlement.ts). POST to register: email; to registerApp: displayName, kind
 * (merchant or wallet), slug.
 */

import type { VNode } from 'preact';
import Type from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import type { Accounts } from '../../src/accounts/accounts.ts';
import { AppId, oneOf } from '../../src/api/schemas/base.ts';
import { pairs, secretOnce } from '../parts/boxes.ts';
import { choiceField, emptyForm, type FormState, linkButton, problems, submit, textField } from '../parts/field.ts';
import type { Outer, Site } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { outerPage } from '../parts/layout.ts';
import { appPaths, paths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { challengeCookie, challengeIn } from './cookies.ts';
import { entry, fields, noFields } from './forms.ts';
import { type AnyForm, type AnyPage, type Audience, type Frames, form, page, type Visit } from './page.ts';
import { askerOf } from './signIn.ts';

/** Progress of the registration, for people who want to know how long it takes. */
const stepNote = (number: number): VNode => html`<p class="small muted">${sayContent('stepOf', { number })}</p>`;

export interface RegisterModel extends Outer {
  /** Field: email. */
  readonly form: FormState;
  readonly registrationOpen: boolean;
}

export const registerPage = (model: RegisterModel): VNode =>
  outerPage(
    model,
    sayText('registerApp'),
    html`<div class="single">
      <section class="card">
        ${
          model.registrationOpen
            ? emailForm(model.form)
            : html`<div class="inside"><h1>${sayContent('registrationClosed')}</h1><p class="muted">${sayContent('registrationClosedText')}</p></div>`
        }
      </section>
      <p class="muted center">${sayContent('registeredAlready')} <a href=${paths.signIn}>${sayContent('signIn')}</a></p>
    </div>`,
  );

const emailForm = (form: FormState): VNode =>
  html`<form class="inside" method="post" action=${paths.register}>
    <div>${stepNote(1)}<h1>${sayContent('registerApp')}</h1>
    <p class="muted">${sayContent('registerText')}</p></div>
    ${problems(form)}
    ${textField({
      form,
      name: 'email',
      label: sayText('email'),
      type: 'email',
      autocomplete: 'email',
      inputmode: 'email',
      maxlength: 254,
      focus: true,
      hint: sayContent('emailHint'),
    })}
    ${submit(sayContent('mailCode'))}
  </form>`;

export interface RegisterAppModel extends Outer {
  /** Fields: displayName, kind, slug. */
  readonly form: FormState;
}

export const registerAppPage = (model: RegisterAppModel): VNode => {
  const { form } = model;
  return outerPage(
    model,
    sayText('nameApp'),
    html`<div class="single"><section class="card">
      <form class="inside" method="post" action=${paths.registerApp} novalidate>
        <div>${stepNote(3)}<h1>${sayContent('nameApp')}</h1>
        <p class="muted">${sayContent('nameAppText')}</p></div>
        ${problems(form)}
        ${textField({
          form,
          name: 'displayName',
          label: sayText('shopName'),
          autocomplete: 'organization',
          maxlength: 80,
          focus: true,
          hint: sayContent('shopNameHint'),
        })}
        ${choiceField({
          form,
          name: 'kind',
          label: sayText('whatItDoes'),
          options: [
            {
              value: 'merchant',
              label: sayText('aShop'),
              hint: sayText('aShopHint'),
            },
            { value: 'wallet', label: sayText('aWallet'), hint: sayText('aWalletHint') },
          ],
        })}
        ${textField({
          form,
          name: 'slug',
          label: sayText('shortName'),
          optional: true,
          mono: true,
          maxlength: 48,
          placeholder: 'teahouse',
          hint: sayContent('shortNameHint'),
        })}
        ${submit(sayContent('register'))}
      </form>
    </section></div>`,
  );
};

export interface ConfirmedModel extends Outer {
  readonly appId: string;
  readonly webhookUrl: string | null;
  readonly webhookSecret: string;
  readonly webhookSecretFingerprint: string;
}

/** Displays the webhook secret of a confirmed registration once. */
export const confirmedPage = (model: ConfirmedModel): VNode =>
  outerPage(
    model,
    sayText('registered'),
    html`<div class="single">
      <h1>${sayContent('appWorks')}</h1>
      ${secretOnce(sayText('webhookSecret'), model.webhookSecret, sayContent('webhookSecretAdvice'))}
      <section class="card"><div class="inside">
        ${linkButton(appPaths(model.appId).overview, sayContent('toYourApp'), 'primary')}
        ${pairs([
          [sayText('railLabel'), html`<span class="mono">${model.appId}</span>`],
          [
            sayText('webhooksGoTo'),
            model.webhookUrl === null ? sayContent('nowhereYet') : html`<span class="mono">${model.webhookUrl}</span>`,
          ],
          [sayText('fingerprint'), html`<span class="mono">${model.webhookSecretFingerprint}</span>`],
        ])}
      </div></section>
    </div>`,
  );

// Pages and forms of registration, and pending registrations.

/** Needs of the pages of registration. */
export interface RegisterPagesDeps {
  readonly accounts: Accounts;
  readonly site: Site;
}

export function registerPages(deps: RegisterPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  return [...beginning(deps, frames), ...naming(deps, frames), ...pendingForms(deps, frames)];
}

function beginning({ accounts, site }: RegisterPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const shown = async (visit: Visit<Audience>, state: FormState) => ({
    page: registerPage({ ...(await frames.outer(visit)), form: state, registrationOpen: site.registrationOpen }),
  });
  return [
    page({
      path: paths.register,
      audience: 'anyone',
      async show(visit) {
        if (visit.visitor) return { to: paths.registerApp };
        // The address typed before, for a code that has expired.
        const before = challengeIn(visit.cookies);
        return shown(
          visit,
          before?.purpose === 'register' ? { values: { email: before.email }, errors: {} } : emptyForm,
        );
      },
    }),
    form({
      path: paths.register,
      audience: 'anyone',
      fields: fields({ email: entry(254) }),
      async act(visit) {
        const { email } = visit.fields;
        const begun = await accounts.begin(email, askerOf(visit));
        if (isRefusal(begun)) return begun;
        const challenged = { challenge: begun.challenge, email, purpose: 'register', next: paths.registerApp } as const;
        return { to: paths.code, set: [challengeCookie(challenged)] };
      },
      again: shown,
    }),
  ];
}

/** A missing name is refused by the command, together with a wrong short name, so that one answer names all errors. */
const Naming = fields({
  displayName: Type.Optional(entry(200)),
  kind: oneOf(['merchant', 'wallet']),
  slug: Type.Optional(entry(200)),
});

function naming({ accounts }: RegisterPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const shown = async (visit: Visit<'person'>, state: FormState) => ({
    page: registerAppPage({ ...(await frames.outer(visit)), form: state }),
  });
  return [
    page({ path: paths.registerApp, audience: 'person', show: (visit) => shown(visit, emptyForm) }),
    form({
      path: paths.registerApp,
      audience: 'person',
      fields: Naming,
      async act({ visitor: { developerId }, fields: { displayName = '', kind, slug = null }, by }) {
        const request = { displayName, kind, slug };
        const registered = await accounts.registerApp(developerId, request, by);
        if (isRefusal(registered)) return registered;
        const to = appPaths(registered.appId);
        return { to: kind === 'merchant' ? to.settlement : to.overview, told: 'appRegistered' };
      },
      again: shown,
    }),
  ];
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
        return { page: confirmedPage({ ...outer, ...confirmed }) };
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
