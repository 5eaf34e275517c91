import assert from 'node:assert/strict';
import type { DomainEvent } from '../../domain/decider.ts';
import { reportsSet } from '../../projections/sets.ts';
import { listEvents } from '../../queries/feed.ts';
import type { Database } from '../../src/postgres/database.ts';
import { listen } from '../../src/postgres/listen.ts';
import { append, createWorld, paymentIdOf, type World } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';

describe('the feed’s rows', () => {
  let database: Database;
  let world: World;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(() => {
    world = createWorld();
  });

  const happens = (n: number, events: readonly DomainEvent[], appId = 'wallet_demo') =>
    append(
      world,
      `payment-${paymentIdOf(n)}`,
      events.map(({ type, data }) => ({
        type,
        data: type === 'PaymentCreated' ? { ...data, paymentId: paymentIdOf(n), appId, orderId: `order-${n}` } : data,
      })),
    );
  /** @param size of the batches */
  const feed = async (appId = 'wallet_demo', size = 1_000) => {
    const log = await wholeLog(world.store);
    const batches = Array.from({ length: Math.ceil(log.length / size) }, (_, n) => log.slice(n * size, (n + 1) * size));
    await fill(database, world.store, reportsSet, batches);
    return listEvents(database, appId, { after: '0', limit: 100 });
  };
  const told = (events: Awaited<ReturnType<typeof feed>>) =>
    events.map(({ ordinal, paymentId, revision, type }) => `${ordinal} ${paymentId.at(-1)}:${revision} ${type}`);

  it('count each app’s events separately, in the order of the log', async () => {
    await happens(1, p.unpaid);
    await happens(2, p.unpaid, 'wallet_other');
    await happens(3, p.unpaid);
    await happens(2, [p.detected()]);
    await happens(1, [p.detected(), p.confirmed()]);
    assert.deepEqual(told(await feed()), [
      '1 1:0 PaymentCreated',
      '2 3:0 PaymentCreated',
      '3 1:1 PayinDetected',
      '4 1:2 PayinConfirmed',
    ]);
    assert.deepEqual(told(await feed('wallet_other')), ['1 2:0 PaymentCreated', '2 2:1 PayinDetected']);
    assert.deepEqual(await feed('wallet_none'), []);
  });

  it('are the same in any batches', async () => {
    await happens(1, p.done);
    await happens(2, p.paid, 'wallet_other');
    await happens(3, [...p.unpaid, p.expired()]);
    const whole = await feed();
    for (const size of [1, 2, 5]) assert.deepEqual(await feed('wallet_demo', size), whole);
  });

  it('state the payment’s status before and after, including failures and their reasons', async () => {
    await happens(1, [...p.unpaid, p.detected(), p.confirmed(), p.bounced('amountTooLow', '10.01')]);
    const events = await feed();
    assert.deepEqual(
      events.map(({ previousStatus, status, errorCode }) => [previousStatus, status, errorCode]),
      [
        [null, 'payment_unpaid', null],
        ['payment_unpaid', 'payment_started', null],
        ['payment_started', 'payment_started', null],
        ['payment_started', 'payment_bounced', 'amountTooLow'],
      ],
    );
    const [first] = events;
    assert.deepEqual([first?.orderId, first?.at], ['order-1', p.created_at]);
    const stored = await world.store.read(`payment-${paymentIdOf(1)}`);
    assert.deepEqual(
      events.map(({ eventId }) => eventId),
      stored.map(({ id }) => id),
    );
  });

  it('end before an event of a newer version, so that a newer version counts it', async () => {
    await happens(1, [...p.unpaid, { type: 'PaymentPraised', data: {} }, p.detected()]);
    await assert.rejects(feed(), /PaymentPraised .* newer version of this program/);
  });

  it('are notified as they arrive, each app with its newest ordinal', async () => {
    await happens(1, p.paid);
    await happens(2, p.unpaid, 'wallet_other');
    const words: string[] = [];
    const [listening, all] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const heard = listen(database, ['app_events']).subscribe(({ payload }) => {
      words.push(payload);
      // The first message of a connection is that an event may have been missed.
      listening.resolve();
      if (words.length === 3) all.resolve();
    });
    await listening.promise;
    await feed();
    await all.promise;
    heard.unsubscribe();
    assert.deepEqual(words.toSorted(), ['', 'wallet_demo 4', 'wallet_other 1']);
  });
});
