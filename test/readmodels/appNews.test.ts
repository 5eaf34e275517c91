import assert from 'node:assert/strict';
import { Subject } from 'rxjs';
import { type ListenerLimits, ListenersFull } from '../../src/api/news.ts';
import type { Notification } from '../../src/postgres/listen.ts';
import { createAppNews } from '../../src/readmodels/paymentNews.ts';

const never = new AbortController().signal;

describe('news of an app’s events', () => {
  let notifications: Subject<Notification>;
  beforeEach(() => {
    notifications = new Subject();
  });
  const tell = (payload: string, channel = 'app_events') => notifications.next({ channel, payload });
  const given = (limits?: ListenerLimits) => createAppNews(notifications, limits);
  const full = (of: ListenersFull['of']) => (error: unknown) => error instanceof ListenersFull && error.of === of;

  it('reach listeners of the app, and nobody else', async () => {
    const hub = given();
    const [mine, others] = [hub.changes('wallet_mine', never), hub.changes('wallet_other', never)];
    tell('wallet_mine 7');
    tell('wallet_mine 8', 'todo_payments');
    tell('wallet_other 3');
    assert.deepEqual(await mine.next(), { done: false, value: '7' });
    assert.deepEqual(await others.next(), { done: false, value: '3' });
  });

  it('are one message for a listener that was busy, the newest', async () => {
    const mine = given().changes('wallet_mine', never);
    for (const ordinal of [1, 2, 3]) tell(`wallet_mine ${ordinal}`);
    assert.deepEqual(await mine.next(), { done: false, value: '3' });
    const next = mine.next();
    tell('wallet_mine 4');
    assert.deepEqual(await next, { done: false, value: '4' });
  });

  it('make everybody read again if missed events are unknown', async () => {
    const hub = given();
    const both = [hub.changes('wallet_mine', never), hub.changes('wallet_other', never)];
    tell('');
    for (const news of both) assert.deepEqual(await news.next(), { done: false, value: null });
  });

  it('end with the listener’s signal, whether it waits or has not begun', async () => {
    const gone = new AbortController();
    const hub = given({ perApp: 2, perInstance: 2 });
    const [waiting, idle] = [hub.changes('wallet_mine', gone.signal), hub.changes('wallet_mine', gone.signal)];
    const next = waiting.next();
    gone.abort();
    assert.equal((await next).done, true);
    assert.equal((await idle.next()).done, true);
    assert.equal((await hub.changes('wallet_mine', gone.signal).next()).done, true);
    hub.changes('wallet_mine', never);
    hub.changes('wallet_mine', never);
  });

  it('end for all when the service stops, and for later listeners', async () => {
    const hub = given();
    const waiting = hub.changes('wallet_mine', never).next();
    hub.close();
    assert.equal((await waiting).done, true);
    assert.equal((await hub.changes('wallet_mine', never).next()).done, true);
    assert.equal(notifications.observed, false);
  });

  it('have room for a number of one app, and for a number in all; a leaving listener frees a place', async () => {
    const hub = given({ perApp: 2, perInstance: 3 });
    const first = hub.changes('wallet_mine', never);
    hub.changes('wallet_mine', never);
    assert.throws(() => hub.changes('wallet_mine', never), full('one'));
    hub.changes('wallet_other', never);
    assert.throws(() => hub.changes('wallet_third', never), full('instance'));
    tell('wallet_mine 1');
    await first.next();
    await first.return?.();
    hub.changes('wallet_third', never);
  });
});
