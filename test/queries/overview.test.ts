import assert from 'node:assert/strict';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { type Instant, instant, plus } from '../../domain/time.ts';
import { reportsSet } from '../../projections/sets.ts';
import { roundedUp } from '../../projections/stats.ts';
import { getOverview } from '../../queries/reports.ts';
import type { Database } from '../../src/postgres/database.ts';
import { append, createWorld, type World } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';

const at = (text: string): Instant => instant(Date.parse(text));
const now = at('2026-11-21T18:30:00Z');

describe('an app’s overview', () => {
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
  const pay = async ([first, ...rest]: readonly PaymentEvent[], createdAt: Instant = p.created_at): Promise<void> => {
    payments += 1;
    const paymentId = `0198f3c2-0000-8000-8000-${String(payments).padStart(12, '0')}`;
    const data = { ...first?.data, paymentId, createdAt };
    await append(world, `payment-${paymentId}`, [{ ...first, data } as PaymentEvent, ...rest]);
  };
  /** A payment that was detected at a time and paid out this many seconds later. */
  const took = (seconds: number, seenAt: Instant = p.minute(5)) => {
    const transfer = p.payin({ at: seenAt });
    const settled = p.event('PayoutConfirmed', {
      ...p.landed(p.attempt()),
      confirmedAt: plus(seenAt, seconds * 1_000),
    });
    return pay([
      p.created(),
      p.detected(transfer),
      p.confirmed(transfer),
      p.funded([transfer]),
      ...p.sent.slice(4),
      settled,
    ]);
  };
  const overview = (period: 'today' | '7d' | '30d' = 'today', app = 'wallet_demo') =>
    getOverview(database, app, period, now);

  it('counts the payments created in the period by their present status', async () => {
    await pay(p.unpaid);
    await pay([...p.unpaid, p.expired()]);
    await pay([...p.unpaid, p.detected(), p.expired(), p.confirmed(), p.bounced('latePayin', '10.01')]);
    await pay(p.paid);
    await pay(p.done);
    await pay(p.done, at('2026-11-20T23:59:59.999Z'));
    await project();
    const { count, paid, expiredUnpaid, byStatus } = (await overview()).created;
    assert.deepEqual([count, paid, expiredUnpaid], [5, 2, 1]);
    assert.deepEqual(
      Object.entries(byStatus).filter(([, count]) => count > 0),
      [
        ['payment_unpaid', 1],
        ['payment_payin_completed', 1],
        ['payment_payout_completed', 1],
        ['payment_bounced', 1],
        ['payment_expired', 1],
      ],
    );
    assert.equal((await overview('7d')).created.count, 6);
  });

  it('states within how many seconds half of the payouts were made, and 95 of 100', async () => {
    for (const seconds of [10, 20, 24, 30, 61]) await took(seconds);
    await project();
    assert.deepEqual((await overview()).seenToPaidOut, { count: 5, median_s: 24, p95_s: 61 });
  });

  it('rounds durations up to two digits, and never below nothing', async () => {
    assert.deepEqual([0, 7, 99, 100, 101, 3_601, 99_999].map(roundedUp), [0, 7, 99, 100, 110, 3_700, 100_000]);
    await took(-5);
    await project();
    assert.equal((await overview()).seenToPaidOut?.median_s, 0);
  });

  it('forgets the duration of a payout that left its chain, or whose payin did', async () => {
    await pay([...p.done, p.unsettled()]);
    await pay([...p.done, p.orphaned(), p.lost()]);
    await project();
    assert.equal((await overview()).seenToPaidOut, null);
  });

  it('has the period before beside the period', async () => {
    await took(10, at('2026-11-20T10:00:00Z'));
    await took(10, at('2026-11-19T10:00:00Z'));
    await took(10, at('2026-11-14T23:00:00Z'));
    await project();
    const [today, week] = [await overview(), await overview('7d')];
    assert.deepEqual([today.stats.paymentCount, today.before], [0, { volumeUsdc: '10.01', paymentCount: 1 }]);
    assert.deepEqual([week.stats.paymentCount, week.before], [2, { volumeUsdc: '10.01', paymentCount: 1 }]);
  });

  it('belongs to the app, and is all zeros for an app without payments', async () => {
    await took(10);
    await project();
    const { stats, before, created, seenToPaidOut } = await overview('30d', 'wallet_other');
    assert.deepEqual([stats.paymentCount, before.paymentCount, created.count, created.paid], [0, 0, 0, 0]);
    assert.equal(seenToPaidOut, null);
  });
});
