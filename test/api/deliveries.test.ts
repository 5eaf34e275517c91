/** Webhook deliveries over HTTP, on the real commands and the log: the page shows the bytes that a receiver got. */
import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { createRoleCheck, currentState, type RoleCheck } from '../../commands/handle.ts';
import { createSendWebhook, type SendWebhook, type WebhookMessage } from '../../commands/sendWebhook.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { MerchantEvent } from '../../domain/merchant/events.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { minute_ms } from '../../domain/time.ts';
import { deliveryIdOf, sentByItself, startSend, webhook } from '../../domain/webhook.ts';
import { verifyWebhook } from '../../sandbox/verifyWebhook.ts';
import { type Rates, unlimited } from '../../src/api/rateLimits.ts';
import { randomIds } from '../../src/process/system.ts';
import { webhooksOf } from '../../src/workers/webhooks/index.ts';
import { createWebhookBodies } from '../../src/workers/webhooks/webhooks.ts';
import { deliveryStart } from '../support/deliveries.ts';
import { append, createWorld, type World as Log } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { Jar } from './desk.ts';
import { startWorld, type World } from './world.ts';

const appId = 'wallet_demo';
const url = 'https://shop.example/hooks';
const secret = '5e'.repeat(32);
const base = '/merchant-api/me/webhook';
const { paymentId } = p.terms();
const by = { cause: 'worker:webhooks' } as const;

interface Given {
  readonly world: World;
  readonly log: Log;
  readonly posts: WebhookMessage[];
  /** Status codes that the receiver answers in turn; then 500. */
  readonly answers: number[];
  readonly send: SendWebhook;
  /** Id of the delivery of the payment's own webhook. */
  readonly deliveryId: string;
}

async function given(answers: number[], rates: Rates = unlimited): Promise<Given> {
  const log = createWorld();
  const { store, handle, clock } = log;
  const posts: WebhookMessage[] = [];
  const send = createSendWebhook({
    handle,
    clock,
    ids: randomIds,
    async post(message) {
      posts.push(message);
      return { statusCode: answers.shift() ?? 500, error: null, responsePreview: 'said', sent: true };
    },
    bodyOf: createWebhookBodies({ store, codec: eventCodec }),
    secretOf: async () => secret,
  });
  // The world's log has the team.
  const roleCheck: RoleCheck = (app, who, action) => createRoleCheck(world.people.handle)(app, who, action);
  const reads = { query: async () => [] };
  const webhooks = webhooksOf({ handle, clock, store, reads, send, rates, roleCheck });
  await append(log, `payment-${paymentId}`, p.done);
  await handle(merchant, appId, () => [{ type: 'WebhookUrlSet' as const, data: { url } }], { ...by, appId });
  const [, told] = (await store.read(`payment-${paymentId}`)).filter(
    ({ type }) => type === 'PaymentFunded' || type === 'PayoutConfirmed',
  );
  assert.ok(told);
  const delivery = {
    deliveryId: deliveryIdOf(told.id),
    ...sentByItself,
    ...{ paymentId, appId, url },
    eventType: 'payment_payout_completed' as const,
    eventId: told.id,
    eventRevision: told.revision.toString(),
  };
  await send(delivery, by);
  const world: World = await startWorld(webhooks);
  return { world, log, posts, answers, send, deliveryId: delivery.deliveryId };
}

const verdictOf = (headers: Readonly<Record<string, string>>, body: string) =>
  verifyWebhook(
    { timestamp: headers['X-Service-Timestamp'], signature: headers['X-Service-Signature'] },
    Buffer.from(body),
    [secret],
    Number(headers['X-Service-Timestamp']),
  );

describe('HTTP: webhook deliveries', () => {
  let here: Given;
  const begin = async (...answers: number[]) => {
    here = await given(answers);
  };
  afterEach(() => here.world.stop());

  const get = (id = here.deliveryId, headers = here.world.keys.walletAdmin) =>
    here.world.call('GET', `${base}/deliveries/${id}`, { headers });
  const redeliver = (
    body: unknown = { acknowledged: true },
    id = here.deliveryId,
    headers = here.world.owners.wallet,
  ) => here.world.call('POST', `${base}/deliveries/${id}/redeliver`, { headers, body });
  const test = (headers = here.world.owners.wallet) => here.world.call('POST', `${base}/test`, { headers });

  describe('one delivery', () => {
    it('is shown with the request as it was sent: a receiver with the secret accepts it', async () => {
      await begin(200);
      const { body } = await get();
      const [sent] = here.posts;
      assert.ok(sent);
      assert.deepEqual(body.request, {
        url,
        headers: sent.headers,
        body: Buffer.from(sent.body).toString(),
        isBodyAsSent: true,
      });
      assert.equal(verdictOf(body.request.headers, body.request.body), 'valid');
      const { status, statusCode, responsePreview, attemptNumber, kind, error, redeliverable } = body;
      assert.deepEqual(
        { status, statusCode, responsePreview, attemptNumber, kind, error, redeliverable },
        {
          status: 'delivered',
          statusCode: 200,
          responsePreview: 'said',
          attemptNumber: 1,
          kind: 'automatic',
          error: null,
          redeliverable: false,
        },
      );
      assert.ok(!JSON.stringify(body).includes(secret));
    });

    it('is found by an id in capitals, and by its signed-in owner', async () => {
      await begin(200);
      assert.equal((await get(here.deliveryId.toUpperCase())).status, 200);
      assert.equal((await get(here.deliveryId, here.world.owners.wallet)).status, 200);
    });

    it('shows no request if the sent bytes are unknown', async () => {
      await begin(200);
      const start = deliveryStart({ appId });
      await here.log.handle(webhook, start.deliveryId, (state) => startSend(state, start), { ...by, appId });
      const { body } = await get(start.deliveryId);
      assert.partialDeepStrictEqual(body, { request: null, status: 'exhausted', error: 'unknown', deliveredAt: null });
    });

    it('has no request if it is from an older version; its body is not reconstructed', async () => {
      await begin(200);
      const { kind: _k, firstDeliveryId: _f, ordinal: _o, ...start } = deliveryStart({ appId });
      const outcome = {
        statusCode: 500,
        error: null,
        responsePreview: '',
        duration_ms: 3,
        finishedAt: start.startedAt,
      };
      const events = [
        { type: 'WebhookSendStarted', data: start },
        { type: 'WebhookExhausted', data: outcome },
      ];
      await append(here.log, `webhook-${start.deliveryId}`, events, 1);
      assert.partialDeepStrictEqual((await get(start.deliveryId)).body, { request: null, kind: 'automatic' });
    });

    it('states that its body is not the sent one', async () => {
      await begin(200);
      const start = deliveryStart({ appId, kind: 'test', paymentId: null, eventId: null, eventRevision: null });
      const elsewhere = createSendWebhook({
        ...here.log,
        ids: randomIds,
        post: async () => ({ statusCode: 500, error: null, responsePreview: '', sent: true }),
        bodyOf: async () => Buffer.from('{"of":"another version"}'),
        secretOf: async () => secret,
      });
      await elsewhere(start, by);
      assert.equal((await get(start.deliveryId)).body.request.isBodyAsSent, false);
    });

    for (const id of ['0198f3c2-0000-8000-8000-000000000999', 'none', '%00', 'a'.repeat(2_000)]) {
      it(`answers 404 to an id without a delivery: ${id.slice(0, 40)}`, async () => {
        await begin(200);
        for (const answer of [await get(id), await redeliver({ acknowledged: true }, id)]) {
          assert.deepEqual([answer.status, answer.body.error], [404, 'deliveryNotFound']);
        }
      });
    }
  });

  describe('a redelivery', () => {
    it('is refused until the owner has acknowledged that the receiver may get it twice', async () => {
      await begin(500);
      for (const body of [{}, { acknowledged: false }, { acknowledged: 'true' }, { acknowledged: null }]) {
        const answer = await redeliver(body);
        assert.deepEqual([answer.status, answer.body.errors[0].pointer], [400, '/acknowledged'], JSON.stringify(body));
      }
      assert.equal(here.posts.length, 1);
    });

    it('sends the same payment under another event_id, and both deliveries show it', async () => {
      await begin(500, 200);
      const { status, body } = await redeliver();
      assert.equal(status, 200);
      assert.partialDeepStrictEqual(body, {
        kind: 'manual',
        firstDeliveryId: here.deliveryId,
        paymentId,
        status: 'delivered',
        url,
      });
      const [first, second] = here.posts.map((post) => JSON.parse(String(post.body)));
      assert.deepEqual(second, { ...first, event_id: body.deliveryId });
      assert.equal(here.posts[1]?.headers['X-Service-First-Delivery'], here.deliveryId);
      assert.equal(verdictOf(body.request.headers, body.request.body), 'valid');

      const former = (await get()).body;
      assert.deepEqual(
        former.redeliveries.map(({ deliveryId }: { deliveryId: string }) => deliveryId),
        [body.deliveryId],
      );
      assert.deepEqual([former.status, former.redeliverable], ['exhausted', false]);
    });

    it('is sent once although it is requested twice', async () => {
      await begin(500, 500);
      const [one, other] = await Promise.all([redeliver(), redeliver()]);
      assert.deepEqual([one.status, other.status], [200, 200]);
      assert.equal(one.body.deliveryId, other.body.deliveryId);
      const replayed = [one, other].map(({ headers }) => headers['idempotent-replayed']);
      assert.deepEqual(replayed.toSorted(), ['true', undefined]);
      assert.equal((await redeliver()).headers['idempotent-replayed'], 'true');
      assert.equal(here.posts.length, 2);
    });

    it('is only possible for exhausted deliveries', async () => {
      await begin(204);
      const { status, body } = await redeliver();
      assert.deepEqual([status, body.error], [409, 'deliveryNotRedeliverable']);
      assert.equal(here.posts.length, 1);
    });

    it('has no button for a removed endpoint, and its page states the reason', async () => {
      await begin(200);
      const endpointId = '4b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2';
      const endpoint = {
        ...{ endpointId, url: 'https://books.example/', types: ['payment_held'] },
        ...{ ciphertext: 'v1.sealed', fingerprint: `sha256:${'a'.repeat(64)}`, rotatedAt: here.log.clock.now() },
      };
      const happen = async (type: 'WebhookEndpointAdded' | 'WebhookEndpointRemoved', data: object) =>
        here.log.handle(merchant, appId, () => [{ type, data } as MerchantEvent], { ...by, appId });
      await happen('WebhookEndpointAdded', endpoint);
      const own = await currentState(here.log.handle, webhook, here.deliveryId);
      assert.ok(own.stage !== 'new');
      const { startedAt: _, ...same } = own.start;
      const first = {
        ...same,
        ...{ endpointId, url: endpoint.url },
        deliveryId: '7c0a1f36-77c2-8b1e-9a44-2f6f0c9b8e10',
      };
      await here.send(first, by);
      assert.equal((await get(first.deliveryId)).body.redeliverable, true);

      await happen('WebhookEndpointRemoved', { endpointId });
      assert.equal((await get(first.deliveryId)).body.redeliverable, false);
      const ann = new Jar(here.world.url);
      ann.cookies.set('__Host-session', 'ann.session.token');
      const { status, text } = await ann.get(`/dashboard/apps/${appId}/webhooks/${first.deliveryId}`);
      assert.equal(status, 200);
      assert.match(text, /The endpoint was removed, so this webhook cannot be sent again/);
      assert.doesNotMatch(text, /name="acknowledged"/);
    });

    it('is only possible for the owner: no key may request it', async () => {
      await begin(500);
      const { wallet, walletAdmin, otherAdmin } = here.world.keys;
      for (const key of [wallet, walletAdmin, otherAdmin, {}]) {
        assert.equal((await redeliver({ acknowledged: true }, here.deliveryId, key)).status, 401);
      }
      assert.equal((await redeliver({ acknowledged: true }, here.deliveryId, here.world.owners.other)).status, 404);
      assert.equal(here.posts.length, 1);
    });
  });

  describe('a test', () => {
    it('sends a whole fictitious payment, in the schema of every webhook', async () => {
      await begin(200, 200);
      const { status, body } = await test();
      assert.equal(status, 200);
      assert.partialDeepStrictEqual(body, {
        kind: 'test',
        eventType: 'webhook_test',
        paymentId: null,
        status: 'delivered',
      });
      const [real, sent] = here.posts.map((post) => JSON.parse(String(post.body)));
      assert.partialDeepStrictEqual(sent, { event_id: body.deliveryId, type: 'webhook_test', data: { appId } });
      for (const part of ['source', 'destination', 'display']) {
        assert.deepEqual(Object.keys(sent.data[part]), Object.keys(real.data[part]));
      }
      assert.deepEqual(Object.keys(sent.data), Object.keys(real.data));
      assert.equal(body.request.isBodyAsSent, true);
      assert.equal(verdictOf(body.request.headers, body.request.body), 'valid');
      here.log.clock.advance(minute_ms);
      assert.equal((await get(body.deliveryId)).body.request.isBodyAsSent, true, 'however much later it is shown');
    });

    it('shows a receiver that does not accept it', async () => {
      await begin(200, 404);
      assert.partialDeepStrictEqual((await test()).body, {
        status: 'exhausted',
        statusCode: 404,
        redeliverable: false,
      });
    });

    it('goes to a further endpoint, which the answer and the page of the delivery name', async () => {
      await begin(200, 404);
      const endpointId = '4b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2';
      const toBooks = (headers = here.world.owners.wallet) =>
        here.world.call('POST', `${base}/endpoints/${endpointId}/test`, { headers });
      const missing = await toBooks();
      assert.deepEqual([missing.status, missing.body.error], [404, 'notFound']);
      const endpoint = {
        ...{ endpointId, url: 'https://books.example/', types: ['payment_held'] },
        ...{ ciphertext: 'v1.sealed', fingerprint: `sha256:${'a'.repeat(64)}`, rotatedAt: here.log.clock.now() },
      };
      const added = { type: 'WebhookEndpointAdded' as const, data: endpoint };
      await here.log.handle(merchant, appId, () => [added], { ...by, appId });
      const { status, body } = await toBooks();
      assert.equal(status, 200);
      assert.partialDeepStrictEqual(body, { kind: 'test', endpointId, url: endpoint.url, statusCode: 404 });
      assert.equal(here.posts.at(-1)?.url, endpoint.url);
      assert.equal((await get(body.deliveryId)).body.endpointId, endpointId);
      for (const key of [here.world.keys.walletAdmin, {}]) assert.equal((await toBooks(key)).status, 401);
      assert.equal((await toBooks(here.world.owners.other)).status, 404);
      assert.equal(here.posts.length, 2);
    });

    it('is only possible for the owner, and needs a URL', async () => {
      await begin(200);
      for (const key of [here.world.keys.wallet, here.world.keys.walletAdmin, {}]) {
        assert.equal((await test(key)).status, 401);
      }
      const other = await test(here.world.owners.other);
      assert.deepEqual([other.status, other.body.error], [409, 'webhookUrlMissing']);
      assert.equal(here.posts.length, 1);
    });
  });

  it('are bounded by the minute: beyond it nothing is sent', async () => {
    const counts = new Map<string, number>();
    const rates: Rates = {
      async count(name, who) {
        const seen = (counts.get(`${name} ${who}`) ?? 0) + 1;
        counts.set(`${name} ${who}`, seen);
        if (name !== 'redelivery' && name !== 'webhookTest') return null;
        return {
          name,
          requestsMax: 2,
          window_s: 60,
          allowed: seen <= 2,
          remaining: Math.max(0, 2 - seen),
          reset_s: 30,
        };
      },
    };
    here = await given([500], rates);
    for (const ask of [() => test(), () => redeliver()]) {
      const before = here.posts.length;
      const statuses = [(await ask()).status, (await ask()).status, (await ask()).status];
      assert.deepEqual(statuses, [200, 200, 429]);
      assert.ok(here.posts.length <= before + 2);
    }
    assert.deepEqual(counts.get(`redelivery ${appId}`), 3);
  });

  it('keep the app’s URL of their payment, whatever the URL is now', async () => {
    await begin(500, 200, 200);
    const moved = 'https://shop.example/moved';
    const { handle } = here.log;
    const facts = { ...by, appId };
    assert.ok(
      !isRefusal(
        await handle(merchant, appId, () => [{ type: 'WebhookUrlSet' as const, data: { url: moved } }], facts),
      ),
    );
    assert.equal((await redeliver()).body.url, url);
    assert.equal((await test()).body.url, moved);
    assert.deepEqual(
      here.posts.map((post) => post.url),
      [url, url, moved],
    );
  });
});
