import assert from 'node:assert/strict';
import { owedBy } from '../../../domain/payment/backing.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { callOffRefund, refundLeg } from '../../../domain/payment/payout.ts';
import { paymentDecider, refundable } from '../../../domain/payment/state.ts';
import { viewOf } from '../../../domain/payment/view.ts';
import {
  bnbUsdc,
  bounced,
  confirmed,
  customerWallet,
  detected,
  done,
  ethereumUsdc,
  event,
  expired,
  feeCaps,
  final,
  funded,
  landed,
  lost,
  merchantWallet,
  minute,
  nonceUsed,
  of,
  orphaned,
  paid,
  payin,
  paymentAfter,
  refundAddressSet,
  refundAttempt,
  refundRequested,
  refundSettled,
  refundSigned,
  unpaid,
} from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);

/** Refundable money, as `reason amount chain`. */
const owed = (history: readonly PaymentEvent[]) =>
  refundable(paymentAfter(history)).map(({ reason, amount, chainId }) => `${reason} ${amount} ${chainId}`);

const much = payin({ amount: '12.50' });
const overpaid = [...unpaid, confirmed(much), funded([much], { rule: 'overpaid', received: '12.50', excess: '2.49' })];
const short = [...unpaid, confirmed(payin({ amount: '3.00' })), bounced('amountTooLow', '3.00')];
const wrong = payin({ in: bnbUsdc, amount: '5.00', tx: 'wrong' });

describe('refundable money', () => {
  it('is nothing for a payment that is open or paid exactly', () => {
    for (const history of [unpaid, [...unpaid, detected()], [...unpaid, confirmed(payin({ amount: '3.00' }))], paid]) {
      assert.deepEqual(owed(history), []);
    }
    assert.deepEqual(owed(done), []);
  });

  it('is the excess of an overpaid one', () => {
    assert.deepEqual(owed(overpaid), [`excess ${of('2.49')} 8453`]);
  });

  it('is everything final on a bounced one, in each token separately', () => {
    assert.deepEqual(owed(short), [`bounced ${of('3.00')} 8453`]);
    const mixed = [...unpaid, confirmed(payin({ amount: '3.00' })), confirmed(wrong), bounced('amountTooLow', '3.00')];
    assert.deepEqual(owed(mixed), [`bounced ${of('3.00')} 8453`, `bounced ${of('5.00', bnbUsdc)} 56`]);
    assert.deepEqual(owed([...paid, bounced('payoutImpossible', '10.01')]), [`bounced ${of('10.01')} 8453`]);
    const pending = [...short, detected(payin({ tx: 'pending' }))];
    assert.deepEqual(owed(pending), [`bounced ${of('3.00')} 8453`], 'what is not final may still leave');
  });

  it('is the held money: the wrong token, the late, the surplus', () => {
    assert.deepEqual(owed([...unpaid, confirmed(wrong)]), [`held ${of('5.00', bnbUsdc)} 56`]);
    const surplus = payin({ amount: '1.00', tx: 'surplus' });
    assert.deepEqual(owed([...done, confirmed(surplus)]), [`held ${of('1.00')} 8453`]);
    const together = owed([...overpaid, confirmed(surplus)]);
    assert.deepEqual(together, [`held ${of('3.49')} 8453`], 'one entry per chain and token');
  });

  it('is reduced by earlier orders', () => {
    assert.deepEqual(owed([...overpaid, refundRequested('2.49', { reason: 'excess' })]), []);
    const more = confirmed(payin({ amount: '1.00', tx: 'surplus' }));
    assert.deepEqual(owed([...overpaid, refundRequested('2.49', { reason: 'excess' }), more]), [
      `held ${of('1.00')} 8453`,
    ]);
    const thenBounced = [
      ...overpaid,
      refundRequested('2.49', { reason: 'excess' }),
      bounced('payoutImpossible', '12.50'),
    ];
    assert.deepEqual(owed(thenBounced), [`bounced ${of('10.01')} 8453`]);
  });

  it('is reduced by the cost of sending it', () => {
    assert.deepEqual(owed([...short, refundRequested('1.95', { networkFee: '0.05' })]), [`bounced ${of('1.00')} 8453`]);
    assert.deepEqual(owed([...short, refundRequested('2.95', { networkFee: '0.05' })]), []);
  });

  it('contains no excess that left the chain with its payin', () => {
    assert.deepEqual(owed([...overpaid, orphaned(much), lost(much)]), []);
    const [most, rest] = [payin({ amount: '10.00', tx: 'most' }), payin({ amount: '1.00', tx: 'rest' })];
    const inParts = [
      ...unpaid,
      confirmed(most),
      confirmed(rest),
      funded([most, rest], { rule: 'overpaid', received: '11.00', excess: '0.99' }),
    ];
    assert.deepEqual(owed(inParts), [`excess ${of('0.99')} 8453`]);
    assert.deepEqual(owed([...inParts, orphaned(rest), lost(rest)]), []);
    assert.deepEqual(owed([...inParts, orphaned(rest), lost(rest), confirmed(rest)]), [`excess ${of('0.99')} 8453`]);
  });

  it('contains only the excess over the lost part: the rest of the token replaces the paid-out money', () => {
    const left = [orphaned(much), lost(much)];
    const [small, large] = [payin({ amount: '4.00', tx: 'small' }), payin({ amount: '11.00', tx: 'large' })];
    assert.deepEqual(owed([...overpaid, confirmed(small), ...left]), []);
    assert.deepEqual(owed([...overpaid, confirmed(large), ...left]), [`held ${of('0.99')} 8453`]);
    assert.deepEqual(owed([...overpaid, confirmed(small), ...left, confirmed(much)]), [`held ${of('6.49')} 8453`]);
    const calledOff = [...overpaid, confirmed(small), ...left, bounced('payoutImpossible', '4.00')];
    assert.deepEqual(owed(calledOff), [`bounced ${of('4.00')} 8453`], 'nothing is paid out any more');
    assert.deepEqual(owed([...overpaid, confirmed(wrong), ...left]), [`held ${of('5.00', bnbUsdc)} 56`]);
  });
});

describe('a refund that cannot be sent', () => {
  const [first, second] = [refundAttempt(1, '3.00'), refundAttempt(2, '3.00', { nonce: '8' })];
  const stuck = [...short, refundRequested('3.00')];
  const callOff = (state: Parameters<typeof callOffRefund>[0]) => callOffRefund(state, 1, 'frozen', minute(80));
  const off = event('RefundCalledOff', { refund: 1, reason: 'frozen', calledOffAt: minute(80) });

  it('is called off: its money can be ordered to another receiver', () => {
    given(stuck).when(callOff).then([off]);
    given([...stuck, off])
      .when(callOff)
      .thenNothing();
    assert.deepEqual(owed([...stuck, off]), [`bounced ${of('3.00')} 8453`]);
    const after = paymentAfter([...stuck, off]);
    assert.deepEqual(
      [viewOf(after, minute(81)).status, owedBy(after).map(({ step }) => step.do)],
      ['payment_bounced', ['done']],
    );
    given([...stuck, off])
      .when((state) => refundLeg.sign(state, 1, first))
      .thenRefused('illegalStep', /called off \(frozen\)/);
    const again = [...stuck, off, refundRequested('3.00', { refund: 2, receiver: merchantWallet })];
    const sent = refundAttempt(1, '3.00', { receiver: merchantWallet });
    const back = paymentAfter([...again, refundSigned(2, sent), refundSettled(2, sent)]);
    assert.equal(viewOf(back, minute(90)).status, 'payment_refunded');
  });

  it('is not called off while a signed attempt of it can land, nor once it has', () => {
    const live = [...stuck, refundSigned(1, first)];
    given(live)
      .when(callOff)
      .thenRefused('illegalStep', /can land/);
    given([...live, refundSettled(1, first)])
      .when(callOff)
      .thenRefused('illegalStep');
    const dead = event('RefundDied', { refund: 1, attempt: 1, proof: nonceUsed });
    given([...live, dead])
      .when(callOff)
      .then([off]);
    given([...live, dead, refundSigned(1, second)])
      .when(callOff)
      .thenRefused('illegalStep');
    given(short)
      .when(callOff)
      .thenRefused('illegalStep', /no such refund/);
  });
});

describe('an ordered refund', () => {
  it('keeps its address when another is set later', () => {
    const history = [...short, refundAddressSet(), refundRequested('3.00'), refundAddressSet(merchantWallet)];
    assert.equal(paymentAfter(history).refunds[0]?.order.receiver, customerWallet);
  });

  describe('a refund order', () => {
    const history = [...short, refundAddressSet(), refundRequested('3.00')];
    const first = refundAttempt(1, '3.00');
    const second = refundAttempt(2, '3.00', { nonce: '8' });

    it('is signed, dies and settles by the rules of a payout', () => {
      given(history)
        .when((state) => refundLeg.sign(state, 1, first))
        .then([refundSigned(1, first)]);
      given([...history, refundSigned(1, first)])
        .when((state) => refundLeg.sign(state, 1, second))
        .thenRefused('illegalStep', /can still land/);
      const bump = refundAttempt(2, '3.00', { fee: feeCaps(113) });
      given([...history, refundSigned(1, first)])
        .when((state) => refundLeg.sign(state, 1, bump))
        .then([refundSigned(1, bump)]);
      given([...history, refundSigned(1, first)])
        .when((state) => refundLeg.bury(state, 1, [1], nonceUsed))
        .then([event('RefundDied', { refund: 1, attempt: 1, proof: nonceUsed })]);
      given([...history, refundSigned(1, first), event('RefundDied', { refund: 1, attempt: 1, proof: nonceUsed })])
        .when((state) => refundLeg.sign(state, 1, second))
        .then([refundSigned(1, second)]);
      given([...history, refundSigned(1, first)])
        .when((state) => refundLeg.conclude(state, 1, final(landed(first)), minute(9)))
        .then([refundSettled(1, first)]);
      given([...history, refundSigned(1, first), refundSettled(1, first)])
        .when((state) => refundLeg.sign(state, 1, second))
        .thenRefused('illegalStep', /settled/);
    });

    it('is never more than ordered, nor to somebody else', () => {
      given(history)
        .when((state) => refundLeg.sign(state, 1, refundAttempt(1, '3.01')))
        .thenRefused('illegalStep');
      given(history)
        .when((state) => refundLeg.sign(state, 1, refundAttempt(1, '3.00', { receiver: merchantWallet })))
        .thenRefused('illegalStep');
      given(history)
        .when((state) => refundLeg.sign(state, 1, refundAttempt(1, '3.00', { to: ethereumUsdc })))
        .thenRefused('illegalStep');
    });

    it('is known by its number', () => {
      given(history)
        .when((state) => refundLeg.sign(state, 2, first))
        .thenRefused('illegalStep');
      given(history)
        .when((state) => refundLeg.bury(state, 2, [1], nonceUsed))
        .thenRefused('illegalStep');
      given([...unpaid, expired()])
        .when((state) => refundLeg.conclude(state, 1, final(landed(first)), minute(9)))
        .thenRefused('illegalStep');
    });
  });
});
