/** Searches of an app's people over its payments: results, order, counts and sums. */
import assert from 'node:assert/strict';
import { isRefusal } from '../../domain/decider.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { projectionSets } from '../../projections/sets.ts';
import {
  type FindFilter,
  type FoundPayments,
  type FoundRange,
  findPayments,
  paymentsInNeed,
} from '../../queries/findPayments.ts';
import type { Database } from '../../src/postgres/database.ts';
import { append, createWorld, paymentIdOf } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';

const appId = 'wallet_demo';
const part = p.payin({ tx: 'a part', amount: '1.00' });
const other = p.payin({ tx: 'another token', in: p.ethereumUsdt, amount: '2.00' });
const late = p.payin({ tx: 'late', at: p.minute(61) });

/** Payments 1 to 7, one per minute. */
const lives: readonly (readonly [more: object, rest: readonly PaymentEvent[]])[] = [
  [{ orderId: 'NC-1000', display: { title: 'Ethiopia Yirgacheffe, 250 g', description: null, currency: null } }, []],
  [{ orderId: 'NC-1001' }, p.done.slice(1)],
  [{ orderId: 'NC-2000' }, [p.detected(part)]],
  [
    { orderId: 'B_1%' },
    [p.detected(other), p.confirmed(other), p.expired(), p.bouncedOther('wrongToken', '2.00', p.ethereumUsdt)],
  ],
  [{ orderId: null }, [p.expired()]],
  [{ orderId: 'late-1' }, [p.expired(), p.detected(late), p.confirmed(late), p.bounced('latePayin', '10.01')]],
  [
    { orderId: 'noted' },
    [p.event('PaymentAnnotated', { note: 'x', tags: ['vip', 'zürich'], annotatedAt: p.minute(9) })],
  ],
];

describe('payments found', () => {
  let database: Database;
  before(async () => {
    database = await freshDatabase();
    const world = createWorld();
    for (const [index, [more, rest]] of lives.entries()) {
      const n = index + 1;
      const first = p.created({
        ...(n === 4 && { from: p.ethereumUsdc, to: p.polygonUsdc }),
        ...(n === 7 && { amount: '99.49' }),
      });
      const address = `0x90F79bf6EB2c4f870365E785982E1f101E93b90${n}`;
      const deposit = { ...p.terms().deposit, address };
      const data = { ...first.data, deposit, paymentId: paymentIdOf(n), appId, createdAt: p.minute(n), ...more };
      await append(world, `payment-${paymentIdOf(n)}`, [{ type: 'PaymentCreated', data } as PaymentEvent, ...rest]);
    }
    for (const set of projectionSets) await fill(database, world.store, set, [await wholeLog(world.store)]);
  });

  const find = async (filter: Partial<FindFilter>, page: Partial<FoundRange> = {}): Promise<FoundPayments> => {
    const found = await findPayments(database, { appId, ...filter }, { limit: 20, ...page });
    assert.ok(!isRefusal(found), JSON.stringify(found));
    return found;
  };
  const numbers = ({ payments }: Pick<FoundPayments, 'payments'>) =>
    payments.map(({ paymentId }) => Number(paymentId.slice(-12)));

  const searches: readonly (readonly [what: string, search: string, expected: readonly number[]])[] = [
    ['the beginning of an order', 'nc-1', [2, 1]],
    ['the whole of it', 'NC-1001', [2]],
    ['signs that a pattern would take for more', 'b_1%', [4]],
    ['a sign alone that a pattern would take for all', '%', []],
    ['the beginning of a title', 'ethio', [1]],
    ['the beginning of a later word of it', 'yirga', [1]],
    ['what is within a word', 'thiop', []],
    ['an amount that is due, as it is written or shorter', '99.5', [7]],
    ['the same with its token', '99.50 usdc', [7]],
    ['an amount that came', '1.00', [3]],
    ['a tag', '#vip', [7]],
    ['the beginning of a tag, in other letters', '#ZÜ', [7]],
    ['a deposit address', '0x90f79bf6eb2c4f870365e785982e1f101e93b903', [3]],
    ['the beginning of a transaction', part.txHash.slice(0, 12), [3]],
    ['the same without its mark', part.txHash.slice(2, 14).toUpperCase(), [3]],
    ['a payment’s id', paymentIdOf(5), [5]],
    ['a null character and half a letter', '\0\ud800', []],
    ['the longest text that there is', 'x'.repeat(10_000), []],
  ];
  for (const [what, search, expected] of searches) {
    it(`match ${what}`, async () => {
      assert.deepEqual(numbers(await find({ search })), expected);
      assert.deepEqual(numbers(await find({ search, appId: 'wallet_other' })), []);
    });
  }

  it('are grouped and counted, whichever group is open', async () => {
    const { counts } = await find({});
    assert.deepEqual(counts, {
      all: 7,
      groups: { waiting: 3, paid: 1, needs: 3, expired: 1, refunded: 0 },
      needsCapped: false,
    });
    assert.deepEqual((await find({ group: 'needs' })).counts, counts);
    assert.deepEqual(numbers(await find({ group: 'needs' })), [6, 4, 3]);
    assert.deepEqual(numbers(await find({ group: 'waiting' })), [7, 3, 1]);
    assert.deepEqual(numbers(await find({ group: 'paid' })), [2]);
    assert.deepEqual((await find({ search: 'nc-' })).counts.groups, {
      waiting: 2,
      paid: 1,
      needs: 1,
      expired: 0,
      refunded: 0,
    });
  });

  it('are sorted by time and amount, page by page, each once', async () => {
    const walk = async (filter: Partial<FindFilter>): Promise<readonly number[]> => {
      const seen: number[] = [];
      let cursor: string | null | undefined;
      while (cursor !== null) {
        const page = await find(filter, { limit: 2, ...(cursor !== undefined && { cursor }) });
        seen.push(...numbers(page));
        cursor = page.nextCursor;
      }
      return seen;
    };
    assert.deepEqual(await walk({}), [7, 6, 5, 4, 3, 2, 1]);
    assert.deepEqual(await walk({ sort: 'oldest' }), [1, 2, 3, 4, 5, 6, 7]);
    assert.equal((await walk({ sort: 'largest' }))[0], 7);
    assert.equal((await walk({ sort: 'smallest' })).at(-1), 7);
    assert.deepEqual([...(await walk({ sort: 'smallest', group: 'needs' }))].sort(), [3, 4, 6]);
    for (const sort of ['newest', 'largest'] as const) {
      const forged = await findPayments(database, { appId, sort }, { limit: 2, cursor: 'bm9uZQ' });
      assert.ok(isRefusal(forged), sort);
    }
  });

  it('are summed up by token, due and received separately', async () => {
    const { sums } = await find({ search: 'nc-' });
    assert.deepEqual(sums, { count: 3, capped: false, tokens: [{ tokenSymbol: 'USDC', due: '30.03', came: '11.01' }] });
  });

  it('state the missing amount, and the held amount with its token', async () => {
    const of = async (search: string) => (await find({ search })).payments[0];
    assert.deepEqual((await of('NC-2000'))?.missing, '9.01');
    assert.deepEqual((await of('B_1%'))?.held, [{ chainId: 1, tokenSymbol: 'USDT', amount: '2.00' }]);
    const { holding, underpaid } = await paymentsInNeed(database, appId);
    assert.deepEqual(holding, {
      count: 2,
      sums: [
        { tokenSymbol: 'USDC', amount: '10.01' },
        { tokenSymbol: 'USDT', amount: '2.00' },
      ],
    });
    assert.deepEqual(numbers({ payments: underpaid }), [3]);
  });
});
