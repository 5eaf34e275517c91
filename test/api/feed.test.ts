import assert from 'node:assert/strict';
import { request } from 'node:http';
import { Subject } from 'rxjs';
import { plus } from '../../domain/time.ts';
import type { AppEvent } from '../../queries/feed.ts';
import { defaultLimits } from '../../src/api/middleware.ts';
import type { ListenerLimits } from '../../src/api/news.ts';
import type { Notification } from '../../src/postgres/listen.ts';
import { createAppNews } from '../../src/readmodels/paymentNews.ts';
import { created_at } from '../support/payments.ts';
import { startWorld, type World } from './world.ts';

const feedOf = (n: number): readonly AppEvent[] =>
  Array.from({ length: n }, (_, index) => ({
    ordinal: String(index + 1),
    eventId: crypto.randomUUID(),
    type: index === 0 ? 'PaymentCreated' : 'PayinDetected',
    paymentId: '0198f3c2-0000-8000-8000-000000000001',
    orderId: 'order-1',
    revision: index,
    status: 'payment_started' as const,
    previousStatus: index === 0 ? null : ('payment_started' as const),
    errorCode: null,
    at: plus(created_at, index),
  }));

describe('HTTP: the feed', () => {
  let world: World;
  let events: readonly AppEvent[];
  let notifications: Subject<Notification>;
  let news: ReturnType<typeof createAppNews>;
  let looks: number;

  /** Starts a feed in which the app of the key `walletAdmin` has `n` events. */
  const given = async (n: number, limits: { listeners?: ListenerLimits; concurrentMax?: number } = {}) => {
    events = feedOf(n);
    looks = 0;
    notifications = new Subject();
    news = createAppNews(notifications, limits.listeners);
    const of = (appId: string) => (appId === 'wallet_demo' ? events : []);
    world = await startWorld({
      limits: { ...defaultLimits, concurrentMax: limits.concurrentMax ?? defaultLimits.concurrentMax },
      feed: {
        changes: news.changes,
        events: async (appId, { after, limit }) => {
          looks += 1;
          return of(appId)
            .filter(({ ordinal }) => Number(ordinal) > Number(after))
            .slice(0, limit);
        },
        lastOrdinal: async (appId) => of(appId).at(-1)?.ordinal ?? '0',
      },
    });
  };
  afterEach(async () => {
    news.close();
    await world.stop();
  });

  const ask = (query = '', key = world.keys.walletAdmin) =>
    world.call('GET', `/payment-api/events${query}`, { headers: key });
  const ordinals = ({ body }: { body: { data: AppEvent[] } }) => body.data.map(({ ordinal }) => Number(ordinal));
  /** Resolves when this many requests have read the feed and found nothing. */
  const waiting = async (n: number) => {
    while (looks < n) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const happens = (n: number) => {
    events = feedOf(n);
    notifications.next({ channel: 'app_events', payload: `wallet_demo ${n}` });
  };

  it('is read page by page from its beginning, or from any cursor on', async () => {
    await given(5);
    const first = await ask('?limit=2');
    assert.deepEqual([ordinals(first), first.body.nextCursor, first.body.hasMore], [[1, 2], '2', true]);
    const rest = await ask('?after=2&limit=3');
    assert.deepEqual([ordinals(rest), rest.body.nextCursor, rest.body.hasMore], [[3, 4, 5], '5', false]);
    const end = await ask('?after=5');
    assert.deepEqual([ordinals(end), end.body.nextCursor, end.body.hasMore], [[], '5', false]);
    assert.deepEqual(first.body.data[0], { ...events[0] });
  });

  it('begins at its end on request', async () => {
    await given(3);
    assert.deepEqual((await ask('?after=latest')).body, { data: [], hasMore: false, nextCursor: '3' });
  });

  it('belongs to the app: its admin key reads it, its orders key and callers without a key do not', async () => {
    await given(3);
    assert.deepEqual(ordinals(await ask('', world.keys.otherAdmin)), []);
    assert.equal((await ask('', world.keys.wallet)).status, 403);
    assert.equal((await ask('', {})).status, 401);
  });

  it('refuses an invalid cursor, limit or wait, and points at it', async () => {
    await given(1);
    const bad = {
      after: ['', '-1', '01', '1.5', 'x', '9'.repeat(19), '0x1', '%201', '1&after=2', "1'--"],
      limit: ['0', '101', '-1', 'ten'],
      wait: ['-1', '31', '1e9', 'long'],
    };
    for (const [name, values] of Object.entries(bad)) {
      for (const value of values) {
        const answer = await ask(`?${name}=${value}`);
        assert.equal(answer.status, 400, `${name}=${value}`);
        assert.equal(answer.body.errors[0].pointer, `/${name}`);
      }
    }
  });

  it('answers a waiting request when something happens, and at once if there are events', async () => {
    await given(1);
    assert.deepEqual(ordinals(await ask('?wait=30')), [1]);
    const answer = ask('?after=1&wait=30');
    await waiting(2);
    happens(2);
    assert.deepEqual(ordinals(await answer), [2]);
  });

  it('answers with no events when the time is up', async () => {
    await given(1);
    assert.deepEqual((await ask('?after=1&wait=1')).body, { data: [], hasMore: false, nextCursor: '1' });
  });

  it('answers waiting requests when the service stops', async () => {
    await given(1);
    const answer = ask('?after=1&wait=30');
    await waiting(1);
    news.close();
    assert.deepEqual((await answer).body.data, []);
  });

  it('keeps no other request out while every place for waiting is used', async () => {
    await given(1, { concurrentMax: 1 });
    const answers = [ask('?after=1&wait=30'), ask('?after=1&wait=30')];
    await waiting(2);
    assert.equal((await ask()).status, 200);
    happens(2);
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    assert.ok(statuses.every((status) => status === 200 || status === 503) && statuses.includes(200), `${statuses}`);
  });

  it('has a number of places for waiting requests of an app, and frees one when a client leaves', async () => {
    await given(1, { listeners: { perApp: 1, perInstance: 2 } });
    const leaver = request(`${world.url}/payment-api/events?after=1&wait=30`, { headers: world.keys.walletAdmin });
    leaver.on('error', () => {});
    leaver.end();
    await waiting(1);
    const refused = await ask('?after=1&wait=30');
    assert.deepEqual(
      [refused.status, refused.body.error, 'retry-after' in refused.headers],
      [429, 'rateLimited', true],
    );
    assert.equal((await ask('?after=1')).status, 200);
    leaver.destroy();
    let answer = await ask('?after=1&wait=1');
    while (answer.status === 429) answer = await ask('?after=1&wait=1');
    assert.equal(answer.status, 200);
  });

  it('has a number of places for all apps', async () => {
    await given(1, { listeners: { perApp: 1, perInstance: 1 } });
    const first = ask('?after=1&wait=30');
    await waiting(1);
    const refused = await ask('?wait=30', world.keys.otherAdmin);
    assert.deepEqual([refused.status, refused.body.error], [503, 'unavailable']);
    happens(2);
    await first;
  });
});
