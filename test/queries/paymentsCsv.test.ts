import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isRefusal } from '../../domain/decider.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import { hour_ms, type Instant, plus } from '../../domain/time.ts';
import { projectionSets } from '../../projections/sets.ts';
import { listPayments } from '../../queries/payments.ts';
import { type CsvFilter, paymentsCsv } from '../../queries/paymentsCsv.ts';
import { getStats, periodAt, type StatsPeriod } from '../../queries/reports.ts';
import type { Database } from '../../src/postgres/database.ts';
import { tableOf } from '../support/csv.ts';
import { append, appIdOf, createWorld, histories, play, type World } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';
import { isFull } from '../support/suite.ts';

const periods = ['today', '7d', '30d'] as const;
const apps = [appIdOf(0), appIdOf(1)];

/** Sum of decimal texts; empty ones count as zero. */
const sum = (amounts: readonly (string | null | undefined)[]): string => {
  const units = amounts.map((amount) => parseAmount(amount || '0', 18));
  return formatAmount(
    units.reduce<bigint>((all, each) => (typeof each === 'bigint' ? all + each : assert.fail()), 0n),
    18,
  );
};

describe('an app’s payments as CSV', () => {
  let database: Database;
  let world: World;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(() => {
    world = createWorld();
  });

  const project = async () => {
    const log = await wholeLog(world.store);
    for (const set of projectionSets) await fill(database, world.store, set, [log]);
  };
  const pieces = async (filter: CsvFilter, now: Instant): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const piece of paymentsCsv(database, filter, now)) found.push(piece);
    return found;
  };
  const text = async (filter: CsvFilter, now: Instant = world.clock.now()): Promise<string> =>
    (await pieces(filter, now)).join('');
  const table = async (filter: CsvFilter, now?: Instant) => tableOf(await text(filter, now));
  const pay = async (n: number, [first, ...rest]: readonly PaymentEvent[], more: object = {}) => {
    const paymentId = `0198f3c2-0000-8000-8000-${String(n).padStart(12, '0')}`;
    const data = { ...first?.data, paymentId, ...more };
    await append(world, `payment-${paymentId}`, [{ ...first, data } as PaymentEvent, ...rest]);
  };

  const listed = async (appId: string): Promise<readonly PaymentView[]> => {
    const page = await listPayments(database, { appId, limit: 100 });
    return isRefusal(page) ? assert.fail(page.message) : page.payments;
  };
  /** Compares the three results for a period. @returns the number of payments in it */
  const agreeing = async (appId: string, period: StatsPeriod): Promise<number> => {
    const now = world.clock.now();
    const { from, until } = periodAt(period, now);
    const paidOut = (await listed(appId)).filter(
      ({ payoutConfirmedAt }) => payoutConfirmedAt !== null && payoutConfirmedAt >= from && payoutConfirmedAt < until,
    );
    const rows = await table({ appId, period }, now);
    const stats = await getStats(database, appId, period, now);
    const [volume, net] = [
      sum(paidOut.map(({ sourceAmount }) => sourceAmount)),
      sum(paidOut.map(({ destinationAmount }) => destinationAmount)),
    ];
    assert.deepEqual([stats.paymentCount, stats.volumeUsdc, stats.netToWalletUsdc], [paidOut.length, volume, net]);
    assert.equal(sum(stats.chart.map(({ volumeUsdc }) => volumeUsdc)), volume);
    assert.deepEqual(
      [rows.length, sum(rows.map((row) => row['source_amount'])), sum(rows.map((row) => row['destination_amount']))],
      [paidOut.length, volume, net],
    );
    return paidOut.length;
  };

  it('agree with statistics and list in any situation: any type, token, refund, orphan and day', async () => {
    let counted = 0;
    await fc.assert(
      fc.asyncProperty(histories, fc.integer({ min: 0, max: 40 }), async (steps, hours) => {
        world = createWorld();
        for (const [index, step] of steps.entries()) {
          await play(world, step);
          if (index % 7 === 0) world.clock.advance(hours * hour_ms);
        }
        await project();
        for (const appId of apps) {
          for (const period of periods) counted += await agreeing(appId, period);
          assert.equal((await table({ appId })).length, (await listed(appId)).length);
        }
      }),
      { numRuns: isFull ? 12 : 4 },
    );
    assert.ok(counted > 0, 'nothing was paid out, so this says nothing');
  });

  it('have for each funded payment the whole received amount: payout, fee, excess and dust', async () => {
    const received = p.payin({ amount: '12.0100001', in: p.bnbUsdc });
    const split = {
      received: '12.0100001',
      excess: '2',
      dust: '0.0000001',
      source: p.bnbUsdc,
      rule: 'overpaid',
    } as const;
    const terms = p.created({ from: p.bnbUsdc });
    const history = [terms, p.detected(received), p.confirmed(received), p.funded([received], split)];
    const back = p.refundAttempt(1, '2.00', { to: p.bnbUsdc });
    await pay(1, [
      ...history,
      ...p.sent.slice(4),
      p.settled(),
      p.refundAddressSet(),
      p.refundRequested('2.00', { reason: 'excess', in: p.bnbUsdc }),
      p.refundSigned(1, back),
      p.refundSettled(1, back),
    ]);
    await project();
    const [row = {}] = await table({ appId: 'wallet_demo' });
    const { fee, excess, dust, refunded, destination_amount, payin_tx_hash, payout_tx_hash } = row;
    assert.deepEqual([fee, excess, dust, refunded], ['0.01', '2.00', '0.0000001', '2.00']);
    assert.equal(sum([destination_amount, fee, excess, dust]), '12.0100001');
    assert.deepEqual([payin_tx_hash, payout_tx_hash], [received.txHash, p.attempt().hash]);
    assert.deepEqual([row['source_chain'], row['destination_chain']], ['BNB Chain', 'Ethereum']);
    assert.deepEqual([row['created_at'], row['payin_seen_at']], [p.minute(0), p.minute(5)]);
  });

  it('are complete and without repeats, in pages, also where many payments share a time', async () => {
    const many = Array.from({ length: 1_103 }, (_, n) => n + 1);
    for (const n of many) await pay(n, n % 2 ? p.done : p.unpaid);
    await project();
    const ids = (rows: readonly Readonly<Record<string, string>>[]) =>
      rows.map((row) => Number(row['payment_id']?.slice(-12)));
    const all = await pieces({ appId: 'wallet_demo' }, p.minute(30));
    assert.equal(all.length, 3);
    assert.deepEqual(ids(tableOf(all.join(''))), many.toReversed());
    const paidOut = ids(await table({ appId: 'wallet_demo', period: '7d' }, p.minute(30)));
    assert.deepEqual(
      paidOut,
      many.filter((n) => n % 2),
    );
  });

  it('can be narrowed like a list', async () => {
    await pay(1, p.done, { orderId: 'A-1' });
    await pay(2, p.unpaid, { createdAt: p.minute(9) });
    await project();
    const count = async (more: object) => (await table({ appId: 'wallet_demo', ...more })).length;
    assert.deepEqual(
      await Promise.all([
        count({}),
        count({ status: 'payment_unpaid' }),
        count({ search: 'A-1' }),
        count({ orderId: 'A-1' }),
        count({ search: 'A' }),
        count({ find: { search: 'A' } }),
        count({ createdAfter: p.minute(5) }),
        count({ createdBefore: p.minute(5), status: 'payment_unpaid' }),
      ]),
      [2, 1, 1, 1, 0, 1, 1, 0],
    );
  });

  it('contain texts of strangers as texts', async () => {
    await pay(1, p.unpaid, {
      orderId: '=HYPERLINK("http://evil.example","pay")',
      display: { title: '+1;=2\r\n"x",=3', description: null, currency: null },
    });
    await project();
    const [row] = await table({ appId: 'wallet_demo' });
    assert.equal(row?.['order_id'], `'=HYPERLINK("http://evil.example","pay")`);
    assert.equal(row?.['title'], `'+1;'=2\r\n"x",'=3`);
  });

  it('contain the note and the tags of its people as texts', async () => {
    const note = '=1+1\n<b>@SUM(A1)</b>';
    await pay(1, [
      ...p.unpaid,
      p.event('PaymentAnnotated', { note, tags: ['vip', 'wholesale'], annotatedAt: p.minute(5) }),
    ]);
    await project();
    const [row] = await table({ appId: 'wallet_demo' });
    assert.equal(row?.['note'], `'=1+1\n<b>@SUM(A1)</b>`);
    assert.equal(row?.['tags'], 'vip wholesale');
  });

  it('belong to the app; without payments there is only the head', async () => {
    await pay(1, p.done);
    await project();
    for (const filter of [{ appId: 'wallet_other' }, { appId: 'wallet_other', period: '30d' }] as const) {
      const lines = (await text(filter, plus(p.minute(0), 1))).split('\r\n');
      assert.equal(lines.length, 2);
      assert.match(lines[0] ?? '', /^"payment_id","order_id",/);
    }
  });
});
