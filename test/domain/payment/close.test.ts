import assert from 'node:assert/strict';
import { fold } from '../../../domain/decider.ts';
import { returnedBy } from '../../../domain/payment/cashback.ts';
import { bounceImpossible, expire } from '../../../domain/payment/close.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { paymentDecider, refundable } from '../../../domain/payment/state.ts';
import {
  attempt,
  bounced,
  bouncedOther,
  confirmed,
  created,
  detected,
  died,
  digits,
  done,
  ethereumUsdc,
  event,
  expired,
  expires_at,
  funded,
  held,
  minute,
  ordered,
  orphaned,
  paid,
  payin,
  retried,
  sent,
  signed,
  unpaid,
  unsettled,
} from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);

const expiring =
  (chainTime = minute(61)) =>
  (state: Parameters<typeof expire>[0]) =>
    expire(state, { scannedTo: () => chainTime, now: minute(62) });

describe('expiry', () => {
  it('ends an unpaid payment, when its chain is scanned past its time', () => {
    given(unpaid).when(expiring()).then([expired()]);
  });

  it('waits for the chain’s time, whatever our clock shows', () => {
    for (const chainTime of [minute(59), expires_at]) {
      given(unpaid)
        .when(expiring(chainTime))
        .thenRefused('illegalStep', /not yet past/);
    }
    given(unpaid)
      .when(expiring(minute(60.001)))
      .then([expired(minute(60.001))]);
  });

  it('waits for a payin that was on time and is not final', () => {
    given([...unpaid, detected(payin({ at: expires_at }))])
      .when(expiring())
      .thenRefused('illegalStep', /not final/);
    const short = payin({ amount: '1.00' });
    given([...unpaid, confirmed(short), detected(payin({ tx: 'rest', amount: '9.01' }))])
      .when(expiring())
      .thenRefused('illegalStep', /not final/);
  });

  it('does not wait for one that left the chain', () => {
    given([...unpaid, detected(), orphaned()])
      .when(expiring())
      .then([expired()]);
  });

  it('does not wait for late payins; they bounce the payment when they are final', () => {
    const late = payin({ at: minute(60.5) });
    given([...unpaid, detected(late)])
      .when(expiring())
      .then([expired()]);
    given([...unpaid, confirmed(late)])
      .when(expiring())
      .then([expired(), bounced('latePayin', '10.01')]);
  });

  it('bounces an underpayment, with the received amount', () => {
    const [some, more] = [payin({ amount: '1.00' }), payin({ amount: '2.00', tx: 'more' })];
    given([...unpaid, confirmed(some), confirmed(more)])
      .when(expiring())
      .then([bounced('amountTooLow', '3.00')]);
    given([created({ type: 'anyAmount' }), confirmed(payin({ amount: '0.019999' }))])
      .when(expiring())
      .then([bounced('amountTooLow', '0.019999')]);
  });

  it('bounces money in another token or on another chain', () => {
    const wrong = payin({ in: ethereumUsdc });
    given([...unpaid, confirmed(wrong)])
      .when(expiring())
      .then([expired(), bouncedOther('wrongChain', '10.01', ethereumUsdc)]);
  });

  it('never ends a payment that is paid, and ends one once', () => {
    for (const history of [paid, sent, done, [...unpaid, expired()]]) {
      given(history)
        .when(expiring(minute(600)))
        .thenNothing();
    }
  });

  it('needs a payment', () => {
    given([]).when(expiring()).thenRefused('paymentNotFound');
  });
});

describe('an impossible payout', () => {
  const bounce = (state: Parameters<typeof bounceImpossible>[0]) => bounceImpossible(state, 'frozen', minute(62));
  const impossible = event('PaymentBounced', {
    code: 'payoutImpossible',
    received: digits('10.01'),
    note: 'frozen',
    bouncedAt: minute(62),
  });

  it('bounces a funded payment if nothing can land', () => {
    for (const history of [paid, ordered, [...sent, died()]]) {
      given(history).when(bounce).then([impossible]);
    }
  });

  it('is refused while an attempt can still land, or has', () => {
    const replaced = [...sent, died(), signed(attempt(2, { nonce: '8' }))];
    for (const history of [sent, done, replaced, [...done, unsettled()]]) {
      given(history).when(bounce).thenRefused('illegalStep');
    }
  });

  it('is refused while an operator holds the payout: they may have paid it by hand', () => {
    given([...ordered, held()])
      .when(bounce)
      .thenRefused('illegalStep', /retry/);
    given([...ordered, held(), retried()])
      .when(bounce)
      .then([impossible]);
  });

  it('bounces a withdrawal of cashback, whose cents return to the merchant’s account: nobody can order a refund', () => {
    const withdrawal = fold(paymentDecider, [
      created(),
      funded([payin()], { rule: 'cashback' }),
      impossible,
    ] as readonly PaymentEvent[]);
    assert.ok(withdrawal);
    assert.deepEqual([returnedBy(withdrawal), refundable(withdrawal)], [1_001n, []]);
    for (const history of [paid, [...paid, impossible], [created(), funded([payin()], { rule: 'cashback' })]]) {
      const other = fold(paymentDecider, history as readonly PaymentEvent[]);
      assert.equal(other && returnedBy(other), null);
    }
    given([created(), funded([payin()], { rule: 'cashback' })])
      .when(bounce)
      .then([impossible]);
  });

  it('is refused without funding, and happens once', () => {
    given(unpaid).when(bounce).thenRefused('illegalStep');
    given([...unpaid, expired()])
      .when(bounce)
      .thenRefused('illegalStep');
    given([...paid, impossible])
      .when(bounce)
      .thenNothing();
    given([]).when(bounce).thenRefused('paymentNotFound');
  });
});
