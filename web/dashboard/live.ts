/** Server-sent events (HTML standard, 9.2): notify an app's open pages to reload. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Accounts } from '../../src/accounts/accounts.ts';
import type { AccessDeps } from '../../src/api/auth.ts';
import type { HttpLimits } from '../../src/api/middleware.ts';
import type { Feed } from '../../src/api/news.ts';
import { type AnyPage, page, type Visit } from './page.ts';

/** Needs of the page of news. */
export interface LivePageDeps extends Pick<AccessDeps, 'appsOf'> {
  readonly feed: Feed;
  readonly accounts: Accounts;
  readonly limits: HttpLimits;
}

/** Delay before a browser reconnects. */
const retry_ms = 2_000;
/** Read models fill the list of payments separately from the feed: it may lag by this much at a notification. */
const behind_ms = 750;

const changed = 'data: changed\n\n';
const heartbeat = ': here\n\n';

export const livePage = (deps: LivePageDeps): AnyPage =>
  page({
    path: '/dashboard/apps/{appId}/live',
    audience: 'owner',
    stays: true,
    async show(visit) {
      const news = deps.feed.changes(visit.visitor.appId, visit.gone);
      return { pieces: told(deps, visit, news), type: 'text/event-stream', headers: { 'X-Accel-Buffering': 'no' } };
    },
  });

type News = AsyncIterator<string | null>;

/** Ends with the browser's connection, the session, the app's ownership or the service. */
async function* told(deps: LivePageDeps, { visitor, gone }: Visit<'owner'>, news: News): AsyncGenerator<string> {
  const after = <W extends string>(duration_ms: number, what: W): Promise<W> =>
    sleep(duration_ms, what, { signal: gone }).catch(() => what);
  const beating = () => after(deps.limits.heartbeat_ms, 'beat');
  yield `retry: ${retry_ms}\n\n`;
  let next = news.next();
  let beat = beating();
  let again: Promise<'again'> | null = null;
  while (!gone.aborted) {
    const happened = await Promise.race([next, beat, ...(again ? [again] : [])]);
    if (happened === 'beat') {
      if (!(await isStillOwner(deps, visitor))) return;
      beat = beating();
      yield heartbeat;
    } else if (happened === 'again') {
      again = null;
      yield changed;
    } else {
      if (happened.done) return;
      next = news.next();
      again = after(behind_ms, 'again');
      yield changed;
    }
  }
}

/** Checks without extending the session: an open page alone keeps nobody signed in. */
async function isStillOwner(
  { accounts, appsOf }: LivePageDeps,
  { developerId, sessionId, appId }: Visit<'owner'>['visitor'],
) {
  const [sessions, apps] = await Promise.all([accounts.sessions(developerId), appsOf(developerId)]);
  return sessions.some((session) => session.sessionId === sessionId) && apps.includes(appId);
}
