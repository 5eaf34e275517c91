/** The next transfers, and the amounts that earlier ones claim of the treasury and of an hour's limits. */
import assert from 'node:assert/strict';
import { Unavailable } from '../../commands/ports.ts';
import { BroadcastRefused } from '../../commands/transferPorts.ts';
import type { ChainId } from '../../domain/chains.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { referenceOf } from '../../domain/transfer/shapes.ts';
import {
  type DueTransfers,
  dueTransfers,
  recentTransfers,
  settledTransfers,
  unsettledOf,
} from '../../queries/transfers.ts';
import { ChainUnavailable, RpcFailed } from '../../src/chains/evm/rpc.ts';
import { createFailures } from '../../src/postgres/failures.ts';
import { paymentIdOf } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { givenReadModels } from './given.ts';

const of = (appId: string, history: readonly PaymentEvent[]): readonly PaymentEvent[] =>
  history.map((event) => (event.type === 'PaymentCreated' ? { ...event, data: { ...event.data, appId } } : event));

describe('outgoing transfers', () => {
  const given = givenReadModels();

  const due = async (more: Partial<DueTransfers> = {}) => {
    const asked = { worker: 'payouts', chainId: 1, max: 10, now: p.minute(10), ...more } as const;
    return (await dueTransfers(given.database, asked)).map(({ key }) => referenceOf(key));
  };

  it('are due for their next step; finished and held ones are not', async () => {
    await given.payments(p.unpaid, p.paid, p.sent, p.done, [...p.ordered, p.held()]);
    assert.deepEqual((await due()).sort(), [paymentIdOf(2), paymentIdOf(3)]);
    assert.deepEqual(await due({ chainId: 8453 }), []);
    assert.equal((await due({ max: 1 })).length, 1);
  });

  it('include refunds, on the chain of the money', async () => {
    const bounced = [...p.unpaid, p.detected(), p.confirmed(), p.bounced('amountTooLow', '10.01')];
    const ordered = [...bounced, p.refundRequested('10.01')];
    const signing = p.refundAttempt(1, '10.01');
    await given.payments(
      ordered,
      [...ordered, p.refundSigned(1, signing)],
      [...ordered, p.refundSigned(1, signing), p.refundSettled(1, signing)],
    );
    const refund = (n: number) => `${paymentIdOf(n)}/refund-1`;
    assert.deepEqual((await due({ chainId: 8453 })).sort(), [refund(1), refund(2)]);
    const settled = await settledTransfers(given.database, { chainId: 8453, since: p.minute(0), max: 5 });
    assert.deepEqual(
      settled.map(({ key }) => referenceOf(key)),
      [refund(3)],
    );
  });

  it('exclude waiting and parked ones after a failure, for that worker alone', async () => {
    await given.payments(p.paid, p.paid);
    const failures = createFailures(given.database, { attemptsMax: 2 });
    await failures.failed('payouts', paymentIdOf(1), new Error('no'), p.minute(10));
    assert.deepEqual(await due(), [paymentIdOf(2)]);
    assert.equal((await due({ worker: 'other' })).length, 2);
    assert.equal((await due({ now: p.minute(11) })).length, 2);

    await failures.failed('payouts', paymentIdOf(1), new Error('no'), p.minute(11));
    assert.deepEqual(await due({ now: p.minute(9_999) }), [paymentIdOf(2)]);
    assert.ok(await failures.unpark('payouts', paymentIdOf(1), p.minute(10)));
    assert.equal((await due()).length, 2);
  });

  it('never exclude transfers that wait for a chain or a store, however often they are tried', async () => {
    await given.payments(p.paid);
    const failures = createFailures(given.database, { attemptsMax: 2 });
    const outages = [
      new Unavailable('away'),
      new ChainUnavailable(8453, []),
      new RpcFailed('node 1', 'eth_call', 'unreachable', 'timed out'),
      new BroadcastRefused('fee below the base fee'),
    ];
    for (const [minute, outage] of [...outages, ...outages].entries()) {
      await failures.failed('payouts', paymentIdOf(1), outage, p.minute(minute));
      assert.deepEqual(await due({ now: p.minute(minute) }), []);
      assert.deepEqual(await due({ now: p.minute(minute + 1) }), [paymentIdOf(1)]);
    }
  });

  it('are due in turn of their apps: a backlog of one app delays no other', async () => {
    const busy = of('app_busy', p.paid);
    await given.payments(busy, busy, busy, of('app_other', p.paid));
    const due = await dueTransfers(given.database, { worker: 'payouts', chainId: 1, max: 2, now: p.minute(10) });
    assert.deepEqual(
      due.map(({ key, appId }) => [key.id, appId]),
      [
        [paymentIdOf(1), 'app_busy'],
        [paymentIdOf(4), 'app_other'],
      ],
    );
  });

  it('are not among those that use the hour’s limit; signed and recently settled ones are', async () => {
    await given.payments(p.paid, p.sent, p.done);
    const taken = async (since: Parameters<typeof p.minute>[0]) =>
      (await recentTransfers(given.database, { since: p.minute(since), max: 10 })).map(({ key }) => key.id);
    assert.deepEqual(await taken(0), [paymentIdOf(2), paymentIdOf(3)]);
    assert.deepEqual(await taken(59), [paymentIdOf(2)]);
  });

  it('sum a token’s use by signed payouts, without named ones, or ones that have landed short', async () => {
    await given.payments(p.sent, p.sent, p.done, p.ordered, [...p.sent, p.short('9.90')]);
    const { token } = p.ethereumUsdc;
    const sum = (but: string[], chainId: 1 | 56 = 1) => unsettledOf(given.database, { chainId, token, but });
    assert.equal(await sum([]), p.of('20.00', p.ethereumUsdc));
    assert.equal(await sum([paymentIdOf(1)]), p.of('10.00', p.ethereumUsdc));
    assert.equal(await sum([paymentIdOf(1), paymentIdOf(2)]), 0n);
  });

  it('names the payouts of a chain that were settled lately', async () => {
    await given.payments(p.sent, p.done);
    const settled = (since: number, chainId: ChainId = 1) =>
      settledTransfers(given.database, { chainId, since: p.minute(since), max: 5 });
    assert.deepEqual(await settled(8), [
      { key: { kind: 'payout', id: paymentIdOf(2), part: 1 }, appId: p.terms().appId },
    ]);
    assert.deepEqual(await settled(9), []);
    assert.deepEqual(await settled(8, 8453), []);
  });
});
