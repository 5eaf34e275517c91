import assert from 'node:assert/strict';
import { Subject } from 'rxjs';
import { ListenersFull, type PageListenerLimits, type PaymentListener } from '../../src/api/news.ts';
import type { Notification } from '../../src/postgres/listen.ts';
import { appEventsChannel, createPaymentNews } from '../../src/readmodels/paymentNews.ts';

/** An app's feed in memory, manually moved heads, and a clock whose pauses the spec ends. */
function world(limits: Partial<PageListenerLimits> = {}) {
  const notifications = new Subject<Notification>();
  const feeds = new Map<string, string[]>();
  const heads = new Map<number, bigint>([[8453, 100n]]);
  let asked = 0;
  const pauses: (() => void)[] = [];
  const feedOf = (appId: string) => feeds.get(appId) ?? [];
  const news = createPaymentNews(
    {
      notifications,
      lastOrdinal: async (appId) => String(feedOf(appId).length),
      async events(appId, { after, limit }) {
        asked += 1;
        return feedOf(appId)
          .map((paymentId, index) => ({ ordinal: String(index + 1), paymentId }))
          .slice(Number(after), Number(after) + limit);
      },
      heads: async () => new Map(heads),
      clock: { sleep: (_duration_ms, signal) => paused(pauses, signal) },
    },
    { perPayment: 2, perAddress: 100, perInstance: 3, ...limits },
  );
  return {
    news,
    heads,
    pauses,
    asked: () => asked,
    happens(appId: string, ...payments: string[]) {
      feeds.set(appId, [...feedOf(appId), ...payments]);
      notifications.next({ channel: appEventsChannel, payload: `${appId} ${feedOf(appId).length}` });
    },
    lost: () => notifications.next({ channel: appEventsChannel, payload: '' }),
  };
}

const address = '192.0.2.1';

const paused = (pauses: (() => void)[], signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    pauses.push(resolve);
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });

const soon = () => new Promise((resolve) => setImmediate(resolve));

/** Counts the calls of a listener. */
function counting(listener: PaymentListener): () => number {
  let told = 0;
  void (async () => {
    for await (const _ of listener) told += 1;
  })();
  return () => told;
}

describe('news of payments', () => {
  const open = new AbortController().signal;

  it('reach listeners of the payment, and nobody else, by one read of the feed for all', async () => {
    const { news, happens, asked } = world({ perPayment: 2, perInstance: 10 });
    const [tea, more, other, elsewhere] = [
      ['tea', 'a'],
      ['tea', 'a'],
      ['cake', 'a'],
      ['tea', 'b'],
    ].map(([paymentId = '', appId = '']) => counting(news.listen({ paymentId, appId, address }, open)));
    await soon();
    const before = [tea, more, other, elsewhere].map((told) => told?.() ?? 0);
    happens('a', 'tea');
    await soon();
    const after = [tea, more, other, elsewhere].map((told, index) => (told?.() ?? 0) - (before[index] ?? 0));
    assert.deepEqual(after, [1, 1, 0, 0]);
    assert.equal(asked(), 1);
  });

  it('reach everybody if missed events are unknown', async () => {
    const { news, lost } = world();
    const told = counting(news.listen({ paymentId: 'tea', appId: 'a', address }, open));
    await soon();
    const before = told();
    lost();
    await soon();
    assert.equal(told() - before, 1);
  });

  it('include the chain’s head as well, for as long as somebody waits for it', async () => {
    const { news, heads, pauses } = world();
    const listener = news.listen({ paymentId: 'tea', appId: 'a', address }, open);
    const told = counting(listener);
    await soon();
    const before = told();
    listener.awaitHead(8453);
    await soon();
    heads.set(8453, 101n);
    pauses.pop()?.();
    await soon();
    assert.equal(told() - before, 1);
    pauses.pop()?.();
    await soon();
    assert.equal(told() - before, 1);
    listener.awaitHead(null);
    pauses.pop()?.();
    await soon();
    assert.equal(pauses.length, 0);
  });

  it('have room for a number of one payment, and for a number in all; a leaving listener frees a place', async () => {
    const { news } = world();
    const leaving = new AbortController();
    news.listen({ paymentId: 'tea', appId: 'a', address }, leaving.signal);
    news.listen({ paymentId: 'tea', appId: 'a', address }, open);
    const full = (of: ListenersFull['of'], what: RegExp) => (error: unknown) =>
      error instanceof ListenersFull && error.of === of && what.test(error.message);
    assert.throws(
      () => news.listen({ paymentId: 'tea', appId: 'a', address }, open),
      full('one', /this payment’s page/),
    );
    news.listen({ paymentId: 'cake', appId: 'a', address }, open);
    assert.throws(
      () => news.listen({ paymentId: 'milk', appId: 'a', address }, open),
      full('instance', /pages of payments/),
    );
    leaving.abort();
    news.listen({ paymentId: 'tea', appId: 'a', address }, open);
  });

  it('leave places for others, however many pages one address or one network of IPv6 opens', async () => {
    const { news } = world({ perPayment: 1_000, perAddress: 3, perInstance: 1_000 });
    const at = (from: string) => news.listen({ paymentId: 'tea', appId: 'a', address: from }, open);
    const openAll = (count: number, from: (index: number) => string) => {
      let opened = 0;
      for (let index = 0; index < count; index += 1)
        try {
          at(from(index));
          opened += 1;
        } catch (error) {
          assert.ok(error instanceof ListenersFull && error.of === 'one');
        }
      return opened;
    };
    assert.equal(
      openAll(10, () => '192.0.2.9'),
      3,
    );
    assert.equal(
      openAll(100, (index) => `2001:db8:1:${index.toString(16)}::/64`),
      12,
      'of one /56',
    );
    assert.equal(
      openAll(100, (index) => `2001:db8:1:${index.toString(16)}00::/64`),
      12,
      'of one /48 with it',
    );
    at('192.0.2.10');
    at('2001:db8:2:0::/64');
  });

  it('end with the service, for present and for later listeners', async () => {
    const { news } = world();
    const waiting = news.listen({ paymentId: 'tea', appId: 'a', address }, open)[Symbol.asyncIterator]();
    await soon();
    await waiting.next();
    const next = waiting.next();
    news.close();
    assert.equal((await next).done, true);
    const late = news.listen({ paymentId: 'tea', appId: 'a', address }, open)[Symbol.asyncIterator]();
    assert.equal((await late.next()).done, true);
  });
});
