/** Two processes, each with a connection of its own to the real event store, reach for the same thing at the same moment. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createSendWebhook } from '../../commands/sendWebhook.ts';
import { outstandingMax } from '../../domain/treasury.ts';
import { type OpenEventStore, openEventStore } from '../../src/eventstore/client.ts';
import { deliveryStart } from '../support/deliveries.ts';
import { sharedEventStore } from '../support/eventstore.ts';
import { processes } from '../support/processes.ts';
import { signingWorld, treasuryStream } from './signing.ts';

/** Fewer than may be under way from one account. */
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
      let posts = 0;
      const post = async () => {
        posts += 1;
        return { statusCode: 200, error: null, responsePreview: 'ok', sent: true };
      };
      const outcomes = await Promise.all(
        [one, other].map((store) => {
          const { start, clock } = processes({ store: store() });
          const making = { bodyOf: async () => Buffer.from('{}'), secretOf: async () => '5e'.repeat(32) };
          const send = createSendWebhook({ handle: start(), clock, post, ...making });
          return send({ ...delivery, deliveryId }, { cause: 'worker:test' });
        }),
      );
      assert.deepEqual(outcomes.toSorted(), ['delivered', 'notOurs']);
      assert.equal(posts, 1);
      const told = (await one().read(`webhook-${deliveryId}`)).map(({ type }) => type);
      assert.deepEqual(told, ['WebhookSendStarted', 'WebhookDelivered']);
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

type StoreOf = () => OpenEventStore;

const { startedAt: _, ...delivery } = deliveryStart();
