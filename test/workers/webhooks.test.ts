import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle } from '../../commands/handle.ts';
import { createSendWebhook } from '../../commands/sendWebhook.ts';
import { InvariantBroken, isRefusal } from '../../domain/decider.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { deliveryIdOf, type WebhookEventType } from '../../domain/webhook.ts';
import type { DueWebhook } from '../../queries/work.ts';
import { randomIds, systemClock } from '../../src/process/system.ts';
import { createAddressCheck } from '../../src/security/publicAddress.ts';
import { createWebhookPost } from '../../src/workers/webhooks/webhookPost.ts';
import { createWebhookBodies, createWebhookWorker } from '../../src/workers/webhooks/webhooks.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { attempt, done, terms } from '../support/payments.ts';
import { startTestReceiver, type TestReceiver } from '../support/receiver.ts';

const secret = '5e'.repeat(32);
const { paymentId, appId } = terms();

describe('webhook worker', () => {
  let receiver: TestReceiver;
  before(async () => {
    receiver = await startTestReceiver();
    receiver.setSecrets({ [appId]: secret });
  });

  /** A payment that is already paid out, and a worker that starts its webhooks only now. */
  async function world() {
    const store = memoryEventStore();
    const handle = createHandle({ store, clock: systemClock, ids: randomIds, codec: eventCodec });
    const facts = { cause: 'worker:test', appId } as const;
    const appended = await handle(paymentDecider, paymentId, () => done, facts);
    assert(!isRefusal(appended));
    const events = await store.read(`payment-${paymentId}`);
    const due = (storedType: string, eventType: WebhookEventType): DueWebhook => {
      const event = events.find((candidate) => candidate.type === storedType);
      assert(event);
      const { id: eventId, revision: eventRevision } = event;
      return {
        deliveryId: deliveryIdOf(eventId),
        paymentId,
        appId,
        eventType,
        eventRevision,
        eventId,
        url: receiver.url,
        endpointId: null,
      };
    };
    const post = createWebhookPost({ isAllowed: createAddressCheck(['127.0.0.1/32']), extraCa: [receiver.ca] });
    const bodyOf = createWebhookBodies({ store, codec: eventCodec });
    const send = createSendWebhook({
      handle,
      clock: systemClock,
      ids: randomIds,
      post,
      bodyOf,
      secretOf: async () => secret,
    });
    const worker = createWebhookWorker({ due: async () => [], send, perAppMax: 16, perEndpointMax: 3 });
    const received = (deliveryId: string) =>
      receiver.logged().filter(({ body }) => JSON.parse(body).event_id === deliveryId);
    return { store, worker, due, send, received, events };
  }

  const { signal } = new AbortController();

  it('reports the payin with the payment as it was then: no payout hash, though it is paid out by now', async () => {
    const { worker, due, received, events } = await world();
    const item = due('PaymentFunded', 'payment_payin_completed');
    await worker.act(item, signal);

    const [webhook, ...more] = received(item.deliveryId);
    assert(webhook);
    assert.equal(more.length, 0);
    assert.equal(webhook.valid, true);
    const { data, ...envelope } = JSON.parse(webhook.body);
    assert.deepEqual(envelope, {
      event_id: item.deliveryId,
      type: 'payment_payin_completed',
      timestamp: events[Number(item.eventRevision)]?.metadata.at,
    });
    assert.equal(data.status, 'payment_payin_completed');
    assert.equal(typeof data.source.txHash, 'string');
    assert.equal(data.destination.txHash, null);
    assert.equal(data.destination.confirmedAt, null);
  });

  it('reports the payout with its hash, in the same schema', async () => {
    const { worker, due, received } = await world();
    const [first, second] = [
      due('PaymentFunded', 'payment_payin_completed'),
      due('PayoutConfirmed', 'payment_payout_completed'),
    ];
    await worker.act(first, signal);
    await worker.act(second, signal);
    const [payin, payout] = [first, second].map(
      ({ deliveryId }) => JSON.parse(received(deliveryId)[0]?.body ?? '{}').data,
    );
    assert.equal(payout.status, 'payment_payout_completed');
    assert.equal(payout.destination.txHash, attempt().hash);
    for (const part of ['', 'source', 'destination', 'display']) {
      const keys = (data: Record<string, object>) => Object.keys(part ? (data[part] ?? {}) : data);
      assert.deepEqual(keys(payin), keys(payout));
    }
    for (const internal of ['metadata', 'webhookUrl', 'webhookSecretSource', 'paymentLink', 'merchant']) {
      assert(!(internal in payout), internal);
    }
    assert.equal(payout.webhookSecret, null);
  });

  it('acts on a stale to-do without a second POST', async () => {
    const { worker, due, received } = await world();
    const item = due('PaymentFunded', 'payment_payin_completed');
    await Promise.all([worker.act(item, signal), worker.act(item, signal)]);
    await worker.act(item, signal);
    assert.equal(received(item.deliveryId).length, 1);
  });

  it('is listed once for each sent delivery, however long the list has it', async () => {
    const { worker, due, send } = await world();
    const [first, second] = [
      due('PaymentFunded', 'payment_payin_completed'),
      due('PayoutConfirmed', 'payment_payout_completed'),
    ];
    const listed = createWebhookWorker({ due: async () => [first, second], send, perAppMax: 16, perEndpointMax: 3 });
    const now = systemClock.now();
    await listed.act(first, signal);
    assert.deepEqual(await listed.due(10, now), [second]);
    await assert.rejects(listed.act({ ...second, eventId: 'other' }, signal));
    assert.deepEqual(await listed.due(10, now), [second], 'what failed is tried again');
    assert.deepEqual(await worker.due(10, now), []);
  });

  it('an endpoint that hangs delays neither another endpoint nor the webhook URL of the payment, and has few places', async () => {
    const { worker, due } = await world();
    const own = due('PaymentFunded', 'payment_payin_completed');
    const to = (endpointId: string | null) => ({ ...own, endpointId });
    const all = [to(null), to('one'), to('two')];
    assert.equal(new Set(all.map(worker.keyOf)).size, 3, 'one action per receiver');
    assert.equal(new Set(all.map((item) => worker.share?.of(item))).size, 3);
    assert.deepEqual(
      all.map((item) => worker.share?.max(item)),
      [16, 3, 3],
    );
  });

  it('claims nothing while the event is not where the to-do states', async () => {
    const { store, worker, due } = await world();
    const item = due('PaymentFunded', 'payment_payin_completed');
    for (const wrong of [
      { eventId: 'other' },
      { eventRevision: item.eventRevision + 1n },
      { eventRevision: 10_000n },
    ]) {
      await assert.rejects(Promise.resolve(worker.act({ ...item, ...wrong }, signal)), InvariantBroken);
    }
    assert.deepEqual(await store.read(`webhook-${item.deliveryId}`), []);
  });
});
