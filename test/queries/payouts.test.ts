import assert from 'node:assert/strict';
import type { UnmatchedEvent } from '../../domain/unmatched.ts';
import { openObligations, openPayouts, openPromises } from '../../queries/payouts.ts';
import { owedCoin } from '../../queries/treasury.ts';
import { append, paymentIdOf } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { givenReadModels } from './given.ts';

const second = p.payin({ amount: '3.00', tx: 'second' });

describe('payouts', () => {
  const given = givenReadModels();

  it('sums the owed money per chain and token: the agreed money detected, payout not settled', async () => {
    const toBnb = p.created({ to: p.bnbUsdc });
    const short = [...p.unpaid, p.detected(p.payin({ amount: '0.01' }))];
    await given.payments(p.unpaid, short, [...p.unpaid, p.detected()], p.sent, p.done, [toBnb, p.detected()]);
    const owed = (await openObligations(given.database)).toSorted((a, b) => a.chainId - b.chainId);
    assert.deepEqual(owed, [
      { chainId: 1, tokenAddress: p.ethereumUsdc.token.address, amount: p.of('20.00', p.ethereumUsdc) },
      { chainId: 56, tokenAddress: p.bnbUsdc.token.address, amount: p.of('10.00', p.bnbUsdc) },
    ]);
  });

  it('sums the money to refund to payers, of payments and of unmatched money', async () => {
    const back = p.payin({ amount: '7.50', in: p.stellarUsdc });
    const unmatched: readonly UnmatchedEvent[] = [
      { type: 'UnmatchedPayinSeen', data: { transfer: back, seenAt: p.minute(6) } },
      {
        type: 'UnmatchedPayinRefundRequested',
        data: {
          receiverAddress: 'GPAYER',
          receiverMemo: null,
          reason: 'a gift',
          networkFee: '1',
          requestedAt: p.minute(7),
        },
      },
    ];
    await append(given.world, 'unmatched-1', unmatched);
    const paidTwice = [...p.done, p.detected(second), p.confirmed(second)];
    const signing = p.refundAttempt(1, '3.00');
    const underway = [...paidTwice, p.refundRequested('3.00'), p.refundSigned(1, signing)];
    await given.payments(p.done, paidTwice, underway, [...underway, p.refundSettled(1, signing)]);
    assert.deepEqual(
      (await openObligations(given.database)).toSorted((a, b) => a.chainId - b.chainId),
      [
        { chainId: 1500, tokenAddress: p.stellarUsdc.token.address, amount: p.of('7.50', p.stellarUsdc) - 1n },
        { chainId: 8453, tokenAddress: p.baseUsdc.token.address, amount: p.of('3.00') },
      ],
    );
    assert.equal((await owedCoin(given.database, 8453)).payouts, 1);
  });

  it('sums the promises of open payments, by the app whose key created them', async () => {
    const stranger = [p.created({ keyless: true }), p.detected(p.payin({ amount: '0.01' }))];
    await given.payments(p.unpaid, stranger, p.unpaid, [...p.unpaid, p.detected()], p.sent, p.done);
    const route = { chainId: 1, tokenAddress: p.ethereumUsdc.token.address };
    const promised = (await openPromises(given.database)).toSorted((a) => (a.appId === null ? 1 : -1));
    assert.deepEqual(promised, [
      { ...route, appId: p.terms().appId, amount: p.of('20.00', p.ethereumUsdc) },
      { ...route, appId: null, amount: p.of('10.00', p.ethereumUsdc) },
    ]);
  });

  it('names payouts that are not settled, including short ones', async () => {
    await given.payments(p.unpaid, p.paid, p.sent, p.done, [...p.sent, p.short('0')]);
    const found = await openPayouts(given.database, 5);
    assert.deepEqual(found.map(({ paymentId }) => paymentId).sort(), [2, 3, 5].map(paymentIdOf));
  });
});
