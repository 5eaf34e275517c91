import assert from 'node:assert/strict';
import { isRefusal } from '../../domain/decider.ts';
import { instant } from '../../domain/time.ts';
import { recordOutcome, startSend, type WebhookStart, webhook } from '../../domain/webhook.ts';
import { reportsSet } from '../../projections/sets.ts';
import { type DeliveryFilter, listDeliveries } from '../../queries/deliveries.ts';
import type { Database } from '../../src/postgres/database.ts';
import { deliveryOutcome, deliveryStart } from '../support/deliveries.ts';
import { createWorld, type World } from '../support/histories.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';

const idOf = (n: number) => `0198f3c2-0000-8000-8000-00000000010${n}`;
const appId = 'merchant_bakery';
const facts = { cause: 'worker:test', appId } as const;

describe('the list of deliveries', () => {
  let database: Database;
  let world: World;

  /** @param statusCode undefined: the delivery is claimed, without an outcome */
  async function sent(n: number, statusCode: number | null | undefined, more: Partial<WebhookStart> = {}) {
    const start = deliveryStart({ deliveryId: idOf(n), startedAt: instant(n * 1_000), ...more });
    await world.handle(webhook, start.deliveryId, (state) => startSend(state, start), facts);
    if (statusCode === undefined) return;
    const outcome = deliveryOutcome(statusCode, instant(n * 1_000 + 12));
    await world.handle(webhook, start.deliveryId, (state) => recordOutcome(state, outcome), facts);
  }
  async function sentToRemoved(n: number) {
    const deliveryId = idOf(n);
    const start = deliveryStart({ deliveryId, startedAt: instant(1), endpointId: idOf(9), appId });
    await world.handle(webhook, deliveryId, (state) => startSend(state, start), facts);
    const outcome = { ...deliveryOutcome(null, instant(2)), error: 'endpointRemoved', request: null } as const;
    await world.handle(webhook, deliveryId, (state) => recordOutcome(state, outcome), facts);
  }
  async function list(filter: Partial<DeliveryFilter> = {}, app = appId) {
    const page = await listDeliveries(database, app, { limit: 10, ...filter });
    assert.ok(!isRefusal(page));
    return page;
  }
  const ids = async (filter?: Partial<DeliveryFilter>) =>
    (await list(filter)).deliveries.map(({ deliveryId }) => deliveryId);

  before(async () => {
    database = await freshDatabase();
    world = createWorld();
    await sent(1, 204);
    await sent(2, 500, { paymentId: 'other' });
    await sent(3, null, { kind: 'manual', firstDeliveryId: idOf(2), ordinal: 1, paymentId: 'other' });
    await sent(4, undefined);
    const test = {
      kind: 'test',
      eventType: 'webhook_test',
      paymentId: null,
      eventId: null,
      eventRevision: null,
    } as const;
    await sent(5, 200, test);
    await sentToRemoved(6);
    await fill(database, world.store, reportsSet, [await wholeLog(world.store)]);
  });

  it('is newest first; one without an outcome is exhausted, for a reason unknown', async () => {
    const { deliveries, nextCursor } = await list();
    assert.equal(nextCursor, null);
    assert.deepEqual(
      deliveries.map(({ status, statusCode, error, deliveredAt }) => [status, statusCode, error, deliveredAt]),
      [
        ['delivered', 200, null, instant(5_012)],
        ['exhausted', null, 'unknown', null],
        ['exhausted', null, 'timeout', instant(3_012)],
        ['exhausted', 500, null, instant(2_012)],
        ['delivered', 204, null, instant(1_012)],
        ['exhausted', null, 'endpointRemoved', instant(2)],
      ],
    );
  });

  it('has the reference’s fields and more', async () => {
    const { deliveries } = await list();
    assert.deepEqual(deliveries[2], {
      deliveryId: idOf(3),
      paymentId: 'other',
      eventType: 'payment_payin_completed',
      statusCode: null,
      responsePreview: null,
      deliveredAt: instant(3_012),
      status: 'exhausted',
      attemptNumber: 1,
      kind: 'manual',
      firstDeliveryId: idOf(2),
      url: 'https://bakery.example/hooks',
      endpointId: null,
      error: 'timeout',
      startedAt: instant(3_000),
      durationMs: 12,
    });
    assert.partialDeepStrictEqual(deliveries[0], { kind: 'test', paymentId: null, eventType: 'webhook_test' });
  });

  it('is that of a payment, or of a status, alone on request', async () => {
    assert.deepEqual(await ids({ paymentId: 'other' }), [idOf(3), idOf(2)]);
    assert.deepEqual(await ids({ status: 'delivered' }), [idOf(5), idOf(1)]);
    assert.deepEqual(await ids({ paymentId: 'other', status: 'delivered' }), []);
  });

  it('can exclude deliveries to removed endpoints', async () => {
    assert.deepEqual(await ids({ status: 'exhausted' }), [idOf(4), idOf(3), idOf(2), idOf(6)]);
    assert.deepEqual(await ids({ status: 'exhausted', withoutRemoved: true }), [idOf(4), idOf(3), idOf(2)]);
  });

  it('continues where a page ended', async () => {
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await list({ limit: 2, ...(cursor !== undefined && { cursor }) });
      pages.push(page.deliveries.map(({ deliveryId }) => deliveryId));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    assert.deepEqual(pages, [
      [idOf(5), idOf(4)],
      [idOf(3), idOf(2)],
      [idOf(1), idOf(6)],
    ]);
  });

  it('accepts no cursor but its own', async () => {
    const page = await listDeliveries(database, appId, { limit: 2, cursor: 'A'.repeat(82) });
    assert.ok(isRefusal(page) && page.pointer === '/cursor');
  });

  it('holds nothing of another app', async () => assert.deepEqual((await list({}, 'merchant_other')).deliveries, []));
});
