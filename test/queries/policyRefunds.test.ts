import assert from 'node:assert/strict';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { recordPayin } from '../../domain/payment/payins.ts';
import { duePolicyRefunds } from '../../queries/work.ts';
import { creditSpent } from '../support/creditSpent.ts';
import { append, paymentIdOf } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { givenReadModels } from './given.ts';

/** An overpaid payment, whose app's policy refunds the excess. */
function overpaid(tx: string): readonly PaymentEvent[] {
  const created = p.created({ policy: { over: 'refund' } });
  const seen = { transfer: p.payin({ amount: '12.01', tx }), final: true, now: p.minute(6) };
  const events = recordPayin(p.paymentAfter([created]), seen);
  return Array.isArray(events) ? [created, ...events] : assert.fail('it is recorded');
}

describe('refunds by policies', () => {
  const given = givenReadModels();
  const due = () => duePolicyRefunds(given.database, { worker: 'policyRefunds', max: 9, now: p.minute(90) });

  it('are due if a sender has signed an address', async () => {
    await given.payments(overpaid('one'), [...overpaid('two'), p.refundAddressSet()], p.done);
    assert.deepEqual(await due(), [{ paymentId: paymentIdOf(2), proven: true }]);
  });

  it('are due if a sender has paid by credit at any time; not if they have only earned', async () => {
    await given.payments(overpaid('one'));
    const [earned, spent] = creditSpent(p.customerWallet);
    await append(given.world, `credit-${p.customerWallet}`, earned ? [earned] : []);
    await given.project();
    assert.deepEqual(await due(), []);
    await append(given.world, `credit-${p.customerWallet}`, spent ? [spent] : []);
    await given.project();
    assert.deepEqual(await due(), [{ paymentId: paymentIdOf(1), proven: false }]);
  });
});
