import assert from 'node:assert/strict';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { type PaymentStatus, paymentStatuses, statusOf, terminalStatuses } from '../../../domain/payment/view.ts';
import {
  attempt,
  baseUsdc,
  bounced,
  confirmed,
  created,
  detected,
  died,
  done,
  ethereumUsdc,
  expired,
  funded,
  lost,
  minute,
  ordered,
  orphaned,
  paid,
  payin,
  paymentAfter,
  payoutRequested,
  refundAddressSet,
  refundAttempt,
  refundRequested,
  refundSettled,
  refundSigned,
  sent,
  settled,
  signed,
  unpaid,
  unsettled,
} from '../../support/payments.ts';

const late = payin({ at: minute(90) });
const latePaid = [...unpaid, expired(), detected(late), confirmed(late), bounced('latePayin', '10.01')];
const refund = refundAttempt(1, '10.01');
const sentBack = [...latePaid, refundAddressSet(), refundRequested('10.01'), refundSigned(1, refund)];

const cases: readonly [PaymentStatus, string, readonly PaymentEvent[]][] = [
  ['payment_unpaid', 'when it is created', unpaid],
  ['payment_unpaid', 'when the only payin left the chain', [...unpaid, detected(), orphaned()]],
  ['payment_unpaid', 'when only a wrong payin came', [...unpaid, confirmed(payin({ in: ethereumUsdc }))]],
  ['payment_started', 'when a payin is seen', [...unpaid, detected()]],
  ['payment_started', 'when a part of the amount is final', [...unpaid, confirmed(payin({ amount: '1.00' }))]],
  ['payment_payin_completed', 'when it is funded', paid],
  ['payment_payin_completed', 'when it is funded, even if the payin is lost later', [...paid, orphaned(), lost()]],
  ['payment_bridging', 'when the payout to another chain is ordered', ordered],
  ['payment_payout_started', 'when the payout is signed', sent],
  ['payment_payout_started', 'when all its attempts are dead', [...sent, died()]],
  ['payment_payout_started', 'when its payout left the chain', [...done, unsettled()]],
  ['payment_payout_completed', 'when the payout is final', done],
  ['payment_payout_completed', 'when a payin is lost after it', [...done, orphaned(), lost()]],
  ['payment_expired', 'when nobody paid in time', [...unpaid, expired()]],
  ['payment_expired', 'while a late payin is not final', [...unpaid, expired(), detected(late)]],
  ['payment_bounced', 'when a late payin is final', latePaid],
  ['payment_bounced', 'when the payout is impossible', [...ordered, bounced('payoutImpossible', '10.01')]],
  ['payment_bounced', 'while the refund is on its way', sentBack],
  ['payment_refunded', 'when all of it went back', [...sentBack, refundSettled(1, refund)]],
  [
    'payment_bounced',
    'when more came after all of it went back',
    [...sentBack, refundSettled(1, refund), confirmed(payin({ tx: 'more' }))],
  ],
];

describe('the public status', () => {
  for (const [status, when, history] of cases) {
    it(`is ${status} ${when}`, () => assert.equal(statusOf(paymentAfter(history)), status));
  }

  describe('for a payment that remains on its chain', () => {
    const sameChain = (keyless: boolean) => {
      const first = attempt(1, { to: baseUsdc });
      const steps = [
        detected(),
        confirmed(),
        funded(),
        payoutRequested('10.00', baseUsdc),
        signed(first),
        settled(first),
      ];
      return steps.map((_, i) =>
        statusOf(paymentAfter([created({ to: baseUsdc, keyless }), ...steps.slice(0, i + 1)])),
      );
    };

    it('never bridges', () => {
      assert.deepEqual(sameChain(false), [
        'payment_started',
        'payment_started',
        'payment_payin_completed',
        'payment_payin_completed',
        'payment_payout_started',
        'payment_payout_completed',
      ]);
    });

    it('ends in payment_completed when it was created without a key', () => {
      assert.equal(sameChain(true).at(-1), 'payment_completed');
    });
  });

  it('ends in payment_payout_completed for a payment without a key to another chain', () => {
    const history = [created({ keyless: true }), ...done.slice(1)];
    assert.equal(statusOf(paymentAfter(history)), 'payment_payout_completed');
  });

  it('is not payment_refunded when only the excess of a completed payment was refunded', () => {
    const much = payin({ amount: '12.50' });
    const back = refundAttempt(1, '2.49');
    const history = [
      ...unpaid,
      confirmed(much),
      funded([much], { rule: 'overpaid', received: '12.50', excess: '2.49' }),
      ...done.slice(4),
      refundAddressSet(),
      refundRequested('2.49', { reason: 'excess' }),
      refundSigned(1, back),
      refundSettled(1, back),
    ];
    assert.equal(statusOf(paymentAfter(history)), 'payment_payout_completed');
  });

  it('is one of ten, five of them terminal for a poller', () => {
    assert.deepEqual(
      paymentStatuses.filter((status) => !terminalStatuses.includes(status)),
      ['payment_unpaid', 'payment_started', 'payment_payin_completed', 'payment_bridging', 'payment_payout_started'],
    );
    const shown = new Set([...cases.map(([status]) => status), 'payment_completed']);
    assert.deepEqual([...shown].sort(), [...paymentStatuses].sort(), 'each has a specification');
  });
});
