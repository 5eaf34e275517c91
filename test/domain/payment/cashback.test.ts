import assert from 'node:assert/strict';
import fc from 'fast-check';
import { fold } from '../../../domain/decider.ts';
import { earningsOf } from '../../../domain/payment/cashback.ts';
import { createPayment } from '../../../domain/payment/create.ts';
import type { PaymentEvent, Transfer } from '../../../domain/payment/events.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import * as p from '../../support/payments.ts';

const other = p.treasuryAccount;

/** A payment with this cashback, paid by these transfers. */
function paidBy(basisPoints: number, transfers: readonly Transfer[], amounts: Parameters<typeof p.funded>[1]) {
  const sketch = { ...p.terms({ from: amounts?.source ?? p.baseUsdc }), cashback_basisPoints: basisPoints };
  const created = createPayment(null, sketch) as readonly PaymentEvent[];
  const events = [...created, ...transfers.map((each) => p.confirmed(each)), p.funded(transfers, amounts)];
  const payment = fold(paymentDecider, events);
  assert.ok(payment);
  return earningsOf(payment).map(({ account, cents }) => [account, cents]);
}

describe('the credit of a completed payment', () => {
  it('is the promised share of the payment, in whole cents', () => {
    assert.deepEqual(paidBy(250, [p.payin()], {}), [[p.customerWallet, 25n]]);
    assert.deepEqual(paidBy(10_000, [p.payin()], {}), [[p.customerWallet, 1001n]]);
  });

  it('is nothing without a promise, or below a cent', () => {
    assert.deepEqual(paidBy(0, [p.payin()], {}), []);
    assert.deepEqual(paidBy(9, [p.payin()], {}), []);
  });

  it('counts no surplus', () =>
    assert.deepEqual(paidBy(250, [p.payin({ amount: '110.01' })], { received: '110.01', excess: '100' }), [
      [p.customerWallet, 25n],
    ]));

  it('is divided among the payers by their amounts; a payer of several transfers has one part', () => {
    const transfers = [
      p.payin({ tx: 'a', amount: '4.00' }),
      { ...p.payin({ tx: 'b', amount: '5.01' }), from: other },
      p.payin({ tx: 'c', amount: '1.00' }),
    ];
    assert.deepEqual(paidBy(1_000, transfers, {}), [
      [p.customerWallet, 50n],
      [other, 50n],
    ]);
  });

  it('is computed in cents whatever the token’s decimals', () => {
    const amounts = { source: p.bnbUsdc };
    assert.deepEqual(paidBy(250, [p.payin({ in: p.bnbUsdc })], amounts), [[p.customerWallet, 25n]]);
    assert.deepEqual(paidBy(250, [p.payin({ in: p.stellarUsdc })], { source: p.stellarUsdc }), [
      [p.customerWallet, 25n],
    ]);
  });

  it('is never more than the share of the whole, however many pay it', () =>
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 500_000_000 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 10_000 }),
        (parts, basisPoints) => {
          const decimal = (units: number) => (units / 1_000_000).toFixed(6);
          const transfers = parts.map((part, n) => ({
            ...p.payin({ tx: `${n}`, amount: decimal(part) }),
            from: n % 3 === 0 ? other : p.customerWallet,
          }));
          const sum = parts.reduce((all, part) => all + part, 0);
          const amounts = { received: decimal(sum), sourceAmount: decimal(sum) };
          const cents = paidBy(basisPoints, transfers, amounts).reduce((all, [, each]) => all + Number(each), 0);
          assert.ok(cents <= (sum * basisPoints) / 10_000 / 10_000);
        },
      ),
    ));
});
