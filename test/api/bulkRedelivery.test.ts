/** Redelivery of many webhooks from one page: only the owner's webhooks, only those of the page, within bounds. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Delivery } from '../../queries/deliveries.ts';
import { rateLimited } from '../../src/api/rateLimits.ts';
import type { DeliveryRoutesDeps } from '../../src/api/routes/deliveries.ts';
import { Jar } from './desk.ts';
import { sampleDelivery } from './samples.ts';
import { startTwoApps } from './twoApps.ts';
import { startWorld, type World } from './world.ts';

const page = '/dashboard/apps/wallet_demo/webhooks/again';
const { request: _, redeliveries: __, redeliverable: ___, ...listed } = sampleDelivery;

describe('HTTP: redelivery of many webhooks', () => {
  let world: World;
  let ann: Jar;
  let sent: string[];
  let answer: (deliveryId: string) => void;
  const deliveries: readonly Delivery[] = Array.from({ length: 30 }, () => ({ ...listed, deliveryId: randomUUID() }));
  const ids = deliveries.map(({ deliveryId }) => deliveryId);
  before(async () => {
    const webhooks: DeliveryRoutesDeps = {
      listDeliveries: async (_app, { limit, status }) => ({
        deliveries: status === 'exhausted' ? deliveries.slice(0, limit) : [],
        nextCursor: null,
      }),
      getDelivery: async (_app, deliveryId) => ({
        ...sampleDelivery,
        deliveryId,
        redeliverable: !sent.includes(deliveryId) && deliveryId !== ids[0],
      }),
      async redeliver(_app, deliveryId) {
        answer(deliveryId);
        sent.push(deliveryId);
        return { delivery: { ...sampleDelivery, deliveryId }, sentNow: true };
      },
      sendTest: async () => sampleDelivery,
    };
    world = await startWorld(webhooks);
    ann = new Jar(world.url);
    ann.cookies.set('__Host-session', 'ann.session.token');
  });
  beforeEach(() => {
    sent = [];
    answer = () => {};
  });
  after(() => world.stop());

  const post = (chosen: readonly string[], more: Record<string, string> = { acknowledged: 'true' }) =>
    ann.post(page, { deliveries: chosen.join(','), ...more });

  it('shows at most 20, without those that cannot be redelivered, and sends exactly these', async () => {
    const { text } = await ann.get(page);
    const [, hidden = ''] = /name="deliveries" value="([^"]+)"/.exec(text) ?? [];
    assert.deepEqual(hidden.split(','), ids.slice(1, 21));
    const done = await post(hidden.split(','));
    assert.deepEqual([done.status, done.to], [303, '/dashboard/apps/wallet_demo/webhooks']);
    assert.deepEqual(sent.toSorted(), ids.slice(1, 21).toSorted());
    assert.match((await ann.get(done.to ?? '')).text, /They were sent again/);
  });

  it('sends nothing without the tick, nothing of a malformed list, and no more than 20', async () => {
    for (const refused of [
      await post([ids[1] ?? ''], {}),
      await post(['all']),
      await post(ids.slice(0, 21)),
      await post(['']),
    ])
      assert.equal(refused.status, 400);
    assert.deepEqual(sent, []);
  });

  it('stops at the rate limit of the app, and states that some are left', async () => {
    answer = () => {
      if (sent.length >= 3) throw rateLimited('too many redeliveries of this app', 60);
    };
    const done = await post(ids.slice(1, 11));
    assert.equal(sent.length, 3);
    assert.match((await ann.get(done.to ?? '')).text, /Not all were sent again/);
  });

  it('starts no further one after 15 seconds', async () => {
    answer = () => world.clock.advance(9_000);
    const done = await post(ids.slice(1, 21));
    assert.ok(sent.length < 10, String(sent.length));
    assert.match((await ann.get(done.to ?? '')).text, /Not all were sent again/);
  });
});

describe('HTTP: many webhooks of another owner', () => {
  it('are not redelivered by a request that names their ids', async () => {
    const { world, theirs } = await startTwoApps();
    try {
      const ann = new Jar(world.url);
      ann.cookies.set('__Host-session', 'ann.session.token');
      const done = await ann.post(page, { acknowledged: 'true', deliveries: theirs.deliveryId });
      assert.match((await ann.get(done.to ?? '')).text, /Not all were sent again/);
      const bob = new Jar(world.url);
      bob.cookies.set('__Host-session', 'bob.session.token');
      const own = '/dashboard/apps/wallet_closed/webhooks';
      assert.match((await bob.get(`${own}/again`)).text, new RegExp(theirs.deliveryId));
      assert.match((await bob.get(`${own}?state=exhausted`)).text, new RegExp(theirs.deliveryId));
      assert.match((await bob.get(`${own}?state=delivered`)).text, /No webhook matches/);
      assert.match((await bob.get(`${own}?payment=${theirs.id}`)).text, new RegExp(theirs.deliveryId));
      assert.match((await bob.get(`${own}?payment=${theirs.linkId}`)).text, /not valid|must be/);
    } finally {
      await world.stop();
    }
  });
});
