import assert from 'node:assert/strict';
import { openObligations, openPayouts, openPromises } from '../../queries/payouts.ts';
import { paymentIdOf } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { givenReadModels } from './given.ts';

describe('payouts', () => {
  const given = givenReadModels();

  it('sums what is owed per chain and token: the agreed money seen, payout not settled', async () => {
    const toBnb = p.created({ to: p.bnbUsdc });
    const short = [...p.unpaid, p.detected(p.payin({ amount: '0.01' }))];
    await given.payments(p.unpaid, short, [...p.unpaid, p.detected()], p.sent, p.done, [toBnb, p.detected()]);
    const owed = (await openObligations(given.database)).toSorted((a, b) => a.chainId - b.chainId);
    assert.deepEqual(owed, [
      { chainId: 1, tokenAddress: p.ethereumUsdc.token.address, amount: p.of('20.00', p.ethereumUsdc) },
      { chainId: 56, tokenAddress: p.bnbUsdc.token.address, amount: p.of('10.00', p.bnbUsdc) },
    ]);
  });

  it('sums what open payments promise, by the app whose key created them', async () => {
    const stranger = [p.created({ keyless: true }), p.detected(p.payin({ amount: '0.01' }))];
    await given.payments(p.unpaid, stranger, p.unpaid, [...p.unpaid, p.detected()], p.sent, p.done);
    const route = { chainId: 1, tokenAddress: p.ethereumUsdc.token.address };
    const promised = (await openPromises(given.database)).toSorted((a) => (a.appId === null ? 1 : -1));
    assert.deepEqual(promised, [
      { ...route, appId: p.terms().appId, amount: p.of('20.00', p.ethereumUsdc) },
      { ...route, appId: null, amount: p.of('10.00', p.ethereumUsdc) },
    ]);
  });

  it('names payouts that are not settled, those that fell short among them', async () => {
    await given.payments(p.unpaid, p.paid, p.sent, p.done, [...p.sent, p.short('0')]);
    const found = await openPayouts(given.database, 5);
    assert.deepEqual(found.map(({ paymentId }) => paymentId).sort(), [2, 3, 5].map(paymentIdOf));
  });
});
