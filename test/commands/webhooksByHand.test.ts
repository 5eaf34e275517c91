/** Redeliveries and tests: processes that start and end over one store, and a receiver that counts. */
import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle } from '../../commands/handle.ts';
import type { CrashPoint } from '../../commands/ports.ts';
import {
  createRedeliver,
  createSendTest,
  createSendWebhook,
  redeliveryIdOf,
  type WebhookMessage,
} from '../../commands/sendWebhook.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { MerchantEvent } from '../../domain/merchant/events.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { instant } from '../../domain/time.ts';
import { redeliveriesMax, underWay_ms } from '../../domain/webhook.ts';
import { randomIds } from '../../src/process/system.ts';
import { deliveryStart } from '../support/deliveries.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';

const { startedAt: _, ...first } = deliveryStart();
const { appId, deliveryId } = first;
const by = { cause: 'operator:ann' } as const;

function world(...answers: readonly number[]) {
  const store = memoryEventStore();
  const posts: WebhookMessage[] = [];
  let now_ms = 1_000;
  const clock = { now: () => instant(now_ms), sleep: async () => {} };
  const startProcess = (crash: CrashPoint = () => {}) => {
    const handle = createHandle({ store, clock, ids: randomIds, codec: eventCodec, crash });
    const send = createSendWebhook({
      handle,
      clock,
      ids: randomIds,
      crash,
      async post(message) {
        posts.push(message);
        return { statusCode: answers[posts.length - 1] ?? 500, error: null, responsePreview: '', sent: true };
      },
      bodyOf: async ({ deliveryId: event_id }) => Buffer.from(JSON.stringify({ event_id })),
      secretOf: async () => '5e'.repeat(32),
    });
    const deps = { handle, clock, send, ids: randomIds };
    return { handle, send, redeliver: createRedeliver(deps), sendTest: createSendTest(deps) };
  };
  return {
    store,
    posts,
    startProcess,
    pass: (duration_ms: number) => {
      now_ms += duration_ms;
    },
    typesOf: async (id: string) => (await store.read(`webhook-${id}`)).map(({ type }) => type),
  };
}

const endpointId = '4b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2';
const booksUrl = 'https://books.example/hooks';
const withEndpoint: readonly MerchantEvent[] = [
  {
    type: 'MerchantRegistered',
    data: { appId, developerId: null, idSalt: 'a'.repeat(64), registeredAt: instant(0) },
  },
  {
    type: 'WebhookEndpointAdded',
    data: {
      ...{ endpointId, url: booksUrl, types: [first.eventType] },
      ...{ ciphertext: 'v1.sealed', fingerprint: `sha256:${'a'.repeat(64)}`, rotatedAt: instant(0) },
    },
  },
];

class Crashed extends Error {}
const crashAt =
  (point: string): CrashPoint =>
  (name) => {
    if (name === point) throw new Crashed(name);
  };

const refusedWith = (answer: unknown) => (isRefusal(answer) ? answer.refused : answer);

describe('a redelivery', () => {
  const id = redeliveryIdOf(deliveryId, 1);

  it('goes to the same endpoint, and is refused once the endpoint is removed', async () => {
    const { startProcess, posts, store } = world(500, 500);
    const { handle, send, redeliver } = startProcess();
    const facts = { ...by, appId };
    await handle(merchant, appId, () => [...withEndpoint], facts);
    await send({ ...first, endpointId }, by);
    assert.deepEqual(await redeliver(appId, deliveryId, by), { deliveryId: id, sentNow: true });
    assert.partialDeepStrictEqual((await store.read(`webhook-${id}`))[0]?.data, { endpointId });
    const removed: MerchantEvent = { type: 'WebhookEndpointRemoved', data: { endpointId } };
    await handle(merchant, appId, () => [removed], facts);
    assert.equal(refusedWith(await redeliver(appId, id, by)), 'deliveryNotRedeliverable');
    assert.equal(posts.length, 2);
  });

  it('is a delivery of its own, to the first one’s URL, and names that one', async () => {
    const { posts, startProcess, store } = world(500, 200);
    const { send, redeliver } = startProcess();
    await send(first, { cause: 'worker:webhooks' });
    assert.deepEqual(await redeliver(appId, deliveryId, by), { deliveryId: id, sentNow: true });
    assert.equal(posts[1]?.url, first.url);
    assert.equal(posts[1]?.headers['X-Service-First-Delivery'], deliveryId);
    assert.equal(posts[1]?.headers['webhook-id'], id);
    assert.equal(String(posts[1]?.body), JSON.stringify({ event_id: id }));
    assert.equal('X-Service-First-Delivery' in (posts[0]?.headers ?? {}), false);
    const [start] = await store.read(`webhook-${id}`);
    assert.equal(start?.metadata.cause, by.cause);
    assert.partialDeepStrictEqual(start?.data, { kind: 'manual', firstDeliveryId: deliveryId, ordinal: 1 });
  });

  it('is one, however often and wherever it is requested', async () => {
    const { posts, startProcess } = world();
    await startProcess().send(first, by);
    const asked = await Promise.all(Array.from({ length: 10 }, () => startProcess().redeliver(appId, deliveryId, by)));
    asked.push(await startProcess().redeliver(appId, deliveryId, by));
    assert.equal(posts.length, 2);
    assert.deepEqual(new Set(asked.map((answer) => !isRefusal(answer) && answer.deliveryId)), new Set([id]));
    assert.equal(asked.filter((answer) => !isRefusal(answer) && answer.sentNow).length, 1);
  });

  it('may be redelivered itself, until the bound', async () => {
    const { posts, startProcess } = world();
    const { send, redeliver } = startProcess();
    await send(first, by);
    let last = deliveryId;
    for (let ordinal = 1; ordinal <= redeliveriesMax; ordinal += 1) {
      assert.deepEqual(await redeliver(appId, last, by), {
        deliveryId: redeliveryIdOf(deliveryId, ordinal),
        sentNow: true,
      });
      last = redeliveryIdOf(deliveryId, ordinal);
    }
    assert.equal(refusedWith(await redeliver(appId, last, by)), 'deliveryNotRedeliverable');
    assert.equal(posts.length, 1 + redeliveriesMax);
    assert.equal(new Set(posts.map(({ headers }) => headers['webhook-id'])).size, posts.length);
  });

  it('is refused for a delivery that was accepted, is another app’s, or does not exist', async () => {
    const { posts, startProcess } = world(200);
    const { send, redeliver } = startProcess();
    await send(first, by);
    assert.equal(refusedWith(await redeliver(appId, deliveryId, by)), 'deliveryNotRedeliverable');
    assert.equal(refusedWith(await redeliver('merchant_other', deliveryId, by)), 'deliveryNotFound');
    assert.equal(refusedWith(await redeliver(appId, redeliveryIdOf(deliveryId, 7), by)), 'deliveryNotFound');
    assert.equal(posts.length, 1);
  });

  it('waits, if the process of the delivery ended in the middle, until nothing can be in flight', async () => {
    const { posts, startProcess, pass } = world();
    await assert.rejects(startProcess(crashAt('webhook.afterPost')).send(first, by), Crashed);
    assert.equal(refusedWith(await startProcess().redeliver(appId, deliveryId, by)), 'deliveryNotRedeliverable');
    pass(underWay_ms);
    assert.deepEqual(await startProcess().redeliver(appId, deliveryId, by), { deliveryId: id, sentNow: true });
    assert.equal(posts.length, 2);
  });

  for (const [point, postsInAll] of [
    ['webhook.beforeClaim', 2],
    ['webhook.afterClaim', 1],
    ['webhook.afterPost', 2],
    ['webhook.afterOutcome', 2],
  ] as const) {
    it(`after a crash at ${point}: ${postsInAll - 1} POST of it, however often it is requested`, async () => {
      const { posts, startProcess } = world();
      await startProcess().send(first, by);
      await assert.rejects(Promise.resolve(startProcess(crashAt(point)).redeliver(appId, deliveryId, by)), Crashed);
      for (let run = 0; run < 3; run += 1) await startProcess().redeliver(appId, deliveryId, by);
      assert.equal(posts.length, postsInAll);
    });
  }
});

describe('a test webhook', () => {
  const registered = async ({ startProcess }: ReturnType<typeof world>, url: string | null) => {
    const { handle } = startProcess();
    await handle(merchant, appId, () => [{ type: 'WebhookUrlSet' as const, data: { url } }], { ...by, appId });
  };

  it('goes to the URL in force, as a delivery of its own each time', async () => {
    const here = world(200, 500);
    await registered(here, 'https://bakery.example/new');
    const sent = [await here.startProcess().sendTest(appId, by), await here.startProcess().sendTest(appId, by)];
    assert.deepEqual(
      here.posts.map(({ url }) => url),
      ['https://bakery.example/new', 'https://bakery.example/new'],
    );
    const ids = sent.map((each) => (isRefusal(each) ? assert.fail(each.message) : each.deliveryId));
    assert.equal(new Set(ids).size, 2);
    assert.deepEqual(await here.typesOf(ids[1] ?? ''), ['WebhookSendStarted', 'WebhookExhausted']);
    const [start] = await here.store.read(`webhook-${ids[0]}`);
    assert.partialDeepStrictEqual(start?.data, { kind: 'test', eventType: 'webhook_test', paymentId: null });
  });

  it('needs a URL', async () => {
    const here = world();
    await registered(here, null);
    assert.equal(refusedWith(await here.startProcess().sendTest(appId, by)), 'webhookUrlMissing');
    assert.equal(here.posts.length, 0);
  });

  it('goes to a further endpoint without a webhook URL, until the endpoint is removed', async () => {
    const here = world(200);
    const { handle, sendTest } = here.startProcess();
    await handle(merchant, appId, () => [...withEndpoint], { ...by, appId });
    const sent = await sendTest(appId, by, endpointId);
    assert.ok(!isRefusal(sent));
    assert.deepEqual(
      here.posts.map(({ url }) => url),
      [booksUrl],
    );
    const [start] = await here.store.read(`webhook-${sent.deliveryId}`);
    assert.partialDeepStrictEqual(start?.data, { kind: 'test', eventType: 'webhook_test', endpointId });
    const removed: MerchantEvent = { type: 'WebhookEndpointRemoved', data: { endpointId } };
    await handle(merchant, appId, () => [removed], { ...by, appId });
    assert.equal(refusedWith(await sendTest(appId, by, endpointId)), 'notFound');
    assert.equal(here.posts.length, 1);
  });

  it('reaches no endpoint of another app', async () => {
    const here = world(200);
    const { handle, sendTest } = here.startProcess();
    await handle(merchant, appId, () => [...withEndpoint], { ...by, appId });
    await registered(here, 'https://bakery.example/new');
    assert.equal(refusedWith(await sendTest('merchant_other', by, endpointId)), 'notFound');
    assert.equal(here.posts.length, 0);
  });

  it('is not redelivered', async () => {
    const here = world(500);
    await registered(here, 'https://bakery.example/new');
    const sent = await here.startProcess().sendTest(appId, by);
    assert.ok(!isRefusal(sent));
    const again = await here.startProcess().redeliver(appId, sent.deliveryId, by);
    assert.equal(refusedWith(again), 'deliveryNotRedeliverable');
  });
});
