/** An open page receives news as long as its visitor may read the page. */

import assert from 'node:assert/strict';
import { Subject } from 'rxjs';
import type { HttpDeps } from '../../src/api/index.ts';
import { defaultLimits } from '../../src/api/middleware.ts';
import type { Notification } from '../../src/postgres/listen.ts';
import { appEventsChannel, createAppNews } from '../../src/readmodels/paymentNews.ts';
import { easyAccounts } from './accounts.ts';
import { startWorld, type World } from './world.ts';

const path = '/dashboard/apps/wallet_demo/live';
const session = { sessionId: 'session of ann' } as Awaited<ReturnType<HttpDeps['accounts']['sessions']>>[number];

describe('HTTP: live pages', () => {
  let world: World;
  let notifications: Subject<Notification>;
  let news: ReturnType<typeof createAppNews>;
  let open: (typeof session)[];
  const controllers: AbortController[] = [];
  beforeEach(async () => {
    notifications = new Subject();
    news = createAppNews(notifications, { perApp: 2, perInstance: 3 });
    open = [session];
    world = await startWorld({
      feed: { changes: news.changes, events: async () => [], lastOrdinal: async () => '0' },
      accounts: { ...easyAccounts, sessions: async () => open },
      limits: { ...defaultLimits, heartbeat_ms: 5 },
    });
  });
  afterEach(async () => {
    for (const controller of controllers.splice(0)) controller.abort();
    news.close();
    await world.stop();
  });

  const happens = (appId: string) => notifications.next({ channel: appEventsChannel, payload: `${appId} 1` });
  const ask = (init: RequestInit = {}, who = 'ann'): Promise<Response> => {
    const controller = new AbortController();
    controllers.push(controller);
    const headers = { cookie: `__Host-session=${who}.session.token` };
    return fetch(`${world.url}${path}`, { headers, signal: controller.signal, redirect: 'manual', ...init });
  };
  /** Reads the stream until it contains the expected text, or ends. */
  async function readUntil(response: Response, what: RegExp): Promise<string> {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!what.test(text)) {
      const next = await reader?.read();
      if (!next || next.done) break;
      text += next.value;
    }
    return text;
  }

  it('receive news of their app, and of nothing else', async () => {
    const answer = await ask();
    assert.equal(answer.headers.get('content-type'), 'text/event-stream');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const reader = readUntil(answer, /data: changed\n\n/);
    happens('wallet_closed');
    happens('wallet_demo');
    const text = await reader;
    assert.match(text, /^retry: 2000\n\n/);
    assert.doesNotMatch(text, /wallet_/);
  });

  it('receive signs that the service is still there', async () => {
    assert.match(await readUntil(await ask(), /: here\n\n: here\n\n/), /: here/);
  });

  it('end with the session, wherever it was ended', async () => {
    const answer = await ask();
    const whole = readUntil(answer, /never/);
    open = [];
    assert.doesNotMatch(await whole, /data/);
  });

  it('end with the service', async () => {
    const whole = readUntil(await ask(), /never/);
    news.close();
    await whole;
  });

  it('are for the owner alone', async () => {
    assert.equal((await ask({}, 'bob')).status, 404);
    assert.equal((await ask({ headers: {} })).status, 303);
  });

  it('are limited in number', async () => {
    const held = [await ask(), await ask()];
    const refused = await ask();
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    assert.deepEqual(
      held.map(({ status }) => status),
      [200, 200],
    );
  });

  it('free their place when the browser has left', async () => {
    for (let visit = 0; visit < 10; visit += 1) {
      let answer = await ask();
      // The service learns of the end of the earlier visit when its connection closes.
      while (answer.status === 429) answer = await ask();
      await readUntil(answer, /retry/);
      controllers.pop()?.abort();
    }
  });
});
