/** Refunds that an app funds by a payment of its own, and addresses that its people confirm. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isRefusal } from '../../../domain/decider.ts';
import { createPayment } from '../../../domain/payment/create.ts';
import type { PaymentEvent, PaymentEventData } from '../../../domain/payment/events.ts';
import { transferId } from '../../../domain/payment/events.ts';
import {
  endFundedRefund,
  type FundedRefundOrder,
  fundable,
  fundedRefundsMax,
  fundingOutcome,
  objectionToFunding,
  orderFundedRefund,
} from '../../../domain/payment/fundedRefund.ts';
import { confirmRefundAddress, withdrawRefundAddress } from '../../../domain/payment/refundAddress.ts';
import { requestRefunds } from '../../../domain/payment/refundOrder.ts';
import { evolve, type Payment, type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import * as p from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);
const exchange = p.customerWallet;
const customer = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const thief = '0x1111111111111111111111111111111111111111';
const day = 24 * 60;
const delay_ms = day * 60_000;

const paid = [p.created(), p.detected(), p.confirmed(), p.funded(), p.payoutRequested(), p.signed(p.attempt(1))];
const completed: readonly PaymentEvent[] = [...paid, p.settled(p.attempt(1))];
const signed = [...completed, p.refundAddressSet(customer)];

const idOf = (refund: number): string => `0198f3c2-0000-8000-8000-0000000000f${refund}`;
const asked = (change: Partial<FundedRefundOrder> = {}): FundedRefundOrder => ({
  ...{ sender: exchange, amount: p.of('4.00'), signers: [], note: null, key: 'key-1', fundingIdOf: idOf },
  ...change,
});
const ordered = (
  refund: number,
  amount: string,
  change: Partial<PaymentEventData<'FundedRefundOrdered'>> = {},
): PaymentEvent =>
  p.event('FundedRefundOrdered', {
    ...{ refund, fundingPaymentId: idOf(refund), chainId: 8453, token: p.baseUsdc.token },
    ...{ receiverAddress: customer, receiverMemo: null, amount: p.digits(amount) },
    ...{ proof: { sender: exchange, by: 'signature' }, requestKey: `key-${refund}`, requestedAt: p.minute(80) },
    ...change,
  });
const ended = (refund: number, outcome: 'paid' | 'unpaid') =>
  p.event('FundedRefundEnded', { refund, outcome, endedAt: p.minute(90) });
const order =
  (change?: Partial<FundedRefundOrder>, minute = 80) =>
  (state: PaymentState) =>
    orderFundedRefund(state, asked(change), p.minute(minute));
const fold = (events: readonly PaymentEvent[]): Payment => {
  const state = events.reduce<PaymentState>(evolve, null);
  assert.ok(state);
  return state;
};

describe('a refund of money that was paid out', () => {
  it('is ordered to the address that the sender has signed, once for a key', () => {
    given(signed)
      .when(order())
      .then([ordered(1, '4.00')]);
    given([...signed, ordered(1, '4.00')])
      .when(order())
      .thenNothing();
    given([...signed, ordered(1, '4.00')])
      .when(order({ amount: p.of('5.00') }))
      .thenRefused('orderConflict');
  });

  it('waits for one funding at a time, and can be ordered again after one that came to nothing', () => {
    given([...signed, ordered(1, '4.00')])
      .when(order({ key: 'key-2' }))
      .thenRefused('conflict', /refund 1 still waits/);
    given([...signed, ordered(1, '4.00'), ended(1, 'unpaid')])
      .when(order({ key: 'key-2', amount: p.of('10.01') }))
      .then([ordered(2, '10.01')]);
  });

  it('never exceeds what the sender paid, over all refunds', () => {
    given(signed)
      .when(order({ amount: p.of('10.02') }))
      .thenRefused('invalidRequest', /at most 10\.01/);
    given([...signed, ordered(1, '10.00'), ended(1, 'paid')])
      .when(order({ key: 'key-2', amount: p.of('0.02') }))
      .thenRefused('invalidRequest', /at most 0\.01/);
    given([...signed, ordered(1, '10.01'), ended(1, 'paid')])
      .when(order({ key: 'key-2', amount: 1n }))
      .thenRefused('conflict');
    for (const amount of [0n, -1n]) given(signed).when(order({ amount })).thenRefused('invalidRequest');
  });

  it('is not for money that the service holds, that is not paid out yet, or that was withdrawn', () => {
    given(paid).when(order()).thenRefused('illegalStep');
    given([p.created(), p.detected(), p.confirmed(), p.bounced('latePayin', '10.01')])
      .when(order())
      .thenRefused('illegalStep');
    given([]).when(order()).thenRefused('paymentNotFound');
  });

  it('goes to no address that nobody has proven, and to no other sender’s', () => {
    given(completed).when(order()).thenRefused('refundAddressUnproven');
    given(signed)
      .when(order({ sender: thief }))
      .thenRefused('conflict');
  });

  it('is not ordered for a refund itself: no chain of refunds moves one sum twice', () => {
    const [first, ...rest] = signed as [Extract<PaymentEvent, { type: 'PaymentCreated' }>, ...PaymentEvent[]];
    const refundOf = { paymentId: idOf(9), refund: 1 };
    given([p.event('PaymentCreated', { ...first.data, refundOf }), ...rest])
      .when(order())
      .thenRefused('illegalStep', /itself a refund/);
  });

  it(`is ordered at most ${fundedRefundsMax} times`, () => {
    const many = Array.from({ length: fundedRefundsMax }, (_, index) => [
      ordered(index + 1, '0.01'),
      ended(index + 1, 'unpaid'),
    ]).flat();
    given([...signed, ...many])
      .when(order({ key: 'one more' }))
      .thenRefused('conflict');
  });

  it('ends once, as paid or unpaid', () => {
    const end = (outcome: 'paid' | 'unpaid') => (state: PaymentState) =>
      endFundedRefund(state, { refund: 1, outcome, now: p.minute(90) });
    given([...signed, ordered(1, '4.00')])
      .when(end('paid'))
      .then([ended(1, 'paid')]);
    given([...signed, ordered(1, '4.00'), ended(1, 'paid')])
      .when(end('unpaid'))
      .thenRefused('illegalStep');
    given(signed).when(end('paid')).thenRefused('illegalStep');
  });

  it('never returns more than the price, whatever is asked and however it ends', () => {
    const step = fc.record({
      units: fc.bigInt({ min: -1n, max: 11_000_000n }),
      outcome: fc.constantFrom('paid' as const, 'unpaid' as const, null),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        let payment = fold(signed);
        for (const [index, { units, outcome }] of steps.entries()) {
          const decided = orderFundedRefund(payment, asked({ amount: units, key: `k${index}` }), p.minute(80));
          for (const event of isRefusal(decided) ? [] : decided) payment = evolve(payment, event) as Payment;
          const refund = payment.fundedRefunds.length;
          const end = outcome && endFundedRefund(payment, { refund, outcome, now: p.minute(81) });
          for (const event of !end || isRefusal(end) ? [] : end) payment = evolve(payment, event) as Payment;
          const given = payment.fundedRefunds.filter((each) => each.ended?.outcome !== 'unpaid');
          const sum = given.reduce((total, { amount }) => total + amount, 0n);
          assert.ok(sum <= p.of('10.01') && given.every(({ amount }) => amount > 0n), String(sum));
          const left = fundable(payment).reduce((total, { amount }) => total + amount, 0n);
          assert.equal(left, p.of('10.01') - sum);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('a payment that funds a refund', () => {
  const refunded = fold([...signed, ordered(1, '4.00')]);
  const terms = {
    ...p.terms({ from: p.baseUsdc, to: p.baseUsdc, amount: '4.00' }),
    paymentId: idOf(1),
    refundOf: { paymentId: refunded.terms.paymentId, refund: 1 },
  };
  const funding = (change: Partial<typeof terms> = {}): Payment => {
    const events = createPayment(null, { ...terms, ...change });
    return fold(isRefusal(events) ? assert.fail(events.message) : events);
  };
  const honest = { ...terms.destination, receiverAddress: customer };

  it('pays out exactly what the refunded payment has ordered', () => {
    assert.equal(objectionToFunding(funding({ destination: honest }), refunded), undefined);
    assert.equal(objectionToFunding(fold([p.created()]), null), undefined, 'a sale refunds nothing');
  });

  it('is refused another receiver, memo, amount, token, app, refund or payment', () => {
    const wrong: readonly Partial<typeof terms>[] = [
      { destination: { ...honest, receiverAddress: thief } },
      { destination: { ...honest, receiverMemo: '7' } },
      { destination: { ...honest, amount: p.of('4.01') } },
      { destination: { ...honest, ...p.ethereumUsdc } },
      { destination: honest, appId: 'wallet_other' },
      { destination: honest, refundOf: { paymentId: terms.refundOf.paymentId, refund: 2 } },
      { destination: honest, refundOf: { paymentId: idOf(7), refund: 1 } },
      { destination: honest, paymentId: idOf(2) },
    ];
    for (const change of wrong)
      assert.ok(objectionToFunding(funding(change), refunded), JSON.stringify(change.destination?.receiverAddress));
    assert.ok(objectionToFunding(funding({ destination: honest }), null));
  });

  it('is refused after the refund has ended without it, and above the price', () => {
    const own = funding({ destination: honest });
    assert.match(objectionToFunding(own, fold([...signed, ordered(1, '4.00'), ended(1, 'unpaid')])) ?? '', /has ended/);
    const forged = fold([...signed, ordered(1, '4.00'), ordered(2, '7.00')]);
    assert.match(objectionToFunding(own, forged) ?? '', /exceed/);
  });

  it('is refused for an address that no sender signed and nobody confirmed in time', () => {
    const own = funding({ destination: honest });
    assert.match(objectionToFunding(own, fold([...completed, ordered(1, '4.00')])) ?? '', /not proven/);
    const byMerchant = { proof: { sender: exchange, by: 'merchant' as const } };
    const confirmedAt = (minute: number) =>
      p.event('RefundAddressConfirmed', {
        ...{ number: 1, sender: exchange, transferId: transferId(p.payin()), address: customer, memo: null },
        ...{ confirmedBy: 'developer:ann', confirmedAt: p.minute(1), effectiveAt: p.minute(minute) },
      });
    const early = fold([...completed, confirmedAt(81), ordered(1, '4.00', byMerchant)]);
    assert.match(objectionToFunding(own, early) ?? '', /not proven/);
    const due = fold([...completed, confirmedAt(80), ordered(1, '4.00', byMerchant)]);
    assert.equal(objectionToFunding(own, due), undefined);
    const byCredit = ordered(1, '4.00', { proof: { sender: exchange, by: 'credit' } });
    assert.match(objectionToFunding(own, fold([...completed, byCredit])) ?? '', /not proven/);
  });

  it('has paid once its payout is final, and ends unpaid when it expires or bounces', () => {
    assert.equal(fundingOutcome(fold(paid)), null);
    assert.equal(fundingOutcome(fold(completed)), 'paid');
    const late = [p.created(), p.detected(), p.confirmed(), p.bounced('latePayin', '10.01')];
    assert.equal(fundingOutcome(fold(late)), 'unpaid');
  });
});

describe('a refund address that an owner confirms', () => {
  const toConfirm = { sender: exchange, transferId: transferId(p.payin()), address: customer, memo: null };
  const confirm =
    (change: Partial<typeof toConfirm> = {}, minute = 70) =>
    (state: PaymentState) =>
      confirmRefundAddress(state, {
        ...{ ...toConfirm, ...change },
        ...{ by: 'developer:ann', delay_ms, now: p.minute(minute) },
      });
  const confirmed = (number = 1, address = customer, minute = 70) =>
    p.event('RefundAddressConfirmed', {
      ...{ ...toConfirm, number, address, confirmedBy: 'developer:ann' },
      ...{ confirmedAt: p.minute(minute), effectiveAt: p.minute(minute + day) },
    });
  const withdrawn = p.event('RefundAddressWithdrawn', {
    number: 1,
    withdrawnBy: 'developer:otto',
    withdrawnAt: p.minute(75),
  });
  const held = [p.created(), p.detected(), p.confirmed(), p.bounced('latePayin', '10.01')];
  const refund =
    (minute: number, by: 'owner' | 'policy' = 'owner') =>
    (state: PaymentState) =>
      requestRefunds(state, p.refundOrder({ to: 'proven', by }), p.refundCost, p.minute(minute));

  it('is recorded with the person, once', () => {
    given(held).when(confirm()).then([confirmed()]);
    given([...held, confirmed()])
      .when(confirm({}, 71))
      .thenNothing();
  });

  it('is for senders of this payment alone', () => {
    given(held)
      .when(confirm({ sender: thief }))
      .thenRefused('invalidRequest');
    given(held)
      .when(confirm({ transferId: '8453:0xother:0' }))
      .thenRefused('invalidRequest');
  });

  it('counts after its delay, and never once it was withdrawn', () => {
    given([...held, confirmed()])
      .when(refund(70 + day - 1))
      .thenRefused('refundAddressUnproven');
    const due = refund(70 + day)(fold([...held, confirmed()]));
    assert.ok(!isRefusal(due));
    assert.partialDeepStrictEqual(due, [
      { data: { receiverAddress: customer, proof: { sender: exchange, by: 'merchant' } } },
    ]);
    given([...held, confirmed(), withdrawn])
      .when(refund(70 + 2 * day))
      .thenRefused('refundAddressUnproven');
  });

  it('begins its delay again when it changes, so nobody swaps it at the last minute', () => {
    const changed = [...held, confirmed(), confirmed(2, thief, 60 + day)];
    given(changed)
      .when(refund(70 + day))
      .thenRefused('refundAddressUnproven');
  });

  it('gives way to the payer’s own signature', () => {
    const own = refund(70 + 2 * day)(fold([...held, confirmed(1, thief), p.refundAddressSet(customer)]));
    assert.partialDeepStrictEqual(own, [{ data: { receiverAddress: customer, proof: { by: 'signature' } } }]);
  });

  it('is never used by the app’s policy alone', () => {
    given([...held, confirmed()])
      .when(refund(70 + 2 * day, 'policy'))
      .thenRefused('refundAddressUnproven');
  });

  it('is withdrawn once, also in a payment that was refunded', () => {
    const withdraw = (state: PaymentState) => withdrawRefundAddress(state, 1, 'developer:otto', p.minute(75));
    given([...held, confirmed()])
      .when(withdraw)
      .then([withdrawn]);
    given(held).when(withdraw).thenRefused('notFound');
  });

  it('is confirmed for a completed payment as well', () => {
    given([...completed, confirmed()])
      .when(order({}, 70 + day))
      .then([ordered(1, '4.00', { proof: { sender: exchange, by: 'merchant' }, requestedAt: p.minute(70 + day) })]);
  });
});
