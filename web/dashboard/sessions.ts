/** Where somebody is signed in. */
import type { VNode } from 'preact';
import type { Instant } from '../../domain/time.ts';
import { card } from '../parts/boxes.ts';
import { postButton } from '../parts/button.ts';
import { chip } from '../parts/chip.ts';
import type { Outer } from '../parts/frame.ts';
import { bdi, cut, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { outerPage } from '../parts/layout.ts';
import { paths } from '../parts/paths.ts';
import { table } from '../parts/table.ts';
import { when } from '../parts/time.ts';

export interface Session {
  readonly sessionId: string;
  readonly startedAt: Instant;
  readonly lastSeenAt: Instant;
  readonly expiresAt: Instant;
  /** What the browser says of itself; null when it says nothing. */
  readonly userAgent: string | null;
  readonly address: string;
  /** The one that asks. */
  readonly current: boolean;
}

export interface SessionsModel extends Outer {
  readonly sessions: readonly Session[];
}

export const sessionsPage = (model: SessionsModel): VNode => {
  const { sessions } = model;
  const others = sessions.some(({ current }) => !current);
  return outerPage(
    model,
    'Sessions',
    html`<div class="stack">
      <div class="head"><div class="title"><a class="up small muted" href=${paths.home}>${icon('back')}Your apps</a>
      <h1>Where you are signed in</h1></div></div>
      ${card(
        {
          title: 'Sessions',
          note: 'each ends by itself, at the latest after twelve hours',
          controls: others && postButton(paths.endOtherSessions, 'End all others', 'danger'),
        },
        sessionTable(sessions),
      )}
      <p class="muted small">One that you do not know? End it: it stops at once, everywhere. Whoever it was needs a
      code from your mailbox to come back, so look after that, too.</p>
    </div>`,
    true,
  );
};

const sessionTable = (sessions: readonly Session[]): VNode =>
  table(
    'Sessions',
    [
      { head: 'Device', kind: 'title' },
      { head: 'State', kind: 'chip' },
      { head: 'Signed in', kind: 'detail' },
      { head: 'Last seen', kind: 'when' },
      { head: 'End', kind: 'action' },
    ],
    sessions.map(({ sessionId, startedAt, lastSeenAt, userAgent, address, current }) => [
      html`<span><strong title=${userAgent ?? undefined}>${bdi(deviceOf(userAgent))}</strong>
      <small class="below">from ${bdi(address)}</small></span>`,
      current ? chip('ok', 'This one') : null,
      when(startedAt),
      when(lastSeenAt),
      current
        ? postButton(paths.signOut, 'Sign out', 'quiet')
        : postButton(paths.endSession(sessionId), 'End', 'quiet'),
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
  ['Mac OS X', 'a Mac'],
  ['Linux', 'Linux'],
] as const;

/** `Firefox on Linux`: what a browser says of itself, which need not be true. */
export function deviceOf(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown';
  const browser = browsers.find(([mark]) => userAgent.includes(mark))?.[1];
  const system = systems.find(([mark]) => userAgent.includes(mark))?.[1];
  if (browser === undefined) return cut(userAgent, 40);
  return system === undefined ? browser : `${browser} on ${system}`;
}
