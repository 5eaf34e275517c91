/** An app's policy for wrong amounts. Due are 10.01 USDC on Base, of which 10.00 are paid out on Ethereum. */
import assert from 'node:assert/strict';
import { fold } from '../../../domain/decider.ts';
import type { AmountPolicy, PolicyRule, Verdict } from '../../../domain/payment/amountPolicy.ts';
import { expire } from '../../../domain/payment/close.ts';
import { type PaymentEvent, type Transfer, transferId } from '../../../domain/payment/events.ts';
import { recordPayin } from '../../../domain/payment/payins.ts';
import { policyRefunds } from '../../../domain/payment/policy.ts';
import { payableFrom } from '../../../domain/payment/sources.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import { viewOf } from '../../../domain/payment/view.ts';
import type { Instant } from '../../../domain/time.ts';
import {
  type Asset,
  asset,
  baseUsdc,
  bnbUsdc,
  bounced,
  confirmed,
  created,
  detected,
  digits,
  ethereumUsdc,
  ethereumUsdt,
  event,
  expired,
  funded,
  minute,
  payin,
  polygonUsdc,
  refundRequested,
  type TermsSketch,
} from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);

const seen =
  (transfer: Transfer, now: Instant = minute(6)) =>
  (state: PaymentState) =>
    recordPayin(state, { transfer, final: true, now });
const over =
  (now: Instant = minute(62)) =>
  (state: PaymentState) =>
    expire(state, { scannedTo: () => minute(61), now });

interface AppliedSketch {
  readonly expected?: string | null;
  readonly received: string;
  readonly amount?: string;
  readonly in?: Asset;
  readonly at?: Instant;
}

const applied = (rule: PolicyRule, verdict: Verdict, by: readonly Transfer[], sketch: AppliedSketch) => {
  const { expected = null, received, amount = received, in: money = baseUsdc, at = minute(6) } = sketch;
  return event('PolicyApplied', {
    rule,
    verdict,
    chainId: money.chain.id,
    token: money.token,
    transferIds: by.map(transferId),
    expected: expected === null ? null : digits(expected, money),
    received: digits(received, money),
    amount: digits(amount, money),
    decidedAt: at,
  });
};

const by = (policy: Partial<AmountPolicy>, sketch: TermsSketch = {}) => created({ ...sketch, policy });
const after = (...history: readonly PaymentEvent[]): Payment => fold(paymentDecider, history) as Payment;

describe('an app’s policy for wrong amounts', () => {
  it('is part of the terms; an app that holds everything leaves nothing there', () => {
    const [none, all] = [created({ policy: {} }), by({ over: 'refund' })];
    assert.ok(none.type === 'PaymentCreated' && all.type === 'PaymentCreated');
    assert.equal(none.data.policy, undefined);
    assert.equal(all.data.policy?.over, 'refund');
  });

  describe('tolerance', () => {
    const policy = { tolerance: { basisPoints: 100, most_microUsd: '50000' } };
    const [little, more] = [payin({ amount: '9.97' }), payin({ amount: '9.95' })];

    it('funds a small underpayment at once: the receiver gets that much less, the fee is as agreed', () => {
      given([by(policy), detected(little)])
        .when(seen(little))
        .then([
          confirmed(little),
          applied('tolerance', 'accept', [little], { expected: '10.01', received: '9.97', amount: '0.04' }),
          funded([little], { rule: 'short', received: '9.97', sourceAmount: '9.97', payout: '9.96' }),
        ]);
    });

    it('is the smaller of its two bounds', () => {
      given([by(policy), detected(more)])
        .when(seen(more))
        .then([confirmed(more)]);
      const share = { tolerance: { basisPoints: 10, most_microUsd: '1000000' } };
      given([by(share), detected(little)])
        .when(seen(little))
        .then([confirmed(little)]);
    });

    it('leaves the receiver no less than the minimum payout', () => {
      const small = by(
        { tolerance: { basisPoints: 1_000, most_microUsd: '1000000' } },
        { amount: '0.10', fee: { fixed: '0.90' } },
      );
      const short = payin({ amount: '0.90' });
      given([small, detected(short)])
        .when(seen(short))
        .then([confirmed(short)]);
    });
  });

  describe('an underpayment at the end', () => {
    const five = payin({ amount: '5' });

    it('pays for as much, with the fee of the received amount', () => {
      given([by({ under: 'accept' }), confirmed(five)])
        .when(over())
        .then([
          applied('under', 'accept', [five], { expected: '10.01', received: '5', amount: '5.01', at: minute(62) }),
          funded([five], { rule: 'short', received: '5', sourceAmount: '5', payout: '4.99', at: minute(62) }),
        ]);
    });

    it('is held where nothing would be left to pay out', () => {
      const dust = payin({ amount: '0.01' });
      given([by({ under: 'accept' }), confirmed(dust)])
        .when(over())
        .then([
          applied('under', 'hold', [dust], { expected: '10.01', received: '0.01', at: minute(62) }),
          bounced('amountTooLow', '0.01'),
        ]);
    });

    it('is refunded', () => {
      const p = after(by({ under: 'refund' }), confirmed(five));
      const decided = over()(p) as readonly PaymentEvent[];
      const closed = fold(paymentDecider, decided, p) as Payment;
      assert.deepEqual(
        policyRefunds(closed).map(({ reason, amount }) => [reason, amount]),
        [['bounced', 5_000_000n]],
      );
    });
  });

  describe('an overpayment', () => {
    const twelve = payin({ amount: '12.01' });

    it('pays the agreed amount, and the rest is refunded', () => {
      const p = after(by({ over: 'refund' }));
      const history = seen(twelve)(p) as readonly PaymentEvent[];
      assert.deepEqual(history.slice(1), [
        confirmed(twelve),
        funded([twelve], { rule: 'overpaid', received: '12.01', excess: '2' }),
        applied('over', 'refund', [twelve], { expected: '10.01', received: '12.01', amount: '2' }),
      ]);
      const paid = fold(paymentDecider, history, p) as Payment;
      assert.deepEqual(
        policyRefunds(paid).map(({ reason, amount }) => [reason, amount]),
        [['excess', 2_000_000n]],
      );
    });

    it('is refunded when it arrives after the payment was paid', () => {
      const again = payin({ tx: 'again' });
      given([by({ over: 'refund' }), confirmed(), funded(), detected(again)])
        .when(seen(again))
        .then([confirmed(again), applied('over', 'refund', [again], { received: '10.01' })]);
    });
  });

  describe('late money', () => {
    const late = payin({ at: minute(70) });
    const policy: Partial<AmountPolicy> = { late: 'accept', lateWithin_minutes: 30 };

    it('funds an expired payment within the window, which is open again', () => {
      const history = [by(policy), expired(), detected(late)];
      const paid = [
        confirmed(late, minute(71)),
        applied('late', 'accept', [late], { expected: '10.01', received: '10.01', at: minute(71) }),
        funded([late], { at: minute(71) }),
      ];
      given(history)
        .when(seen(late, minute(71)))
        .then(paid);
      assert.equal(viewOf(after(...history, ...paid), minute(72)).status, 'payment_payin_completed');
    });

    it('completes money that arrived in time', () => {
      const [first, rest] = [payin({ amount: '6' }), payin({ amount: '4.01', tx: 'rest', at: minute(70) })];
      const p = after(by(policy), confirmed(first), bounced('amountTooLow', '6'));
      const decided = seen(rest, minute(71))(p) as readonly PaymentEvent[];
      const { funded: split, closed } = fold(paymentDecider, decided, p) as Payment;
      assert.deepEqual([split?.received, split?.transferIds.length, closed], [10_010_000n, 2, null]);
    });

    it('is held after the window, or when it is not enough', () => {
      for (const held of [payin({ at: minute(91) }), payin({ amount: '3', at: minute(70) })]) {
        const received = held.amount === digits('3') ? '3' : '10.01';
        given([by(policy), expired(), detected(held)])
          .when(seen(held, minute(92)))
          .then([
            confirmed(held, minute(92)),
            applied('late', 'hold', [held], { received, at: minute(92) }),
            bounced('latePayin', received, minute(92)),
          ]);
      }
    });

    it('is not refunded again automatically once an operator has called that off', () => {
      const off = event('RefundCalledOff', { refund: 1, reason: 'frozen', calledOffAt: minute(80) });
      const held = applied('late', 'refund', [late], { received: '10.01' });
      const back = [by({ late: 'refund' }), expired(), confirmed(late), held, bounced('latePayin', '10.01')];
      assert.equal(policyRefunds(after(...back)).length, 1);
      assert.deepEqual(policyRefunds(after(...back, refundRequested('10.01'), off)), []);
    });

    it('is too late once a part has been refunded', () => {
      const first = payin({ amount: '6' });
      const back = event('RefundRequested', {
        refund: 1,
        reason: 'bounced',
        chainId: 8453,
        token: baseUsdc.token,
        receiverAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        receiverMemo: null,
        amount: digits('6'),
        requestedAt: minute(65),
      });
      given([by(policy), confirmed(first), bounced('amountTooLow', '6'), back, detected(late)])
        .when(seen(late, minute(71)))
        .then([confirmed(late, minute(71)), applied('late', 'hold', [late], { received: '10.01', at: minute(71) })]);
    });

    it('is not paid out when its refund was ordered while the payment was still open', () => {
      const [first, rest] = [
        payin({ amount: '6', at: minute(61) }),
        payin({ amount: '4.01', tx: 'rest', at: minute(62) }),
      ];
      given([by(policy), confirmed(first, minute(63)), refundRequested('6', { reason: 'held' }), detected(rest)])
        .when(seen(rest, minute(71)))
        .then([confirmed(rest, minute(71)), applied('late', 'hold', [rest], { received: '4.01', at: minute(71) })]);
    });
  });

  describe('another token or chain', () => {
    const takes: Partial<AmountPolicy> = { wrongToken: 'accept', wrongChain: 'accept' };
    const fromEthereum: TermsSketch = {
      from: ethereumUsdc,
      to: baseUsdc,
      watched: [ethereumUsdt, polygonUsdc, bnbUsdc],
    };

    it('pays one for one if its route costs no more', () => {
      const usdt = payin({ in: ethereumUsdt });
      given([by(takes, fromEthereum), detected(usdt)])
        .when(seen(usdt))
        .then([
          confirmed(usdt),
          applied('wrongToken', 'accept', [usdt], { expected: '10.01', received: '10.01', in: ethereumUsdt }),
          funded([usdt], { source: ethereumUsdt, fromAlternative: true, destination: baseUsdc }),
        ]);
      const elsewhere = payin({ in: bnbUsdc });
      given([by(takes, fromEthereum), detected(elsewhere)])
        .when(seen(elsewhere))
        .then([
          confirmed(elsewhere),
          applied('wrongChain', 'accept', [elsewhere], { expected: '10.01', received: '10.01', in: bnbUsdc }),
          funded([elsewhere], { source: bnbUsdc, fromAlternative: true, destination: baseUsdc }),
        ]);
    });

    it('is offered to no payer', () => {
      const p = after(by(takes, fromEthereum));
      assert.equal(payableFrom(p).length, 4);
      assert.equal(viewOf(p, minute(1)).payFrom, null);
    });

    it('each needs its own setting: another token on another chain needs both', () => {
      const other: TermsSketch = { watched: [ethereumUsdc, ethereumUsdt] };
      const tokens = (policy: Partial<AmountPolicy>) =>
        after(by(policy, other)).tolerated.map(({ token }) => token.symbol);
      assert.deepEqual(tokens({ wrongChain: 'accept' }), ['USDC']);
      assert.deepEqual(tokens({ wrongToken: 'accept' }), []);
      assert.deepEqual(tokens(takes), ['USDC', 'USDT']);
    });

    it('is refunded at once, whatever else arrives', () => {
      const bnbUsdt = asset(56, 'USDT');
      const wrong = payin({ in: bnbUsdt, amount: '3' });
      given([by({ wrongChain: 'refund' }), detected(wrong)])
        .when(seen(wrong))
        .then([confirmed(wrong), applied('wrongChain', 'refund', [wrong], { received: '3', in: bnbUsdt })]);
    });
  });
});
