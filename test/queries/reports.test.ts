import assert from 'node:assert/strict';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { transactionsOf } from '../../domain/payment/transactions.ts';
import { type Instant, instant } from '../../domain/time.ts';
import { reportsSet } from '../../projections/sets.ts';
import { getStats, listTransactions } from '../../queries/reports.ts';
import type { Database } from '../../src/postgres/database.ts';
import { append, createWorld, type World } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';

describe('reports', () => {
  let database: Database;
  let world: World;
  let payments = 0;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(() => {
    world = createWorld();
  });

  const project = async () => void (await fill(database, world.store, reportsSet, [await wholeLog(world.store)]));
  const pay = async ([first, ...rest]: readonly PaymentEvent[]): Promise<string> => {
    payments += 1;
    const paymentId = `0198f3c2-0000-8000-8000-${String(payments).padStart(12, '0')}`;
    await append(world, `payment-${paymentId}`, [
      { ...first, data: { ...first?.data, paymentId } } as PaymentEvent,
      ...rest,
    ]);
    return paymentId;
  };

  describe('statistics', () => {
    const at = (text: string) => instant(Date.parse(text));
    const now = at('2026-11-21T18:30:00Z');
    const stats = (period: 'today' | '7d' | '30d', when: Instant = now) =>
      getStats(database, 'wallet_demo', period, when);
    const payout = (confirmedAt: Instant, sketch: p.TermsSketch = {}) => {
      const history = [p.created(sketch), ...p.sent.slice(1)];
      return pay([...history, p.event('PayoutConfirmed', { ...p.landed(p.attempt()), confirmedAt })]);
    };

    it('sum up refunds, by the time of their finality, and subtract them when their block leaves', async () => {
      const back = p.refundAttempt(1, '2.44');
      const held = [p.created(), p.confirmed(p.payin({ amount: '3.00' })), p.bounced('amountTooLow', '3.00')];
      const sent = [...held, p.refundRequested('2.44', { networkFee: '0.05' }), p.refundSigned(1, back)];
      await pay(sent);
      const id = await pay([...sent, p.refundSettled(1, back)]);
      await project();
      assert.equal((await stats('today', p.minute(10))).refundedUsdc, '2.44');
      const { hash, blockHash } = p.landed(back);
      await append(world, `payment-${id}`, [p.event('RefundOrphaned', { refund: 1, attempt: 1, hash, blockHash })]);
      await project();
      assert.equal((await stats('today', p.minute(10))).refundedUsdc, '0.00');
    });

    it('count payments on the UTC day of their confirmed payout, days without any included', async () => {
      await payout(at('2026-11-21T00:00:00Z'));
      await payout(at('2026-11-21T18:29:59Z'));
      await payout(at('2026-11-20T23:59:59Z'));
      await payout(at('2026-11-15T00:00:00Z'));
      await payout(at('2026-11-14T23:59:59Z'));
      await pay(p.sent);
      await project();

      const today = { date: '2026-11-21', volumeUsdc: '20.02', paymentCount: 2 };
      assert.deepEqual(await stats('today'), {
        period: 'today',
        volumeUsdc: '20.02',
        paymentCount: 2,
        avgOrderUsdc: '10.01',
        netToWalletUsdc: '20.00',
        refundedUsdc: '0.00',
        chart: [today],
      });
      const week = await stats('7d');
      assert.deepEqual([week.volumeUsdc, week.paymentCount, week.netToWalletUsdc], ['40.04', 4, '40.00']);
      assert.deepEqual(
        week.chart.map(({ date, paymentCount }) => `${date} ${paymentCount}`),
        [
          '2026-11-15 1',
          '2026-11-16 0',
          '2026-11-17 0',
          '2026-11-18 0',
          '2026-11-19 0',
          '2026-11-20 1',
          '2026-11-21 2',
        ],
      );
      assert.deepEqual(week.chart[1], { date: '2026-11-16', volumeUsdc: '0.00', paymentCount: 0 });
      const month = await stats('30d');
      assert.deepEqual([month.chart.length, month.chart[0]?.date, month.paymentCount], [30, '2026-10-23', 5]);
    });

    it('take the average to six decimals', async () => {
      await payout(at('2026-11-21T10:00:00Z'));
      await payout(at('2026-11-21T10:00:00Z'));
      const other = [
        p.created(),
        p.detected(),
        p.confirmed(),
        p.funded([p.payin()], { sourceAmount: '10.02' }),
        ...p.sent.slice(4),
      ];
      await pay([
        ...other,
        p.event('PayoutConfirmed', { ...p.landed(p.attempt()), confirmedAt: at('2026-11-21T11:00:00Z') }),
      ]);
      await project();
      assert.equal((await stats('today')).avgOrderUsdc, '10.013333');
    });

    it('forget a payout that left its chain', async () => {
      await pay([...p.done, p.unsettled()]);
      await project();
      const none = await stats('today');
      assert.deepEqual([none.volumeUsdc, none.paymentCount, none.avgOrderUsdc], ['0.00', 0, '0.00']);
    });

    it('concern the app alone, and are all zeros without payments', async () => {
      await pay(p.done);
      await project();
      const other = await getStats(database, 'wallet_other', '7d', now);
      assert.deepEqual(
        [other.volumeUsdc, other.paymentCount, other.netToWalletUsdc, other.chart.length],
        ['0.00', 0, '0.00', 7],
      );
    });
  });

  it('list a payment’s transfers as its view does', async () => {
    const paymentId = await pay([
      ...p.done.slice(0, 2),
      p.detected(p.payin({ tx: 'second', in: p.bnbUsdc })),
      ...p.done.slice(2),
    ]);
    await project();
    const events = (await world.store.read(`payment-${paymentId}`)).map(
      ({ type, data }) => ({ type, data }) as PaymentEvent,
    );
    const found = await listTransactions(database, paymentId);
    const key = (row: { kind: string; txHash: string }) => `${row.kind} ${row.txHash}`;
    const sorted = <T extends { kind: string; txHash: string }>(rows: readonly T[]) =>
      rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
    assert.deepEqual(sorted(found), sorted(transactionsOf(p.paymentAfter(events))));
    assert.equal(found.length, 3);
  });
});
