import assert from 'node:assert/strict';
import { nextStep } from '../../../domain/payment/backing.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import {
  attempt,
  bounced,
  confirmed,
  detected,
  died,
  done,
  expired,
  expires_at,
  feeCaps,
  held,
  minute,
  ordered,
  orphaned,
  paid,
  payin,
  lost as payinLost,
  paymentAfter,
  retried,
  sent,
  signed,
  unpaid,
  unsettled,
} from '../../support/payments.ts';

const step = (history: readonly PaymentEvent[], now = minute(10)) => nextStep(paymentAfter(history), now);

describe('the next step', () => {
  it('is none without a payment', () => assert.deepEqual(nextStep(null, minute(0)), { do: 'done' }));

  it('is to wait until the end of its time while a payment is not funded', () => {
    for (const history of [unpaid, [...unpaid, detected()], [...unpaid, confirmed(payin({ amount: '1.00' }))]]) {
      assert.deepEqual(step(history), { do: 'wait', until: expires_at });
      assert.deepEqual(step(history, expires_at), { do: 'wait', until: expires_at });
    }
  });

  it('is to expire right after', () => {
    assert.deepEqual(step(unpaid, minute(60.001)), { do: 'expire' });
    assert.deepEqual(step([...unpaid, detected()], minute(61)), { do: 'expire' });
  });

  it('is to order the payout of a funded one, however late it is by our clock', () => {
    assert.deepEqual(step(paid, minute(600)), { do: 'order' });
  });

  it('is to hold while the money is off its chain and nothing is signed, and to continue when as much is final again', () => {
    const lost = [orphaned(), payinLost()];
    assert.deepEqual(step([...paid, ...lost]), { do: 'hold' });
    assert.deepEqual(step([...ordered, ...lost]), { do: 'hold' });
    assert.deepEqual(step([...ordered, ...lost, detected()]), { do: 'hold' });
    const less = payin({ amount: '10.00' });
    assert.deepEqual(step([...ordered, ...lost, detected(less), confirmed(less)]), { do: 'hold' });
    assert.deepEqual(step([...ordered, ...lost, detected(), confirmed()]), { do: 'sign' });
    assert.equal(step([...sent, ...lost]).do, 'broadcast');
    assert.deepEqual(step([...sent, ...lost, died()]), { do: 'hold' });
  });

  it('is to hold on an operator’s order, and to send signed transactions nevertheless', () => {
    assert.deepEqual(step([...ordered, held()]), { do: 'hold' });
    assert.deepEqual(step([...ordered, held(), retried()]), { do: 'sign' });
    assert.equal(step([...sent, held()]).do, 'broadcast');
  });

  it('is to sign an order, and again after every attempt died', () => {
    assert.deepEqual(step(ordered), { do: 'sign' });
    assert.deepEqual(step([...sent, died()]), { do: 'sign' });
  });

  it('is to send every attempt that can still land, until one has', () => {
    const bump = attempt(2, { fee: feeCaps(113) });
    assert.deepEqual(step(sent), { do: 'broadcast', attempts: [attempt()] });
    assert.deepEqual(step([...sent, signed(bump)]), { do: 'broadcast', attempts: [attempt(), bump] });
    assert.deepEqual(step([...sent, signed(bump), died(1)]), { do: 'broadcast', attempts: [bump] });
    assert.deepEqual(step(done), { do: 'done' });
  });

  it('is to send an attempt again that left the chain', () => {
    assert.deepEqual(step([...done, unsettled()]), { do: 'broadcast', attempts: [attempt()] });
  });

  it('is none once the payment is closed', () => {
    assert.deepEqual(step([...unpaid, expired()], minute(600)), { do: 'done' });
    assert.deepEqual(step([...ordered, bounced('payoutImpossible', '10.01')]), { do: 'done' });
  });
});
