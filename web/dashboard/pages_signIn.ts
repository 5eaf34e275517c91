/** Signing in by a mailed code, and signing out. */
import { isRefusal } from '../../domain/decider.ts';
import type { Asker, Proved } from '../../src/accounts/accounts.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { emptyForm, type FormState } from '../parts/form.ts';
import { appPaths, paths } from '../parts/paths.ts';
import { type Challenged, challengeCookie, challengeIn } from './challenge.ts';
import { codePage } from './code.ts';
import type { SetCookie } from './cookies.ts';
import { orHome, ownPath } from './dashboard_next.ts';
import { entry, fields, Next, noFields } from './fields.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, type Audience, form, type Leads, page, type Shown, type Visit } from './page.ts';
import { signInPage } from './signIn.ts';

type Deps = Pick<HttpDeps, 'accounts' | 'clock' | 'site'>;

const year_s = 31_536_000;

export const askerOf = ({ address, agent, cookies }: Visit<Audience>): Asker => ({
  address,
  userAgent: agent,
  known: cookies.known ?? null,
});

export function signInPages(deps: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  return [...asking(deps, frames), ...proving(deps, frames), signOut(deps)];
}

function asking({ accounts, site }: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const shown = async (visit: Visit<Audience>, state: FormState, next: string | null): Promise<Shown> => {
    const { registrationOpen, demoEmail, mailboxUrl } = site;
    const demo = demoEmail !== null && mailboxUrl !== null ? { email: demoEmail, mailboxUrl } : null;
    return { page: signInPage({ ...(await frames.outer(visit)), form: state, next, registrationOpen, demo }) };
  };
  return [
    page({
      path: paths.signIn,
      audience: 'anyone',
      query: fields({ next: Next }),
      show: async (visit) => {
        const next = ownPath(visit.query.next);
        return visit.visitor ? { to: orHome(next) } : shown(visit, emptyForm, next);
      },
    }),
    form({
      path: paths.signIn,
      audience: 'anyone',
      fields: fields({ email: entry(254), next: Next }),
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

function proving({ accounts, clock, site }: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const shown = async (visit: Visit<Audience>, state: FormState): Promise<Shown | Leads> => {
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
      fields: fields({ code: entry(20), next: Next }),
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
      // A code is never sent back.
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

const signOut = ({ accounts }: Deps): AnyForm =>
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
