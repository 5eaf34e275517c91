import assert from 'node:assert/strict';
import { nextStep } from '../../../domain/payment/backing.ts';
import { bounceImpossible } from '../../../domain/payment/close.ts';
import { payoutLeg } from '../../../domain/payment/payout.ts';
import { type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import { statusOf } from '../../../domain/payment/view.ts';
import {
  attempt,
  done,
  event,
  feeCaps,
  final,
  landed,
  minute,
  nonceUsed,
  of,
  ordered,
  paymentAfter,
  sent,
  settled,
  short,
  signed,
} from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);

const reporting =
  (arrived: string, signing = attempt()) =>
  (state: PaymentState) => {
    const where = landed(signing);
    return payoutLeg.conclude(state, 1, { ...final(where), kind: 'short', arrived: of(arrived) }, where.confirmedAt);
  };
const accepting = (state: PaymentState) => payoutLeg.accept(state, 1, 'the rest went by hand', minute(12));
const retrying = (state: PaymentState) => payoutLeg.retry(state, 1, 'it was not', minute(11));
const signing = (next: ReturnType<typeof attempt>) => (state: PaymentState) => payoutLeg.sign(state, 1, next);

const retried = event('PayoutRetried', { reason: 'it was not', retriedAt: minute(11) });
const accepted = event('PayoutAccepted', { reason: 'the rest went by hand', acceptedAt: minute(12) });
const confirmedByHand = event('PayoutConfirmed', { ...landed(attempt()), confirmedAt: minute(12) });
const bump = attempt(2, { fee: feeCaps(113) });
const next = attempt(2, { nonce: '8' });

describe('a payout that brought less than ordered', () => {
  it('is recorded once, with the arrived amount', () => {
    given(sent)
      .when(reporting('9.90'))
      .then([short('9.90')]);
    given([...sent, short('9.90')])
      .when(reporting('9.90'))
      .thenNothing();
  });

  it('is none when all arrived, when it was settled, or when it was never signed', () => {
    given(sent).when(reporting('10.00')).thenRefused('illegalStep');
    given(ordered).when(reporting('9.90')).thenRefused('illegalStep');
    given(done).when(reporting('9.90')).thenNothing();
  });

  it('is not completed, and nothing more is signed for it, under no nonce, nor settled or buried', () => {
    for (const arrived of ['9.90', '0']) {
      const history = [...sent, short(arrived)];
      const payment = paymentAfter(history);
      assert.equal(statusOf(payment), 'payment_payout_started');
      assert.deepEqual(nextStep(payment, minute(20)), { do: 'hold' });
      for (const one of [bump, next]) given(history).when(signing(one)).thenRefused('illegalStep', /of 10/);
      given(history)
        .when((state) => payoutLeg.conclude(state, 1, final(landed(attempt())), minute(9)))
        .thenRefused('illegalStep');
      given(history)
        .when((state) => payoutLeg.bury(state, 1, [1], nonceUsed))
        .thenNothing();
      given(history)
        .when((state) => bounceImpossible(state, 'frozen', minute(20)))
        .thenRefused('illegalStep');
    }
  });

  it('counts as settled once an operator states that the receiver has it all', () => {
    given([...sent, short('9.90')])
      .when(accepting)
      .then([accepted, confirmedByHand]);
    const payment = paymentAfter([...sent, short('9.90'), accepted, confirmedByHand]);
    assert.deepEqual([statusOf(payment), nextStep(payment, minute(20))], ['payment_payout_completed', { do: 'done' }]);
    given([...sent, short('9.90'), accepted, confirmedByHand])
      .when(accepting)
      .thenNothing();
    given(sent).when(accepting).thenRefused('illegalStep');
  });

  it('is signed again by an operator’s order, under another nonce, only if nothing arrived', () => {
    given([...sent, short('9.90')])
      .when(retrying)
      .thenRefused('illegalStep', /accept/);
    given([...sent, short('0')])
      .when(retrying)
      .then([retried]);
    const again = [...sent, signed(bump), short('0'), retried];
    assert.equal(nextStep(paymentAfter(again), minute(20)).do, 'sign');
    given(again)
      .when(signing(attempt(3, { fee: feeCaps(130) })))
      .thenRefused('illegalStep', /used up/);
    const third = attempt(3, { nonce: '8' });
    given(again)
      .when(signing(third))
      .then([signed(third)]);
    given([...again, signed(third)])
      .when((state) => payoutLeg.conclude(state, 1, final(landed(third)), minute(9)))
      .then([settled(third)]);
  });
});
