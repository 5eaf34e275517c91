import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle } from '../../commands/handle.ts';
import { type CrashPoint, type EventStore, Unavailable } from '../../commands/ports.ts';
import { createSendWebhook, type WebhookAnswer, type WebhookMessage } from '../../commands/sendWebhook.ts';
import { instant } from '../../domain/time.ts';
import type { WebhookStart } from '../../domain/webhook.ts';
import { memoryEventStore } from '../../src/eventstore/memory.ts';
import { randomIds } from '../../src/runtime/system.ts';

const clock = { now: () => instant(1_000), sleep: async () => {} };
const delivery: Omit<WebhookStart, 'startedAt'> = {
  deliveryId: 'd1',
  paymentId: 'p1',
  appId: 'merchant_bakery',
  eventType: 'payment_payin_completed',
  url: 'https://bakery.example/hooks',
  eventId: 'e1',
  eventRevision: '4',
};
const message = { body: Buffer.from('{}'), secret: '5e'.repeat(32) };
const ok: WebhookAnswer = { statusCode: 200, error: null, responsePreview: 'ok' };

/** A receiver that counts, and processes that come and go over one store. */
function world({ answer = ok, store = memoryEventStore() }: { answer?: WebhookAnswer; store?: EventStore } = {}) {
  const posts: WebhookMessage[] = [];
  const post = async (sent: WebhookMessage) => {
    posts.push(sent);
    return answer;
  };
  const startProcess = (crash: CrashPoint = () => {}) =>
    createSendWebhook({
      handle: createHandle({ store, clock, ids: randomIds, codec: eventCodec, crash }),
      clock,
      post,
      crash,
    });
  const recorded = async () => (await store.read('webhook-d1')).map((event) => event.type);
  return { posts, startProcess, recorded, store };
}

class Crashed extends Error {}
const crashAt =
  (point: string): CrashPoint =>
  (name) => {
    if (name === point) throw new Crashed(name);
  };

describe('send webhook', () => {
  it('records the start, posts the bytes, records the outcome', async () => {
    const { posts, startProcess, store } = world();
    assert.equal(await startProcess()(delivery, message), 'delivered');
    assert.deepEqual(posts, [{ url: delivery.url, ...message }]);
    const [start, outcome] = await store.read('webhook-d1');
    assert.deepEqual(start?.data, { ...delivery, startedAt: clock.now() });
    assert.equal(outcome?.type, 'WebhookDelivered');
    assert.deepEqual(outcome?.data, { ...ok, duration_ms: 0, finishedAt: clock.now() });
    assert.equal(start?.metadata.appId, delivery.appId);
  });

  for (const answer of [
    { statusCode: 500, error: null, responsePreview: 'no' },
    { statusCode: 302, error: null, responsePreview: '' },
    { statusCode: null, error: 'timeout', responsePreview: null },
  ] as const) {
    it(`never retries after ${answer.statusCode ?? answer.error}`, async () => {
      const { posts, startProcess, recorded } = world({ answer });
      const send = startProcess();
      assert.equal(await send(delivery, message), 'exhausted');
      assert.equal(await send(delivery, message), 'notOurs');
      assert.equal(posts.length, 1);
      assert.deepEqual(await recorded(), ['WebhookSendStarted', 'WebhookExhausted']);
    });
  }

  it('posts once when many workers claim it at the same time', async () => {
    const { posts, startProcess, recorded } = world();
    const workers = Array.from({ length: 20 }, () => startProcess());
    const results = await Promise.all(workers.map((send) => send(delivery, message)));
    assert.deepEqual(results.toSorted(), ['delivered', ...Array(19).fill('notOurs')]);
    assert.equal(posts.length, 1);
    assert.deepEqual(await recorded(), ['WebhookSendStarted', 'WebhookDelivered']);
  });

  describe('after a crash', () => {
    const stayedStarted = ['WebhookSendStarted'];
    const finished = ['WebhookSendStarted', 'WebhookDelivered'];
    const points: readonly [string, { posts: number; recorded: readonly string[] }][] = [
      ['webhook.beforeClaim', { posts: 1, recorded: finished }],
      ['WebhookSendStarted.beforeAppend', { posts: 1, recorded: finished }],
      ['WebhookSendStarted.afterAppend', { posts: 0, recorded: stayedStarted }],
      ['webhook.afterClaim', { posts: 0, recorded: stayedStarted }],
      ['webhook.afterPost', { posts: 1, recorded: stayedStarted }],
      ['WebhookDelivered.beforeAppend', { posts: 1, recorded: stayedStarted }],
      ['WebhookDelivered.afterAppend', { posts: 1, recorded: finished }],
      ['webhook.afterOutcome', { posts: 1, recorded: finished }],
    ];
    for (const [point, expected] of points) {
      it(`at ${point}: ${expected.posts} POST in all, however often it is tried again`, async () => {
        const { posts, startProcess, recorded } = world();
        await assert.rejects(startProcess(crashAt(point))(delivery, message), Crashed);
        for (let run = 0; run < 3; run += 1) await startProcess()(delivery, message);
        assert.equal(posts.length, expected.posts);
        assert.deepEqual(await recorded(), expected.recorded);
      });
    }
  });

  describe('when the store is away', () => {
    const failing = (appends: ReadonlySet<number>) => {
      let append = 0;
      return memoryEventStore({
        at: (point) => {
          if (point !== 'append.before') return;
          append += 1;
          if (appends.has(append)) throw new Unavailable('the store is away');
        },
      });
    };

    it('at the claim: nothing is posted, another run posts', async () => {
      const { posts, startProcess } = world({ store: failing(new Set([1])) });
      await assert.rejects(startProcess()(delivery, message), Unavailable);
      assert.equal(posts.length, 0);
      assert.equal(await startProcess()(delivery, message), 'delivered');
      assert.equal(posts.length, 1);
    });

    it('for a moment at the outcome: it is recorded later', async () => {
      const { posts, startProcess, recorded } = world({ store: failing(new Set([2, 3, 4])) });
      assert.equal(await startProcess()(delivery, message), 'delivered');
      assert.equal(posts.length, 1);
      assert.deepEqual(await recorded(), ['WebhookSendStarted', 'WebhookDelivered']);
    });

    it('for good at the outcome: it gives up and never posts again', async () => {
      const { posts, startProcess, recorded } = world({
        store: failing(new Set([2, 3, 4, 5, 6, 7, 8, 9])),
      });
      await assert.rejects(startProcess()(delivery, message), Unavailable);
      assert.equal(await startProcess()(delivery, message), 'notOurs');
      assert.equal(posts.length, 1);
      assert.deepEqual(await recorded(), ['WebhookSendStarted']);
    });
  });
});
