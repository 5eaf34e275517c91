import assert from 'node:assert/strict';
import { introduceWebhookTypes } from '../../commands/sendWebhook.ts';
import { createPayment } from '../../domain/payment/create.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { firstWebhookEventTypes, webhookEventTypes } from '../../domain/webhook.ts';
import type { ProjectionSet } from '../../projections/projection.ts';
import { workSet } from '../../projections/sets.ts';
import { news, type ReportedEvents, todoWebhooks, todoWebhooksOf } from '../../projections/todos.ts';
import type { Database } from '../../src/postgres/database.ts';
import { append, createWorld, paymentIdOf, type World } from '../support/histories.ts';
import { done, expired, terms } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, rowsOf, wholeLog } from '../support/readModels.ts';

/** A third type, as a later version might add it. */
const payment_expired: ReportedEvents[string] = ({ event }) => event.type === 'PaymentExpired';
const laterSet = {
  ...workSet,
  projections: workSet.projections.map((one) =>
    one === todoWebhooks ? todoWebhooksOf({ ...news, payment_expired }) : one,
  ),
};

describe('a type of webhook in a later version', () => {
  let database: Database;
  let world: World;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(() => {
    world = createWorld();
  });

  const live = (who: number, rest: readonly PaymentEvent[], webhookTypes = ['payment_expired']) => {
    const paymentId = paymentIdOf(who);
    const own = createPayment(null, { ...terms({ webhookUrl: 'https://shop.example/hook' }), paymentId, webhookTypes });
    return append(world, `payment-${paymentId}`, [...(own as readonly PaymentEvent[]), ...rest]);
  };
  const expire = (who: number) => live(who, [expired()]);
  const pay = (who: number) => live(who, done.slice(1));
  const introduce = () => introduceWebhookTypes(world.handle, ['payment_expired']);

  /** Webhooks to send, after the log arrived in batches of this size, each in a new runner. */
  async function todos(set: ProjectionSet = laterSet, size = Number.POSITIVE_INFINITY): Promise<readonly string[]> {
    const log = await wholeLog(world.store);
    const pieces = [];
    for (let at = 0; at < log.length; at += size) pieces.push(log.slice(at, at + size));
    const rows = await rowsOf(database, await fill(database, world.store, set, pieces));
    const due = rows.todo_webhooks as readonly { payment_id: string; event_type: string }[];
    return due.map(({ payment_id, event_type }) => `${payment_id.at(-1)} ${event_type}`).sort();
  }

  it('is due from its introduction on: a rebuild makes no earlier event due', async () => {
    await expire(1);
    await pay(2);
    const before = await todos(workSet);
    assert.deepEqual(before, ['2 payment_payin_completed', '2 payment_payout_completed']);

    await introduce();
    assert.deepEqual(await todos(), before);
    await expire(3);
    assert.deepEqual(await todos(), [...before, '3 payment_expired']);
  });

  it('is due only for payments whose app had chosen it', async () => {
    await introduce();
    await live(1, [expired()], []);
    await live(2, [expired()], ['payment_bounced']);
    await live(3, done.slice(1), []);
    await expire(4);
    const first = ['3 payment_payin_completed', '3 payment_payout_completed'];
    assert.deepEqual(await todos(), [...first, '4 payment_expired']);
  });

  it('is due alike for a runner that continues, one that starts behind the introduction, and a rebuild', async () => {
    for (const who of [1, 2]) await expire(who);
    await introduce();
    for (const who of [3, 4]) await expire(who);
    for (const size of [1, 2, 3, 5]) {
      assert.deepEqual(await todos(laterSet, size), ['3 payment_expired', '4 payment_expired'], `pieces of ${size}`);
    }
  });

  it('is due for a runner that had begun when it was introduced', async () => {
    await expire(1);
    const early = { ...world.store, read: async () => [] };
    await introduce();
    await expire(2);
    const generation = await fill(database, early, laterSet, [await wholeLog(world.store)]);
    const { todo_webhooks = [] } = await rowsOf(database, generation);
    assert.equal(todo_webhooks.length, 1);
  });

  it('is unlike types of the first release, which are due from the log’s start and do not change', () => {
    assert.deepEqual(firstWebhookEventTypes, ['payment_payin_completed', 'payment_payout_completed']);
    assert.deepEqual(Object.keys(news), [...webhookEventTypes]);
  });

  it('is not due before an instance has introduced it', async () => {
    await expire(1);
    assert.deepEqual(await todos(), []);
  });

  it('is due for everything in a fresh installation, whose log it begins', async () => {
    await introduce();
    await expire(1);
    assert.deepEqual(await todos(), ['1 payment_expired']);
  });

  it('is introduced once, by however many instances and however often they start', async () => {
    await Promise.all([introduce(), introduce(), introduce()]);
    await expire(1);
    await introduce();
    const introductions = (await wholeLog(world.store)).filter(({ type }) => type === 'WebhookTypeIntroduced');
    assert.equal(introductions.length, 1);
    assert.deepEqual(await todos(), ['1 payment_expired']);
    await introduceWebhookTypes(world.handle, ['payment_expired', 'payment_bounced']);
    assert.equal((await world.store.read('webhookTypes-introduced')).length, 2);
  });
});
