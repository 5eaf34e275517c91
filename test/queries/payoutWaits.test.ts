/** Whose payout is next, and why one is not signed. */
import assert from 'node:assert/strict';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { recentPayouts } from '../../queries/payouts.ts';
import { duePayments } from '../../queries/work.ts';
import { countPayoutWaits, notePayoutWait, payoutWaits } from '../../src/postgres/payoutWaits.ts';
import { paymentIdOf } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { givenReadModels } from './given.ts';

const of = (appId: string, history: readonly PaymentEvent[]): readonly PaymentEvent[] =>
  history.map((event) => (event.type === 'PaymentCreated' ? { ...event, data: { ...event.data, appId } } : event));

describe('payouts that wait', () => {
  const given = givenReadModels();

  it('are taken in turn of their apps: a backlog of one app delays no other', async () => {
    const busy = of('app_busy', p.paid);
    await given.payments(busy, busy, busy, of('app_other', p.paid));
    const steps = ['requestPayout', 'sign', 'broadcast'];
    const asked = { worker: 'payouts', chainIds: [1, 8453], steps, max: 2, now: p.minute(10) };
    const due = await duePayments(given.database, asked);
    assert.deepEqual(
      due.map(({ paymentId, appId }) => [paymentId, appId]),
      [
        [paymentIdOf(1), 'app_busy'],
        [paymentIdOf(4), 'app_other'],
      ],
    );
  });

  it('say what for, and since when, as long as they are to be signed', async () => {
    const { database } = given;
    await given.payments(p.paid, p.sent);
    await database.query("UPDATE todo_payments SET step = 'sign' WHERE payment_id = $1", [paymentIdOf(1)]);
    const wait = { chainId: 1, reason: 'float', message: 'top it up' };
    for (const paymentId of [paymentIdOf(1), paymentIdOf(2)])
      await notePayoutWait(database, { ...wait, paymentId }, p.minute(6));
    await notePayoutWait(database, { ...wait, paymentId: paymentIdOf(1), message: 'still' }, p.minute(7));
    const asked = [paymentIdOf(1), paymentIdOf(2)];
    const expected = { ...wait, paymentId: paymentIdOf(1), message: 'still', since: p.minute(6) };
    assert.deepEqual(await payoutWaits(database, asked), [expected]);
    await notePayoutWait(database, { ...wait, paymentId: paymentIdOf(1), reason: 'appPerHour' }, p.minute(8));
    const [{ reason, count } = assert.fail()] = await countPayoutWaits(database);
    assert.deepEqual([reason, Number(count)], ['appPerHour', 1]);
    assert.equal((await payoutWaits(database, asked))[0]?.since, p.minute(8));
  });

  it('are not among those that take of the hour; what is signed or was settled in it is', async () => {
    await given.payments(p.paid, p.sent, p.done);
    const taken = async (since: Parameters<typeof p.minute>[0]) =>
      (await recentPayouts(given.database, { since: p.minute(since), max: 10 })).map(({ paymentId }) => paymentId);
    assert.deepEqual(await taken(0), [paymentIdOf(2), paymentIdOf(3)]);
    assert.deepEqual(await taken(59), [paymentIdOf(2)]);
  });
});
