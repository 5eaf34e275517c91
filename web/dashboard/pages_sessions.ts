/** Where somebody is signed in, and the apps that they have. */
import Type from 'typebox';
import type { HttpDeps } from '../../src/api/deps.ts';
import { Uuid } from '../../src/api/schemas/base.ts';
import { appPaths, paths } from '../parts/paths.ts';
import { chooseAppPage } from './chooseApp.ts';
import { entry, fields, noFields } from './fields.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, form, page } from './page.ts';
import { noSuchPage } from './router.ts';
import { sessionsPage } from './sessions.ts';

type Deps = Pick<HttpDeps, 'accounts' | 'site'>;

export function personalPages(deps: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  return [home(deps, frames), ...sessions(deps, frames)];
}

/** Somebody with one app is led to it. */
const home = ({ accounts, site }: Deps, frames: Frames): AnyPage =>
  page({
    path: paths.home,
    audience: 'person',
    query: fields({ choose: Type.Optional(entry(8)) }),
    async show(visit) {
      const { developerId } = visit.visitor;
      const [outer, apps, pending] = await Promise.all([
        frames.outer(visit),
        frames.appsOf(developerId),
        accounts.pendingRegistrations(developerId),
      ]);
      const [only] = apps;
      const chosen = only && apps.length === 1 && pending.length === 0 && visit.query.choose === undefined;
      if (chosen) return { to: appPaths(only.appId).overview };
      return { page: chooseAppPage({ ...outer, apps, pending, registrationOpen: site.registrationOpen }) };
    },
  });

const toSessions = async () => ({ to: paths.sessions });

function sessions({ accounts }: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  return [
    page({
      path: paths.sessions,
      audience: 'person',
      async show(visit) {
        const { developerId, sessionId } = visit.visitor;
        const [outer, found] = await Promise.all([frames.outer(visit), accounts.sessions(developerId)]);
        const listed = found.map((session) => ({ ...session, current: session.sessionId === sessionId }));
        return { page: sessionsPage({ ...outer, sessions: listed }) };
      },
    }),
    form({
      path: paths.endOtherSessions,
      audience: 'person',
      fields: noFields,
      async act({ visitor }) {
        await accounts.endAllSessions(visitor.developerId, visitor.sessionId);
        return { to: paths.sessions, told: 'otherSessionsEnded' };
      },
      again: toSessions,
    }),
    form({
      path: '/dashboard/sessions/{sessionId}/revoke',
      audience: 'person',
      params: Type.Object({ sessionId: Uuid }),
      fields: noFields,
      async act({ visitor, params }) {
        const ended = await accounts.endSession(visitor.developerId, params.sessionId);
        if (!ended) throw noSuchPage();
        return { to: paths.sessions, told: 'sessionEnded' };
      },
      again: toSessions,
    }),
  ];
}
