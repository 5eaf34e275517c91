import assert from 'node:assert/strict';
import fc from 'fast-check';
import { eventCodec } from '../../commands/codec.ts';
import { readStream } from '../../commands/handle.ts';
import { Unavailable } from '../../commands/ports.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { reportsSet, workSet } from '../../projections/sets.ts';
import { countOpen } from '../../queries/apps.ts';
import {
  getPayment,
  getPaymentByOrder,
  listPayments,
  type PaymentFilter,
  type PaymentPage,
} from '../../queries/payments.ts';
import type { Database } from '../../src/postgres/database.ts';
import { append, createWorld, type World } from '../support/histories.ts';
import {
  attempt,
  bnbUsdc,
  created,
  customerWallet,
  detected,
  done,
  event,
  hashOf,
  minute,
  payin,
} from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';
import { isFull } from '../support/suite.ts';

const id = (n: number): string => `0198f3c2-0000-8000-8000-${String(n).padStart(12, '0')}`;

/** A payment that was created in minute `n`, of one of two apps in turn. */
function payment(n: number, more: object = {}, rest: readonly PaymentEvent[] = []): readonly PaymentEvent[] {
  const first = created();
  const data = {
    ...first.data,
    paymentId: id(n),
    appId: n % 2 ? 'wallet_odd' : 'wallet_even',
    createdAt: minute(n),
    ...more,
  };
  return [{ type: 'PaymentCreated', data } as PaymentEvent, ...rest];
}

describe('queries of payments', () => {
  let database: Database;
  let world: World;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(() => {
    world = createWorld();
  });

  const given = async (...histories: (readonly PaymentEvent[])[]) => {
    for (const [first, ...rest] of histories) {
      if (first?.type === 'PaymentCreated') await append(world, `payment-${first.data.paymentId}`, [first, ...rest]);
    }
    await fill(database, world.store, workSet, [await wholeLog(world.store)]);
  };
  const reading = () => ({
    sql: database,
    read: eventCodec.read,
    history: (stream: string) => readStream(world.store, stream),
  });
  const list = async (filter: Partial<PaymentFilter> = {}): Promise<PaymentPage> => {
    const page = await listPayments(database, { appId: 'wallet_odd', limit: 10, ...filter });
    assert.ok(!isRefusal(page));
    return page;
  };
  const ids = ({ payments }: PaymentPage) => payments.map(({ paymentId }) => Number(paymentId.slice(-12)));

  describe('by id', () => {
    const ask = (paymentId: string) => getPayment(reading(), paymentId);

    it('are answered from the row', async () => {
      await given(payment(1, {}, done.slice(1)));
      const found = await ask(id(1));
      assert.equal(found?.status, 'payment_payout_completed');
      assert.equal(found?.destinationAmount, '10.00');
    });
    it('are answered from the stream while the row is not there yet, with the same view', async () => {
      await given();
      await append(world, `payment-${id(1)}`, payment(1, {}, done.slice(1)));
      const early = await ask(id(1));
      await fill(database, world.store, workSet, [await wholeLog(world.store)]);
      assert.equal(early?.status, 'payment_payout_completed');
      assert.deepEqual(early, await ask(id(1)));
    });
    it('are answered from the stream while the row is behind it', async () => {
      const registered = event('PayinRegistered', {
        txHash: hashOf(7),
        senderAddress: customerWallet,
        registeredAt: minute(2),
      });
      await given(payment(1));
      await append(world, `payment-${id(1)}`, [registered]);
      const found = await ask(id(1));
      assert.deepEqual([found?.payinTxHash, found?.senderAddress], [hashOf(7), customerWallet]);
    });
    it('are answered from the row while the log is away', async () => {
      await given(payment(1));
      const history = async () => {
        throw new Unavailable('the log is away');
      };
      assert.equal((await getPayment({ ...reading(), history }, id(1)))?.status, 'payment_unpaid');
    });
    it('are null if nobody created them', async () => {
      await given();
      assert.equal(await ask(id(9)), null);
    });
  });

  describe('by order', () => {
    /** Id derived from the order. */
    let derived = '';
    beforeEach(() => {
      derived = id(9);
    });
    const ask = (appId: string, orderId: string) =>
      getPaymentByOrder({ ...reading(), paymentIdOf: () => derived }, appId, orderId);

    it('are found for their app only', async () => {
      await given(payment(1, { orderId: 'A-1' }));
      assert.equal((await ask('wallet_odd', 'A-1'))?.paymentId, id(1));
      assert.equal(await ask('wallet_even', 'A-1'), null);
      assert.equal(await ask('wallet_odd', 'A-2'), null);
    });
    it('are answered from the stream while the row is behind it', async () => {
      await given(payment(1, { orderId: 'A-1' }));
      await append(world, `payment-${id(1)}`, done.slice(1));
      assert.equal((await ask('wallet_odd', 'A-1'))?.status, 'payment_payout_completed');
    });
    it('are found by any possible text of an orderId', async () => {
      const odd = 'ä\0\ud800"\\';
      await given(payment(1, { orderId: odd }));
      assert.equal((await ask('wallet_odd', odd))?.paymentId, id(1));
    });
    it('are not found when a stranger created them without a key', async () => {
      await given(payment(1, { orderId: 'A-1', keyless: true }));
      assert.equal(await ask('wallet_odd', 'A-1'), null);
      await given(payment(3, { orderId: 'A-1' }));
      assert.equal((await ask('wallet_odd', 'A-1'))?.paymentId, id(3));
    });
    it('are found by the derived id of the order’s payment while the row is not there yet', async () => {
      await append(world, 'merchant-wallet_odd', [
        { type: 'MerchantRegistered', data: { appId: 'wallet_odd', idSalt: 'a'.repeat(64), registeredAt: minute(0) } },
      ]);
      await given();
      await append(world, `payment-${id(1)}`, payment(1, { orderId: 'A-1' }));
      derived = id(1);
      assert.equal((await ask('wallet_odd', 'A-1'))?.paymentId, id(1));
      assert.equal(await ask('wallet_even', 'A-1'), null);
    });
  });

  it('are counted as open while their money is awaited, all and those that strangers created, up to a bound', async () => {
    const keyless = { keyless: true };
    await given(
      payment(1, keyless),
      payment(3, keyless),
      payment(5),
      payment(2, keyless),
      payment(7, keyless, done.slice(1)),
    );
    assert.equal(await countOpen(database, 'wallet_odd', 'keyless', 10), 2);
    assert.equal(await countOpen(database, 'wallet_odd', 'keyless', 1), 1);
    assert.equal(await countOpen(database, 'wallet_none', 'keyless', 10), 0);
    assert.equal(await countOpen(database, 'wallet_odd', 'all', 10), 3);
  });

  describe('as a list', () => {
    it('are sorted newest first, only those of the app, with a cursor to the next page', async () => {
      await given(...[1, 2, 3, 4, 5, 7].map((n) => payment(n)));
      const first = await list({ limit: 3 });
      assert.deepEqual(ids(first), [7, 5, 3]);
      const next = await list({ limit: 3, cursor: first.nextCursor ?? '' });
      assert.deepEqual(ids(next), [1]);
      assert.equal(next.nextCursor, null);
      assert.equal((await list({ limit: 4 })).nextCursor, null);
    });

    it('neither repeat nor miss existing ones, whatever is created between the pages', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 4 }),
          fc.uniqueArray(fc.nat(12), { minLength: 3 }),
          async (limit, minutes) => {
            world = createWorld();
            await given(
              ...minutes.map((n, index) => payment(index, { appId: 'wallet_odd', createdAt: minute(n % 4) })),
            );
            const before = ids(await list({ limit: 100 }));
            const seen: number[] = [];
            let cursor: string | null | undefined;
            for (let page = 0; cursor !== null; page += 1) {
              const found = await list({ limit, ...(cursor !== undefined && { cursor }) });
              seen.push(...ids(found));
              cursor = found.nextCursor;
              await given(payment(50 + page, { appId: 'wallet_odd', createdAt: minute(page % 2 ? 30 : 0) }));
            }
            assert.deepEqual(
              seen.filter((n) => n < 50),
              before,
            );
            assert.equal(new Set(seen).size, seen.length);
          },
        ),
        { numRuns: isFull ? 8 : 3 },
      );
    });

    it('can be narrowed by status, order and time, bounds excluded', async () => {
      await given(payment(1, { orderId: 'A-1' }, done.slice(1)), payment(3), payment(5));
      assert.deepEqual(ids(await list({ status: 'payment_unpaid' })), [5, 3]);
      assert.deepEqual(ids(await list({ status: 'payment_payout_completed' })), [1]);
      assert.deepEqual(ids(await list({ orderId: 'A-1' })), [1]);
      assert.deepEqual(ids(await list({ createdAfter: minute(3) })), [5]);
      assert.deepEqual(ids(await list({ createdBefore: minute(3) })), [1]);
      assert.deepEqual(ids(await list({ updatedAfter: world.clock.now() })), []);
      assert.deepEqual(ids(await list({ status: 'payment_unpaid', createdBefore: minute(4) })), [3]);
    });

    describe('by a search', () => {
      const both = (log: Parameters<typeof fill>[3]) =>
        Promise.all([workSet, reportsSet].map((set) => fill(database, world.store, set, log)));
      const search = async (text: string, more: Partial<PaymentFilter> = {}) =>
        ids(await list({ search: text, ...more }));
      const hint = event('PayinRegistered', {
        txHash: hashOf('announced'),
        senderAddress: customerWallet,
        registeredAt: minute(2),
      });

      beforeEach(async () => {
        await given(
          payment(1, { orderId: 'A-1' }, done.slice(1)),
          payment(2, { orderId: 'A-1' }, done.slice(1)),
          payment(3, { orderId: 'A-2' }, [hint]),
          payment(5, {}, [detected(payin({ tx: 'wrong', in: bnbUsdc })), detected()]),
        );
        await both([await wholeLog(world.store)]);
      });

      it('are found by id and by order, whole ones, within the app', async () => {
        assert.deepEqual(await search(id(1)), [1]);
        assert.deepEqual(await search(` ${id(1).toUpperCase()}\n`), [1]);
        assert.deepEqual(await search(id(2)), []);
        assert.deepEqual(await search('A-1'), [1]);
        assert.deepEqual(await search('A-'), []);
        assert.deepEqual(await search('A-1', { appId: 'wallet_even' }), [2]);
      });
      it('are found by any transaction: paid in, held, paid out or only announced', async () => {
        assert.deepEqual(await search(payin().txHash), [5, 1]);
        assert.deepEqual(await search(`0x${payin().txHash.slice(2).toUpperCase()}`), [5, 1]);
        assert.deepEqual(await search(hashOf('wrong')), [5]);
        assert.deepEqual(await search(attempt().hash), [1]);
        assert.deepEqual(await search(hashOf('announced')), [3]);
      });
      it('are narrowed by the other filters, and returned in pages', async () => {
        assert.deepEqual(await search(payin().txHash, { status: 'payment_started' }), [5]);
        const first = await list({ search: payin().txHash, limit: 1 });
        assert.deepEqual(ids(first), [5]);
        assert.deepEqual(await search(payin().txHash, { cursor: first.nextCursor ?? '' }), [1]);
      });
      it('are not found by anything else', async () => {
        for (const text of ['', ' ', '%', "'", '\0', '\ud800', '*', 'A-1%', '__', id(9)])
          assert.deepEqual(await search(text), []);
      });
    });

    it('refuse a cursor that no list returned', async () => {
      await given(payment(1));
      for (const cursor of ['', 'x', Buffer.from('yesterday').toString('base64url')]) {
        const refused = await listPayments(database, { appId: 'wallet_odd', limit: 1, cursor });
        assert.ok(isRefusal(refused) && refused.pointer === '/cursor', cursor);
      }
    });
  });
});
