import assert from 'node:assert/strict';
import { openObligations, settledPayouts } from '../../queries/payouts.ts';
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

  it('names the payouts of a chain that were settled lately', async () => {
    await given.payments(p.sent, p.done);
    const settled = (since: number, chainId = 1) =>
      settledPayouts(given.database, { chainId, since: p.minute(since), max: 5 });
    assert.deepEqual(await settled(8), [{ paymentId: paymentIdOf(2) }]);
    assert.deepEqual(await settled(9), []);
    assert.deepEqual(await settled(8, 8453), []);
  });
});
