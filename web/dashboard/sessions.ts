/** A person's sessions. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { Instant } from '../../domain/time.ts';
import type { TeamInvitation } from '../../queries/team.ts';
import type { Accounts } from '../../src/accounts/accounts.ts';
import type { TeamReads } from '../../src/api/routes/team.ts';
import { Uuid } from '../../src/api/schemas/base.ts';
import { card, chip, empty } from '../parts/boxes.ts';
import { when } from '../parts/cells.ts';
import { linkButton, postButton } from '../parts/field.ts';
import type { AppName, Outer, Site } from '../parts/frame.ts';
import { bdi, cut, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { directionOf } from '../parts/language.ts';
import { outerPage } from '../parts/layout.ts';
import { appPaths, paths } from '../parts/paths.ts';
import { pageLanguage, sayContent, sayText } from '../parts/say.ts';
import { table } from '../parts/table.ts';
import { entry, fields, noFields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, page } from './page.ts';
import { noSuchPage } from './router.ts';
import { invitationCard } from './team.ts';

export interface ChooseAppModel extends Outer {
  readonly apps: readonly AppName[];
  /** Registered with the person's e-mail, by anyone who knows it. */
  readonly pending: readonly {
    readonly appId: string;
    readonly displayName: string;
    readonly requestedAt: Instant;
    readonly expiresAt: Instant;
  }[];
  readonly registrationOpen: boolean;
  /** Open invitations to teams of apps. */
  readonly invitations: readonly TeamInvitation[];
}

/** The apps of a person, and their pending registrations. */
export const chooseAppPage = (model: ChooseAppModel): VNode => {
  const { apps, pending, invitations } = model;
  const register = model.registrationOpen ? linkButton(paths.register, sayContent('registerApp')) : null;
  return outerPage(
    model,
    sayText('yourApps'),
    html`<div class="single">
      <div class="head"><div class="title"><h1>${sayContent('yourApps')}</h1></div><div class="controls">
      ${linkButton(paths.sessions, sayContent('sessions'), 'quiet')}${apps.length > 0 && register}</div></div>
      ${
        apps.length === 0
          ? html`<section class="card">${empty(
              sayText('noAppYet'),
              model.registrationOpen ? sayContent('noAppYetText') : sayContent('registrationClosedText'),
              register,
            )}</section>`
          : html`<ul class="card list">${apps.map(
              ({ appId, name }) =>
                html`<li><a class="go" href=${appPaths(appId).overview}><span class="mark" aria-hidden="true">
                  ${Array.from(name)[0]?.toUpperCase()}</span><span><strong>${bdi(name)}</strong><small class="muted">
                  ${appId}</small></span>${icon('forth')}</a></li>`,
            )}</ul>`
      }
      ${invitations.length > 0 && invitationCard(invitations)}
      ${
        pending.length > 0 &&
        card(
          { title: sayText('waitingForYou'), note: sayContent('withYourEmail') },
          html`<div><ul class="list">${pending.map(
            ({ appId, displayName, requestedAt, expiresAt }) =>
              html`<li><div class="go"><span><strong>${bdi(displayName)}</strong><small class="muted">
                ${sayContent('pendingText', { app: appId, from: when(requestedAt), until: when(expiresAt) })}</small></span>
                <span class="controls">${postButton(paths.discardPending(appId), sayContent('discard'), 'quiet')}
                ${postButton(paths.confirmPending(appId), sayContent('itIsMine'))}</span></div></li>`,
          )}</ul><p class="foot">${sayContent('notYou')}</p></div>`,
        )
      }
    </div>`,
  );
};

export interface ListedSession {
  readonly sessionId: string;
  readonly startedAt: Instant;
  readonly lastSeenAt: Instant;
  readonly expiresAt: Instant;
  /** The browser's own description; null without one. */
  readonly userAgent: string | null;
  readonly address: string;
  /** True for the current session. */
  readonly current: boolean;
}

export interface SessionsModel extends Outer {
  readonly sessions: readonly ListedSession[];
}

export const sessionsPage = (model: SessionsModel): VNode => {
  const { sessions } = model;
  const others = sessions.some(({ current }) => !current);
  return outerPage(
    model,
    sayText('sessions'),
    html`<div class="stack">
      <div class="head"><div class="title"><a class="up small muted" href=${paths.home}>${icon('back')}${sayContent('yourApps')}</a>
      <h1>${sayContent('whereSignedIn')}</h1></div></div>
      ${card(
        {
          title: sayText('sessions'),
          note: sayContent('sessionsNote'),
          controls: others && postButton(paths.endOtherSessions, sayContent('endAllOthers'), 'danger'),
        },
        sessionTable(sessions),
      )}
      <p class="muted small">${sayContent('unknownSession')}</p>
    </div>`,
    true,
  );
};

const sessionTable = (sessions: readonly ListedSession[]): VNode =>
  table(
    sayText('sessions'),
    [
      { head: sayText('device'), kind: 'title' },
      { head: sayText('state'), kind: 'chip' },
      { head: sayText('signedInColumn'), kind: 'detail' },
      { head: sayText('lastSeen'), kind: 'when' },
      { head: sayText('endSession'), kind: 'action' },
    ],
    sessions.map(({ sessionId, startedAt, lastSeenAt, userAgent, address, current }) => [
      html`<span><strong title=${userAgent ?? undefined}>${deviceName(userAgent)}</strong>
      <small class="below">${sayContent('fromNetwork', { address: bdi(address) })}</small></span>`,
      current ? chip('ok', sayText('thisSession')) : null,
      when(startedAt),
      when(lastSeenAt),
      current
        ? postButton(paths.signOut, sayContent('signOut'), 'quiet')
        : postButton(paths.endSession(sessionId), sayContent('endSession'), 'quiet'),
    ]),
  );

const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
  ['curl/', 'curl'],
] as const;
const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', null],
  ['Linux', 'Linux'],
] as const;

/** In Arabic, a sentence of ours begins with a Latin name but reads from right to left. */
const deviceName = (userAgent: string | null): VNode =>
  directionOf(pageLanguage()) === 'rtl' && (userAgent === null || browsers.some(([mark]) => userAgent.includes(mark)))
    ? html`<bdi dir="rtl">${deviceOf(userAgent)}</bdi>`
    : bdi(deviceOf(userAgent));

/** `Firefox on Linux`: the browser's own description, which may be false. */
function deviceOf(userAgent: string | null): string {
  if (userAgent === null) return sayText('deviceUnknown');
  const browser = browsers.find(([mark]) => userAgent.includes(mark))?.[1];
  const system = systems.find(([mark]) => userAgent.includes(mark))?.[1];
  if (browser === undefined) return cut(userAgent, 40);
  return system === undefined ? browser : sayText('browserOn', { browser, system: system ?? sayText('aMac') });
}

// A person's sessions and apps.

/** Needs of the pages of a person's apps and sessions. */
export interface PersonalPagesDeps {
  readonly accounts: Accounts;
  readonly site: Site;
  readonly team: Pick<TeamReads, 'invitations'>;
}

export function personalPages(deps: PersonalPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  return [home(deps, frames), ...sessions(deps, frames)];
}

/** A person with one app is redirected to it. */
const home = ({ accounts, site, team }: PersonalPagesDeps, frames: Frames): AnyPage =>
  page({
    path: paths.home,
    audience: 'person',
    query: fields({ choose: Type.Optional(entry(8)) }),
    async show(visit) {
      const { developerId } = visit.visitor;
      const [outer, apps, pending, invitations] = await Promise.all([
        frames.outer(visit),
        frames.appsOf(developerId),
        accounts.pendingRegistrations(developerId),
        team.invitations(developerId),
      ]);
      const [only] = apps;
      const waiting = pending.length + invitations.length;
      const chosen = only && apps.length === 1 && waiting === 0 && visit.query.choose === undefined;
      if (chosen) return { to: appPaths(only.appId).overview };
      return { page: chooseAppPage({ ...outer, apps, pending, invitations, registrationOpen: site.registrationOpen }) };
    },
  });

const toSessions = async () => ({ to: paths.sessions });

function sessions({ accounts }: PersonalPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
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
