/** Changes of an app with their authors: its own stream and those of its links, as one list. */
import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { readStream } from '../../commands/handle.ts';
import { isRefusal } from '../../domain/decider.ts';
import { closeLink, createLink, link } from '../../domain/link.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { workSet } from '../../projections/sets.ts';
import { changesPage, type ListedChange, listOtherChanges } from '../../queries/merchantAudit.ts';
import type { Database } from '../../src/postgres/database.ts';
import { append, createWorld, type World } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';

const appId = 'merchant_teahouse';
const owner = { cause: 'developer:cleo' } as const;
const idOf = (n: number): string => `link-number_${n}`.padEnd(36, '-');

describe('the history of an app and its links', () => {
  let database: Database;
  let world: World;
  beforeEach(async () => {
    database = await freshDatabase();
    world = createWorld();
  });

  const url = (n: number) => {
    const event = { type: 'WebhookUrlSet', data: { url: `https://shop.example/${n}` } } as const;
    return world.handle(merchant, appId, () => [event], { cause: 'operator:ada', appId });
  };
  const make = (n: number, more: object = {}, of = appId) => {
    const terms = {
      linkId: idOf(n),
      appId: of,
      type: 'exactOut',
      amount_microUsd: '12500000',
      limits_microUsd: null,
      title: `Link ${n}`,
      description: null,
      source: null,
      createdAt: p.minute(n),
      ...more,
    } as const;
    return world.handle(link, terms.linkId, (state) => createLink(state, terms), { ...owner, appId: of });
  };
  const close = (n: number) =>
    world.handle(link, idOf(n), (state) => closeLink(state, appId, p.minute(9)), { ...owner, appId });
  const deps = () => ({
    history: (stream: string) => readStream(world.store, stream),
    read: eventCodec.read,
    otherChanges: (id: string, page: Parameters<typeof listOtherChanges>[2]) => listOtherChanges(database, id, page),
  });
  const pages = async (limit: number): Promise<readonly (readonly ListedChange[])[]> => {
    const found: (readonly ListedChange[])[] = [];
    let cursor: string | undefined;
    do {
      const page = await changesPage(deps(), appId, { limit, cursor });
      if (isRefusal(page)) return assert.fail(page.message);
      found.push(page.changes);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined && found.length < 20);
    return found;
  };

  async function given(): Promise<void> {
    const steps = [
      () => url(1),
      () => make(1),
      () => make(2, { amount_microUsd: null, limits_microUsd: { min: '1000000', max: '2000000' }, title: null }),
      () => url(2),
      () => make(3, {}, 'merchant_other'),
      () => close(1),
      () => url(3),
    ];
    for (const step of steps) {
      assert.ok(!isRefusal(await step()));
      world.clock.advance(1_000);
    }
    await fill(database, world.store, workSet, [await wholeLog(world.store)]);
  }

  it('names the people who created and closed links, newest first, among the other changes; nothing of other apps', async () => {
    await given();
    const [all = []] = await pages(100);
    assert.deepEqual(
      all.map(({ revision, by, what }) => [revision, by, what]),
      [
        [2, 'operator:ada', 'set its webhook: https://shop.example/3'],
        [null, 'developer:cleo', 'closed a reusable link of 12.50 dollars: "Link 1"'],
        [1, 'operator:ada', 'set its webhook: https://shop.example/2'],
        [null, 'developer:cleo', 'made a reusable link of an amount that the payer chooses'],
        [null, 'developer:cleo', 'made a reusable link of 12.50 dollars: "Link 1"'],
        [0, 'operator:ada', 'set its webhook: https://shop.example/1'],
      ],
    );
    assert.ok(all.every(({ what }) => !what.includes(idOf(1))));
  });

  it('names the people who ordered and called off refunds', async () => {
    const held = [...p.unpaid, p.confirmed(p.payin({ amount: '3.00' })), p.bounced('amountTooLow', '3.00')];
    const ordered = p.refundRequested('2.95', { networkFee: '0.05' });
    const stream = `payment-${p.terms().paymentId}`;
    await append(world, stream, [...held, ordered]);
    await append(world, stream, [
      { type: 'RefundCalledOff', data: { refund: 1, reason: 'frozen', calledOffAt: p.minute(90) } },
    ]);
    await fill(database, world.store, workSet, [await wholeLog(world.store)]);
    const page = await changesPage(deps(), p.terms().appId, { limit: 9 });
    const sum = `of 2.95 USDC on Base of payment ${p.terms().paymentId} to ${p.customerWallet}`;
    assert.deepEqual(isRefusal(page) ? page : page.changes.map(({ what }) => what).sort(), [
      `called off the refund ${sum}`,
      `ordered a refund ${sum}`,
    ]);
  });

  it('is the same in pages of any length', async () => {
    await given();
    const [whole] = await pages(100);
    for (const limit of [1, 2, 3, 4, 5, 6]) {
      const found = await pages(limit);
      assert.deepEqual(found.flat(), whole);
      assert.equal(found.length, Math.ceil(6 / limit));
    }
  });

  it('contains links alone, or the app alone, where there is nothing else', async () => {
    await make(1);
    await fill(database, world.store, workSet, [await wholeLog(world.store)]);
    assert.deepEqual((await pages(1)).flat().length, 1);
    assert.deepEqual(await changesPage(deps(), 'merchant_none', { limit: 5 }), { changes: [], nextCursor: null });
  });

  it('refuses a cursor of another origin', async () => {
    const refused = await changesPage(deps(), appId, { limit: 5, cursor: '3.none' });
    assert.ok(isRefusal(refused) && refused.pointer === '/cursor');
  });
});
