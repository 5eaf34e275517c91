/** Two processes, each with a separate connection to the real event store, claim the same item at the same moment. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createRedeliver, createSendWebhook } from '../../commands/sendWebhook.ts';
import { isRefusal } from '../../domain/decider.ts';
import { outstandingMax } from '../../domain/treasury/state.ts';
import { randomIds } from '../../src/process/system.ts';
import { type OpenEventStore, openEventStore } from '../../src/store/client.ts';
import { deliveryStart } from '../support/deliveries.ts';
import { sharedEventStore } from '../support/eventstore.ts';
import { processes } from '../support/processes.ts';
import { signingWorld, treasuryStream } from '../workers/payouts/signing.ts';

/** Below the maximum of outstanding transfers of one account. */
const rounds = outstandingMax - 1;

describe('two processes on one event store', () => {
  let stores: readonly OpenEventStore[];
  before(async () => {
    const { url } = await sharedEventStore();
    stores = [openEventStore({ url }), openEventStore({ url })];
  });
  after(() => Promise.all(stores.map((store) => store.close())));

  const [one, other] = [0, 1].map((which) => () => stores[which] as OpenEventStore) as [StoreOf, StoreOf];

  it('claim one delivery: one POST', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const deliveryId = randomUUID();
      const receiver = countingReceiver(200);
      const outcomes = await Promise.all(
        [one, other].map((store) =>
          receiver.sender(store()).send({ ...delivery, deliveryId }, { cause: 'worker:test' }),
        ),
      );
      assert.deepEqual(outcomes.toSorted(), ['delivered', 'notOurs']);
      assert.equal(receiver.posts(), 1);
      const told = (await one().read(`webhook-${deliveryId}`)).map(({ type }) => type);
      assert.deepEqual(told, ['WebhookSendStarted', 'WebhookDelivered']);
    }
  });

  it('redeliver one delivery: one POST', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const deliveryId = randomUUID();
      const receiver = countingReceiver(500);
      await receiver.sender(one()).send({ ...delivery, deliveryId }, { cause: 'worker:test' });
      const answers = await Promise.all(
        [one(), other(), one(), other()].map((store) => {
          const redeliver = createRedeliver(receiver.sender(store));
          return redeliver(delivery.appId, deliveryId, { cause: 'operator:ann' });
        }),
      );
      assert.equal(receiver.posts(), 2);
      assert.equal(answers.filter((answer) => !isRefusal(answer) && answer.sentNow).length, 1);
    }
  });

  it('sign one payout: one signed attempt under one nonce; two payouts: a nonce each', async () => {
    const payments = Array.from({ length: rounds }, () => randomUUID());
    const world = await signingWorld({ store: one(), payments });
    const there = processes({ store: other() });
    for (const paymentId of payments) {
      await Promise.all([world.start(), there.start()].map((handle) => world.sign({ paymentId, handle })));
      const signed = (await world.typesIn(`payment-${paymentId}`)).filter((type) => type === 'PayoutSigned');
      assert.equal(signed.length, 1);
    }
    const assigned = (await other().read(treasuryStream)).filter(({ type }) => type === 'NonceAssigned');
    const nonces = assigned.map(({ data }) => (data as { nonce: string }).nonce);
    assert.equal(new Set(nonces).size, nonces.length);
    assert.deepEqual(
      assigned.map(({ data }) => (data as { purpose: { reference: string } }).purpose.reference),
      payments,
    );
  });
});

/** A receiver of the webhooks of all processes. */
function countingReceiver(statusCode: number) {
  let posts = 0;
  const post = async () => {
    posts += 1;
    return { statusCode, error: null, responsePreview: 'said', sent: true };
  };
  const making = { post, bodyOf: async () => Buffer.from('{}'), secretOf: async () => '5e'.repeat(32) };
  return {
    posts: () => posts,
    sender(store: OpenEventStore) {
      const { start, clock } = processes({ store });
      const handle = start();
      return { handle, clock, ids: randomIds, send: createSendWebhook({ handle, clock, ids: randomIds, ...making }) };
    },
  };
}

type StoreOf = () => OpenEventStore;

const { startedAt: _, ...delivery } = deliveryStart();
