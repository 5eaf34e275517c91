/** From completed payments to credit, and from spendings to merchants: on real read models, which may be rebuilt at any time. */
import assert from 'node:assert/strict';
import { currentState, type Handle } from '../../commands/handle.ts';
import { Unavailable } from '../../commands/ports.ts';
import { cashback } from '../../domain/cashback.ts';
import { credit, earn, type SpendOrder, spend } from '../../domain/credit.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { cashbackAfter, dueCashback, dueCredits, getCashback } from '../../queries/cashback.ts';
import {
  cashbackWorker,
  cashbackWorkerName,
  creditsWorker,
  creditsWorkerName,
} from '../../src/workers/cashback/cashback.ts';
import { givenReadModels } from '../queries/given.ts';
import { paymentIdOf } from '../support/histories.ts';
import * as p from '../support/payments.ts';

const { signal } = new AbortController();
const buyer = p.customerWallet;

function promised(basisPoints: number): PaymentEvent {
  const created = p.created();
  assert.equal(created.type, 'PaymentCreated');
  return { type: 'PaymentCreated', data: { ...created.data, cashback_basisPoints: basisPoints } };
}

const paidOut = (basisPoints = 1_000): readonly PaymentEvent[] => [
  promised(basisPoints),
  p.confirmed(),
  p.funded(),
  p.payoutRequested(),
  p.signed(p.attempt(1)),
  p.settled(p.attempt(1)),
];

describe('credit of completed payments', () => {
  const given = givenReadModels();
  const worker = (caughtUp = async () => {}) =>
    creditsWorker({
      ...given.world,
      caughtUp,
      due: (max, now) => dueCredits(given.database, { worker: creditsWorkerName, max, now }),
    });
  const due = () => worker().due(100, given.world.clock.now());
  const balance_cents = async () => (await currentState(given.world.handle, credit, buyer)).balance_cents;

  it('is due once the payout is confirmed, and earned once however often it is tried', async () => {
    await given.payments(paidOut().slice(0, -1), paidOut());
    const items = await due();
    assert.deepEqual(
      items.map(({ paymentId, account, cents, basisPoints }) => [paymentId, account, cents, basisPoints]),
      [[paymentIdOf(2), buyer, 100n, 1_000]],
    );
    await Promise.all([...items, ...items].map((item) => worker().act(item, signal)));
    assert.equal(await balance_cents(), 100n);
    await given.project();
    assert.deepEqual(await due(), []);
    assert.deepEqual(await given.database.query('SELECT account, cents FROM credit_accounts'), [
      { account: buyer, cents: 100n },
    ]);
  });

  it('is not due for a payment that promised none, nor again after a second confirmation of its payout', async () => {
    const again = [p.unsettled(p.attempt(1)), p.settled(p.attempt(1), 300)];
    await given.payments([p.created(), ...paidOut().slice(1)], [...paidOut(), ...again]);
    const items = await due();
    assert.equal(items.length, 1);
    for (const item of items) await worker().act(item, signal);
    await given.project();
    assert.deepEqual(await due(), []);
  });

  it('is not given while the list may contain work that the log knows to be done', async () => {
    await given.payments(paidOut());
    const behind = worker(async () => {
      throw new Unavailable('the read models have not come so far');
    });
    await assert.rejects(async () => behind.due(100, given.world.clock.now()), { name: 'Unavailable' });
  });
});

describe('spendings of buyers', () => {
  const given = givenReadModels();
  let spendings = 0;
  const worker = (handle: Handle = given.world.handle) =>
    cashbackWorker({
      handle,
      clock: given.world.clock,
      due: (max, now) => dueCashback(given.database, { worker: cashbackWorkerName, max, now }),
      paymentsAfter: (appId, after) => cashbackAfter(given.database, appId, { after, max: 100 }),
    });
  const due = async () => (await worker().due(100, given.world.clock.now())).map(({ appId }) => appId);

  async function spent(appId: string, cents: bigint, more: Partial<SpendOrder> = {}): Promise<void> {
    const { handle, clock } = given.world;
    spendings += 1;
    const facts = { cause: 'worker:test', appId } as const;
    const earning = {
      account: buyer,
      paymentId: `p${spendings}`,
      appId,
      chainId: 8453,
      basisPoints: 1,
      cents,
    } as const;
    await handle(credit, buyer, (state) => earn(state, earning, clock.now()), facts);
    const order: SpendOrder = {
      account: buyer,
      appId,
      digest: spendings.toString(16).padStart(64, '0'),
      orderId: null,
      cents,
      amountLocal: null,
      currencyLocal: null,
      about: null,
      signedAt: clock.now(),
      ...more,
    };
    await handle(credit, buyer, (state) => spend(state, order, 'key', clock.now()).events, facts);
  }
  const account = (appId: string) => currentState(given.world.handle, cashback, appId);

  it('arrive in each merchant’s account, once, and show with all fields of the buyer', async () => {
    await spent('merchant_books', 90n, {
      orderId: 'order-1',
      amountLocal: '0.85',
      currencyLocal: 'EUR',
      about: 'Käse',
    });
    await spent('merchant_bakery', 7n);
    await spent('merchant_books', 10n);
    await given.project();
    assert.deepEqual((await due()).toSorted(), ['merchant_bakery', 'merchant_books']);
    for (const appId of await due()) await worker().act({ appId }, signal);
    await given.project();
    assert.deepEqual(await due(), []);

    const { payments, ...books } = await getCashback(given.database, 'merchant_books', 20);
    assert.deepEqual(books, { balance_cents: 100, received_cents: 100, withdrawn_cents: 0, received: 2 });
    const [, first] = payments.map(({ digest: _, spentAt: __, ...shown }) => shown);
    assert.deepEqual(first, {
      ordinal: 1n,
      account: buyer,
      cents: 90n,
      amountLocal: '0.85',
      currencyLocal: 'EUR',
      orderId: 'order-1',
      about: 'Käse',
    });
    assert.equal((await getCashback(given.database, 'merchant_bakery', 20)).balance_cents, 7);
    assert.equal((await getCashback(given.database, 'merchant_other', 20)).balance_cents, 0);
  });

  it('arrive once, too, from two concurrent workers, and from lists that are filled again', async () => {
    for (const cents of [1n, 2n, 3n, 4n]) await spent('merchant_books', cents);
    await given.project();
    const books = { appId: 'merchant_books' };
    await Promise.all([worker().act(books, signal), worker().act(books, signal)]);
    // Restores the rows of before: a late worker finds all of the work done.
    await worker().act(books, signal);
    await given.project();
    await worker().act(books, signal);
    const { received, balance_cents } = await account('merchant_books');
    assert.deepEqual([received, balance_cents], [4, '10']);
    assert.equal((await given.world.store.read('cashback-merchant_books')).length, 4);
  });

  it('continue where they were interrupted', async () => {
    for (const cents of [1n, 2n, 3n]) await spent('merchant_books', cents);
    await given.project();
    let appends = 0;
    const dying: Handle = async (...decision) => {
      if (decision[0].category === 'cashback' && appends++ === 2) throw new Error('the process ends here');
      return given.world.handle(...decision);
    };
    await assert.rejects(worker(dying).act({ appId: 'merchant_books' }, signal), /ends here/);
    assert.equal((await account('merchant_books')).received, 1);
    await worker().act({ appId: 'merchant_books' }, signal);
    const { received, received_cents } = await account('merchant_books');
    assert.deepEqual([received, received_cents], [3, '6']);
  });

  it('are conserved: earned credit equals the buyers’ balances and the merchants’ receipts', async () => {
    await spent('merchant_books', 50n);
    await spent('merchant_bakery', 25n, { cents: 20n });
    await given.project();
    for (const appId of await due()) await worker().act({ appId }, signal);
    await given.project();
    const [sums] = await given.database.query(
      'SELECT (SELECT sum(cents) FROM credit_accounts) AS left, (SELECT sum(balance_cents) FROM cashback_accounts) AS paid',
    );
    assert.deepEqual(sums, { left: '5', paid: '70' });
  });
});
