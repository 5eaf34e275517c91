/** Reusable links and movements of cashback, as their owners read them from Postgres. */
import assert from 'node:assert/strict';
import { cashback, receive, withdraw } from '../../domain/cashback.ts';
import { isRefusal } from '../../domain/decider.ts';
import { closeLink, createLink, type LinkTerms, link } from '../../domain/link.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { workSet } from '../../projections/sets.ts';
import { cashbackMovements } from '../../queries/cashback.ts';
import { countOpenLinks, listedOf, listLinks, paymentsOfLink } from '../../queries/links.ts';
import type { Database } from '../../src/postgres/database.ts';
import { append, createWorld, paymentIdOf, type World } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';

const appId = 'merchant_teahouse';
const facts = { cause: 'worker:spec', appId } as const;
const idOf = (n: number): string => `link-number_${n}`.padEnd(36, '-');

describe('the lists of links and of cashback', () => {
  let database: Database;
  let world: World;
  beforeEach(async () => {
    database = await freshDatabase();
    world = createWorld();
  });

  async function given(n: number, more: Partial<LinkTerms> = {}): Promise<void> {
    const terms: LinkTerms = {
      linkId: idOf(n),
      appId,
      type: 'exactOut',
      amount_microUsd: '12500000',
      limits_microUsd: null,
      title: `Link ${n}`,
      description: null,
      source: { chainId: 8453, tokenSymbol: 'USDC' },
      createdAt: p.minute(n),
      ...more,
    };
    assert.ok(!isRefusal(await world.handle(link, terms.linkId, (state) => createLink(state, terms), facts)));
  }
  const read = async () => fill(database, world.store, workSet, [await wholeLog(world.store)]);

  it('the payments of a link are the newest of it, and of its app alone', async () => {
    const made = [
      { linkId: idOf(1) },
      { linkId: idOf(2) },
      null,
      { linkId: idOf(1) },
      { linkId: `${idOf(1)}x` },
      { linkId: idOf(1) },
    ];
    for (const [index, metadata] of made.entries()) {
      const n = index + 1;
      const first = p.created();
      const deposit = { ...p.terms().deposit, address: `0x90F79bf6EB2c4f870365E785982E1f101E93b90${n}` };
      const terms = { deposit, paymentId: paymentIdOf(n), orderId: `link-${n}`, createdAt: p.minute(n), metadata };
      const data = { ...first.data, ...terms, appId: n === 6 ? 'merchant_other' : appId };
      await append(world, `payment-${paymentIdOf(n)}`, [{ type: 'PaymentCreated', data } as PaymentEvent]);
    }
    await read();
    const of = async (linkId: string, limit: number) =>
      (await paymentsOfLink(database, appId, linkId, limit)).map(({ orderId }) => orderId);
    assert.deepEqual(await of(idOf(1), 10), ['link-4', 'link-1']);
    assert.deepEqual(await of(idOf(1), 1), ['link-4']);
    assert.deepEqual(await of(idOf(3), 10), []);
  });

  it('links are listed newest first, page by page, each as the log has it; those of others are not', async () => {
    for (const n of [1, 2, 3, 4]) await given(n);
    await given(5, {
      amount_microUsd: null,
      limits_microUsd: { min: '1000000', max: '5000000000' },
      source: null,
    });
    await given(6, { appId: 'merchant_other' });
    const closed = await world.handle(link, idOf(2), (state) => closeLink(state, appId, p.minute(9)), facts);
    assert.ok(!isRefusal(closed) && closed.state);
    await read();
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listLinks(database, appId, { limit: 2, cursor });
      if (isRefusal(page)) return assert.fail(page.message);
      found.push(...page.links.map(({ linkId }) => linkId));
      cursor = page.nextCursor ?? undefined;
      if (cursor !== undefined) assert.equal(cursor.length, 82, 'as the API says');
      const second = page.links.find(({ linkId }) => linkId === idOf(2));
      if (second) assert.deepEqual(second, listedOf(closed.state));
      const free = page.links.find(({ linkId }) => linkId === idOf(5));
      if (free)
        assert.deepEqual([free.amount, free.minAmount, free.maxAmount, free.source], [null, '1.00', '5000.00', null]);
    } while (cursor !== undefined);
    assert.deepEqual(found, [5, 4, 3, 2, 1].map(idOf));
    for (const bad of ['x', 'a'.repeat(82)])
      assert.ok(isRefusal(await listLinks(database, appId, { limit: 2, cursor: bad })));
    assert.equal(await countOpenLinks(database, appId, 10), 4);
    assert.equal(await countOpenLinks(database, appId, 2), 2);
    assert.equal(await countOpenLinks(database, 'merchant_none', 10), 0);
  });

  it('movements of cashback are receipts and withdrawals, newest first, of one app', async () => {
    const decide = async <T>(decision: T) => assert.ok(!isRefusal(await decision));
    for (const [ordinal, cents] of [
      [1, 250n],
      [2, 90n],
    ] as const) {
      const paid = { account: p.customerWallet, orderId: `A-${ordinal}`, digest: `${ordinal}`.repeat(64) };
      const data = {
        ...paid,
        appId,
        cents: cents.toString(),
        amountLocal: '0.85',
        currencyLocal: 'EUR',
        about: 'tea',
        signedAt: p.minute(ordinal),
        after: { balance_cents: '0', earnedOn: [8453 as const] },
        spentAt: p.minute(ordinal),
      };
      await append(world, `credit-${paid.account}`, [{ type: 'CreditSpent', data }]);
      const received = { ...paid, ordinal, cents };
      await decide(world.handle(cashback, appId, (state) => receive(state, received, p.minute(ordinal)), facts));
    }
    const asked = {
      paymentId: '0198f3c2-0000-8000-8000-000000000009',
      cents: '100',
      chainId: 8453,
      token: p.baseUsdc.token,
      receiverAddress: p.merchantWallet,
      receiverMemo: null,
      fee: { fixed: '10000', basisPoints: 0 },
    } as const;
    await decide(
      world.handle(cashback, appId, (state) => withdraw(state, asked, { seen: state, now: p.minute(7) }), facts),
    );
    await read();
    const movements = await cashbackMovements(database, appId, 10);
    assert.deepEqual(
      movements.map(({ cents, paymentId, orderId }) => [cents, paymentId, orderId]),
      [
        [100n, asked.paymentId, null],
        [90n, null, 'A-2'],
        [250n, null, 'A-1'],
      ],
    );
    assert.equal((await cashbackMovements(database, appId, 1)).length, 1);
    assert.deepEqual(await cashbackMovements(database, 'merchant_none', 10), []);
  });
});
