import assert from 'node:assert/strict';
import { fold } from '../../domain/decider.ts';
import type { Transfer } from '../../domain/payment/events.ts';
import {
  assign,
  requestRefund,
  see,
  type UnmatchedEvent,
  type UnmatchedState,
  unmatched,
  unmatchedRefundLeg,
  unmatchedRefundsOwed,
} from '../../domain/unmatched.ts';
import { otherPayer, payer, stellarTreasury } from '../support/contractPayments.ts';
import { minute, payin, refundAttempt, stellarUsdc } from '../support/payments.ts';
import { specification } from '../support/specification.ts';

const { given } = specification(unmatched);
const stateAfter = (history: readonly UnmatchedEvent[]) => fold(unmatched, history);

const sent = (amount: string): Transfer => ({
  ...payin({ amount, in: stellarUsdc }),
  from: payer,
  to: stellarTreasury,
  memo: 'invoice 7',
});
const transfer = sent('10.00');
const payment = { paymentId: 'payment-1', appId: 'wallet_demo' };
const order = { receiverAddress: payer, receiverMemo: null, reason: 'sent by mistake', networkFee: 100000n };

const seen: UnmatchedEvent = { type: 'UnmatchedPayinSeen', data: { transfer, seenAt: minute(6) } };
const assigned: UnmatchedEvent = { type: 'UnmatchedPayinAssigned', data: { ...payment, assignedAt: minute(7) } };
const refunded: UnmatchedEvent = {
  type: 'UnmatchedPayinRefundRequested',
  data: { ...order, networkFee: '100000', requestedAt: minute(7) },
};

const seeing = (what: Transfer) => (state: UnmatchedState) => see(state, what, minute(6));
const assigning =
  (to = payment) =>
  (state: UnmatchedState) =>
    assign(state, to, minute(7));
const refunding =
  (over: Partial<typeof order> = {}) =>
  (state: UnmatchedState) =>
    requestRefund(state, { ...order, ...over }, minute(7));

describe('money without a known memo', () => {
  it('is recorded once, whatever was decided about it', () => {
    given([]).when(seeing(transfer)).then([seen]);
    for (const history of [[seen], [seen, assigned], [seen, refunded]])
      given(history).when(seeing(transfer)).thenNothing();
  });

  it('is recorded from one cent on', () => {
    given([])
      .when(seeing(sent('0.0099999')))
      .thenNothing();
    const cent = sent('0.01');
    given([])
      .when(seeing(cent))
      .then([{ type: 'UnmatchedPayinSeen', data: { transfer: cent, seenAt: minute(6) } }]);
  });

  it('names the payment that had no room for it', () => {
    given([])
      .when((state) => see(state, transfer, minute(6), payment))
      .then([{ type: 'UnmatchedPayinSeen', data: { transfer, beyond: payment, seenAt: minute(6) } }]);
  });

  it('is assigned to one payment and to no other', () => {
    given([seen]).when(assigning()).then([assigned]);
    given([seen, assigned]).when(assigning()).thenNothing();
    given([seen, assigned])
      .when(assigning({ ...payment, paymentId: 'payment-2' }))
      .thenRefused('illegalStep', /given to payment payment-1/);
  });

  it('is refunded to one receiver and to no other', () => {
    given([seen]).when(refunding()).then([refunded]);
    given([seen, refunded])
      .when(refunding({ reason: 'said again' }))
      .thenNothing();
    given([seen, refunded])
      .when(refunding({ receiverAddress: otherPayer }))
      .thenRefused('illegalStep', /only once/);
  });

  it('is refunded less the cost of sending it, and remains if the cost is all of it', () => {
    assert.equal(stateAfter([seen, refunded])?.refund?.order.amount, 10_0000000n - 100000n);
    given([seen])
      .when(refunding({ networkFee: 10_0000000n }))
      .thenRefused('refundTooSmall', /10.00 USDC/);
  });

  it('is not sent again if an operator has sent it by hand before the service did', () => {
    const { networkFee: _, ...data } = { ...order, requestedAt: minute(7) };
    const byHand: UnmatchedEvent = { type: 'UnmatchedPayinRefundRequested', data };
    assert.deepEqual(unmatchedRefundsOwed(stateAfter([seen, byHand])), []);
    given([seen, byHand])
      .when((state) => unmatchedRefundLeg.sign(state, 1, refundAttempt(1, '9.99')))
      .thenRefused('illegalStep', /no refund/);
  });

  it('is never both assigned and refunded', () => {
    given([seen, assigned])
      .when(refunding())
      .thenRefused('illegalStep', /refund it there/);
    given([seen, refunded])
      .when(assigning())
      .thenRefused('illegalStep', /to go back/);
  });

  it('must have arrived, and its refund must have a reason', () => {
    given([])
      .when(assigning())
      .thenRefused('illegalStep', /no unmatched transfer/);
    given([])
      .when(refunding())
      .thenRefused('illegalStep', /no unmatched transfer/);
    for (const reason of ['', 'x'.repeat(401)]) {
      given([seen])
        .when(refunding({ reason }))
        .thenRefused('invalidRequest', /characters/);
    }
  });
});
