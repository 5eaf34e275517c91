/** E-mail form. POST: email, next. */

import type { IncomingMessage } from 'node:http';
import type { VNode } from 'preact';
import Type from 'typebox';
import type { Clock } from '../../commands/ports.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { Accounts, Asker, Proved } from '../../src/accounts/accounts.ts';
import { oneOf } from '../../src/api/schemas/base.ts';
import { emptyForm, type FormState, problems, submit, textField } from '../parts/field.ts';
import type { Outer, Site } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { languageOf, languages } from '../parts/language.ts';
import { outerPage } from '../parts/layout.ts';
import { appPaths, paths } from '../parts/paths.ts';
import { type Reading, sayContent, sayText } from '../parts/say.ts';
import { type Challenged, type Cookies, challengeCookie, challengeIn, type SetCookie } from './cookies.ts';
import { entry, fields, NextPath, noFields } from './forms.ts';
import {
  type AnyForm,
  type AnyPage,
  type Audience,
  type Frames,
  form,
  type Leads,
  type PageResult,
  page,
  type Visit,
} from './page.ts';

export interface CodeModel extends Outer {
  /** Recipient as typed; whether the address belongs to anybody is not revealed. */
  readonly email: string;
  /** Fields: code. Its error contains the remaining attempts. */
  readonly form: FormState;
  readonly next: string | null;
  /** register: the code proves a registration. */
  readonly purpose: 'signIn' | 'register';
  /** Mailbox of the sandbox. */
  readonly mailboxUrl: string | null;
}

/** Asks for the mailed code. POST: code, next. */
export const codePage = (model: CodeModel): VNode => {
  const email = html`<strong>${bdi(model.email)}</strong>`;
  const again = model.purpose === 'register' ? paths.register : paths.signIn;
  return outerPage(
    model,
    sayText('codeTitle'),
    html`<div class="single">
      <section class="card">
        <div class="inside">
          <div><h1>${sayContent('codeTitle')}</h1><p class="muted">${
            model.purpose === 'register'
              ? html`<span>${sayContent('codeRegister', { email })}</span>`
              : html`<span>${sayContent('codeSignIn', { email })}</span>`
          }</p></div>
          ${problems(model.form)}
          ${codeForm(model.form, model.next)}
        </div>
        ${model.mailboxUrl !== null && mailboxNote(model.mailboxUrl)}
      </section>
      <p class="muted center">${sayContent('noMail', { link: html`<a href=${again}>${sayContent('anotherCode')}</a>` })}</p>
    </div>`,
  );
};

/** A code is valid for ten minutes, in the browser that requested it. */
export const codeForm = (form: FormState, next: string | null): VNode =>
  html`<form class="rows" method="post" action=${paths.code}>
    ${next !== null && html`<input type="hidden" name="next" value=${next} />`}
    ${textField({
      form,
      name: 'code',
      label: sayText('code'),
      autocomplete: 'one-time-code',
      inputmode: 'numeric',
      pattern: ' *([0-9] *){6,8}',
      maxlength: 16,
      focus: true,
      mono: true,
      hint: sayContent('codeHint'),
    })}
    ${submit(sayContent('goOn'))}
  </form>`;

export const mailboxNote = (mailboxUrl: string): VNode =>
  html`<p class="foot">${icon('mail')}
    <span>${sayContent('mailboxNote', { mailbox: html`<a href=${mailboxUrl} target="_blank">${sayContent('mailbox')}</a>` })}</span></p>`;

const own = /^\/dashboard(\/[\w~-][\w.~-]*)*\/?(\?[\w.~%=&+-]*)?$/;

/** Page to open after signing in: a page of the dashboard, never another site. Null for anything else. */
export const ownPath = (text: string | null | undefined): string | null => (text && own.test(text) ? text : null);

const orHome = (text: string | null | undefined): string => ownPath(text) ?? paths.home;

export interface SignInModel extends Outer {
  /** Field: email. */
  readonly form: FormState;
  /** Path to open afterwards: one under /dashboard that was requested without a session. */
  readonly next: string | null;
  /** True if strangers may register. */
  readonly registrationOpen: boolean;
  /** For the sandbox: the suggested account, and the mailbox. */
  readonly demo: { readonly email: string; readonly mailboxUrl: string } | null;
}

export const signInPage = (model: SignInModel): VNode => {
  const { form, next, demo } = model;
  const shown = demo && form.values['email'] === undefined ? { ...form, values: { email: demo.email } } : form;
  return outerPage(
    model,
    sayText('signIn'),
    html`<div class="single">
      <section class="card">
        <form class="inside" method="post" action=${paths.signIn}>
          <div><h1>${sayContent('signIn')}</h1><p class="muted">${sayContent('noPassword')}</p></div>
          ${problems(form)}
          ${next !== null && html`<input type="hidden" name="next" value=${next} />`}
          ${textField({
            form: shown,
            name: 'email',
            label: sayText('email'),
            type: 'email',
            autocomplete: 'username',
            inputmode: 'email',
            maxlength: 254,
            focus: true,
          })}
          ${submit(sayContent('mailCode'))}
        </form>
        ${
          demo &&
          html`<p class="foot">${icon('mail')}<span>${sayContent('demoNote', {
            email: html`<strong>${demo.email}</strong>`,
            mailbox: html`<a href=${demo.mailboxUrl} target="_blank">${sayContent('demoMailbox')}</a>`,
          })}</span></p>`
        }
      </section>
      ${
        model.registrationOpen
          ? html`<p class="muted center">${sayContent('newHere')} <a href=${paths.register}>${sayContent('registerApp')}</a></p>`
          : html`<p class="muted center">${sayContent('operatorInvites')}</p>`
      }
    </div>`,
  );
};

// Sign-in by a mailed code, and sign-out.

/** Needs of the pages of signing in and out. */
export interface SignInPagesDeps {
  readonly accounts: Accounts;
  readonly clock: Pick<Clock, 'now'>;
  readonly site: Site;
}

const year_s = 31_536_000;

export const askerOf = ({ address, agent, cookies }: Visit<Audience>): Asker => ({
  address,
  userAgent: agent,
  known: cookies.known ?? null,
});

export function signInPages(deps: SignInPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  return [...asking(deps, frames), ...proving(deps, frames), signOut(deps)];
}

function asking({ accounts, site }: SignInPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const shown = async (visit: Visit<Audience>, state: FormState, next: string | null): Promise<PageResult> => {
    const { registrationOpen, demoEmail, mailboxUrl } = site;
    const demo = demoEmail !== null && mailboxUrl !== null ? { email: demoEmail, mailboxUrl } : null;
    return { page: signInPage({ ...(await frames.outer(visit)), form: state, next, registrationOpen, demo }) };
  };
  return [
    page({
      path: paths.signIn,
      audience: 'anyone',
      query: fields({ next: NextPath }),
      show: async (visit) => {
        const next = ownPath(visit.query.next);
        return visit.visitor ? { to: orHome(next) } : shown(visit, emptyForm, next);
      },
    }),
    form({
      path: paths.signIn,
      audience: 'anyone',
      fields: fields({ email: entry(254), next: NextPath }),
      async act(visit) {
        const { email, next } = visit.fields;
        const asked = await accounts.ask(email, askerOf(visit));
        if (isRefusal(asked)) return asked;
        const challenged: Challenged = { challenge: asked.challenge, email, purpose: 'signIn', next: ownPath(next) };
        return { to: paths.code, set: [challengeCookie(challenged)] };
      },
      again: (visit, state) => shown(visit, state, ownPath(state.values['next'])),
    }),
  ];
}

function proving({ accounts, clock, site }: SignInPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const shown = async (visit: Visit<Audience>, state: FormState): Promise<PageResult | Leads> => {
    const challenged = challengeIn(visit.cookies);
    if (!challenged) return { to: paths.signIn };
    const { email, purpose, next } = challenged;
    return {
      page: codePage({
        ...(await frames.outer(visit)),
        email,
        purpose,
        next,
        form: state,
        mailboxUrl: site.mailboxUrl,
      }),
    };
  };
  return [
    page({ path: paths.code, audience: 'anyone', show: (visit) => shown(visit, emptyForm) }),
    form({
      path: paths.code,
      audience: 'anyone',
      fields: fields({ code: entry(20), next: NextPath }),
      async act(visit) {
        const challenged = challengeIn(visit.cookies);
        if (!challenged) return { to: paths.signIn };
        const proved = await accounts.prove(
          challenged.challenge,
          visit.fields.code.replaceAll(/\s/g, ''),
          askerOf(visit),
        );
        if (isRefusal(proved)) return { ...proved, pointer: '/code' };
        const to = proved.registered === null ? orHome(challenged.next) : appPaths(proved.registered).overview;
        return { to, set: cookiesOf(proved) };
      },
      // A code is never returned.
      again: (visit, { errors }) => shown(visit, { values: {}, errors }),
    }),
  ];

  function cookiesOf({ token, expiresAt, known }: Proved): readonly SetCookie[] {
    const life_s = Math.max(1, Math.floor((Date.parse(expiresAt) - Date.parse(clock.now())) / 1_000));
    return [
      { name: 'session', value: token, life_s },
      { name: 'known', value: known, life_s: year_s },
      { name: 'challenge', value: null },
    ];
  }
}

const signOut = ({ accounts }: SignInPagesDeps): AnyForm =>
  form({
    path: paths.signOut,
    audience: 'anyone',
    fields: noFields,
    async act({ visitor }) {
      if (visitor) await accounts.endSession(visitor.developerId, visitor.sessionId);
      return { to: paths.signIn, told: 'signedOut', set: [{ name: 'session', value: null }] };
    },
    again: async () => ({ to: paths.signIn }),
  });

// The language of the dashboard: chosen by the person, else the browser's, else English. POST: language, next.

/** A choice is kept for a year. */
const choiceLife_s = 31_536_000;

export function readingOf(
  { method, headers, originalUrl }: Pick<IncomingMessage, 'method' | 'headers'> & { readonly originalUrl: string },
  cookies: Cookies,
): Reading {
  const language = languageOf(cookies.language, headers['accept-language'] ?? null);
  return { language, url: method === 'GET' ? originalUrl : null };
}

/** Keeps the choice in a cookie, so it also works before a person signs in, and leads back to the page. */
export const languageForm: AnyForm = form({
  path: paths.language,
  audience: 'anyone',
  fields: fields({ language: oneOf(languages), next: Type.Optional(entry(2_000)) }),
  act: async ({ fields: { language, next } }) => ({
    to: orHome(next),
    set: [{ name: 'language', value: language, life_s: choiceLife_s }],
  }),
  again: async () => ({ to: paths.home }),
});
