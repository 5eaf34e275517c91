/** A payment's situation for its payer, from real histories. */
import assert from 'node:assert/strict';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { type ChainFacts, type Situation, situationOf } from '../../../domain/payment/situation.ts';
import { contractCreated, otherPayer, paid } from '../../support/contractPayments.ts';
import * as p from '../../support/payments.ts';

const usdc = (amount: string) => ({ amount, tokenSymbol: 'USDC' as const });
const base: ChainFacts = { head: 103n, needed: 10 };

const after = (history: readonly PaymentEvent[], at = p.minute(20), chain: ChainFacts = base): Situation =>
  situationOf(p.paymentAfter(history), at, chain);

const half = p.payin({ amount: '7.50' });
const late = p.payin({ at: p.minute(61), tx: 'late' });
const usdt = p.payin({ in: p.ethereumUsdt, tx: 'usdt' });
const wrongToken = { ...p.payin({ tx: 'wrong token' }), token: p.ethereumUsdt.token };
const tooLow = [...p.unpaid, p.detected(half), p.confirmed(half), p.bounced('amountTooLow', '7.50')];

describe('the situation of a payer', () => {
  it('waits, then time is up, then the payment is over', () => {
    const waiting = after(p.unpaid);
    assert.deepEqual(waiting, {
      kind: 'waiting',
      open: true,
      received: null,
      missing: usdc('10.01'),
      depth: null,
      held: [],
      gone: false,
    });
    const { kind, open } = after(p.unpaid, p.minute(61));
    assert.deepEqual({ kind, open }, { kind: 'timeUp', open: false });
    assert.equal(after([...p.unpaid, p.expired()], p.minute(63)).kind, 'expired');
  });

  it('detects the money, then counts the blocks on top of it', () => {
    const seen = [...p.unpaid, p.detected()];
    assert.equal(after(seen, undefined, { head: 100n, needed: 10 }).kind, 'detected');
    assert.equal(after(seen, undefined, { head: null, needed: 10 }).kind, 'detected');
    const confirming = after(seen);
    assert.equal(confirming.kind, 'confirming');
    assert.deepEqual(confirming.depth, { confirmations: 3, needed: 10 });
    assert.deepEqual(after(seen, undefined, { head: 999n, needed: 10 }).depth, { confirmations: 10, needed: 10 });
    assert.deepEqual(after(seen, undefined, { head: 999n, needed: null }).depth, { confirmations: 899, needed: null });
    assert.equal(confirming.missing, null);
  });

  it('goes from paid to paid out', () => {
    assert.deepEqual(
      [p.paid, p.ordered, p.sent, p.done].map((history) => after(history).kind),
      ['paid', 'paid', 'payingOut', 'completed'],
    );
    assert.equal(after(p.done).depth, null);
  });

  it('states the missing amount of an underpayment, for as long as it can be added', () => {
    const some = [...p.unpaid, p.detected(half), p.confirmed(half)];
    const { kind, received, missing, open } = after(some);
    assert.deepEqual(
      { kind, received, missing, open },
      { kind: 'underpaid', received: usdc('7.50'), missing: usdc('2.51'), open: true },
    );
    assert.equal(after(some, p.minute(61)).open, false);
    const over = after(tooLow, p.minute(63));
    assert.deepEqual([over.kind, over.missing, over.received], ['tooLow', null, usdc('7.50')]);
  });

  it('states an overpayment, until it is refunded', () => {
    const much = p.payin({ amount: '12.00' });
    const funding = { received: '12.00', excess: '1.99', rule: 'overpaid' } as const;
    const overpaid = [...p.unpaid, p.detected(much), p.confirmed(much), p.funded([much], funding)];
    assert.deepEqual(after(overpaid).held, [{ reason: 'excess', ...usdc('1.99'), chainId: 8453 }]);
    const asked = [...overpaid, p.refundAddressSet(), p.refundRequested('1.99', { reason: 'excess' })];
    assert.deepEqual(after(asked).held, []);
  });

  it('states that money cannot count, and still waits for valid money', () => {
    for (const [transfer, kind] of [
      [usdt, 'wrongChain'],
      [wrongToken, 'wrongToken'],
      [late, 'late'],
    ] as const) {
      const open = after([...p.unpaid, p.detected(transfer)]);
      assert.deepEqual([open.kind, open.open, open.held.map(({ reason }) => reason)], [kind, true, [kind]]);
      assert.equal(open.missing?.amount, '10.01');
      const counts = after([...p.unpaid, p.detected(transfer), p.detected()]);
      assert.deepEqual([counts.kind, counts.held.length], ['confirming', 1]);
    }
    const closed = [...p.unpaid, p.expired(), p.detected(late)];
    assert.equal(after(closed, p.minute(63)).kind, 'late');
    const bounced = after([...closed, p.confirmed(late), p.bounced('latePayin', '10.01')], p.minute(64));
    assert.deepEqual([bounced.kind, bounced.held], ['late', [{ reason: 'late', ...usdc('10.01'), chainId: 8453 }]]);
  });

  it('states that a contract does not accept money from this sender, and still waits for the named one', () => {
    const open = after([contractCreated(), p.detected(paid('0.02', { from: otherPayer }))]);
    assert.deepEqual(
      [open.kind, open.open, open.held.map(({ reason }) => reason)],
      ['otherSender', true, ['otherSender']],
    );
  });

  it('holds money that arrives after the payment was paid', () => {
    const second = p.payin({ tx: 'again' });
    assert.deepEqual(after([...p.paid, p.detected(second)]).held, [
      { reason: 'surplus', ...usdc('10.01'), chainId: 8453 },
    ]);
  });

  it('states that money from another source does not add up with the chosen one', () => {
    const created = p.created({ alternatives: [p.solanaUsdc] });
    const elsewhere = [{ reason: 'elsewhere', ...usdc('7.50'), chainId: 8453 }];
    const chosen = [created, p.detected(half), p.confirmed(half), p.chose(p.solanaUsdc)];
    const open = after(chosen);
    assert.deepEqual([open.kind, open.missing, open.held], ['waiting', usdc('10.01'), elsewhere]);
    assert.deepEqual(after([created, p.chose(p.solanaUsdc), p.detected()]).kind, 'confirming');
    const whole = p.payin({ in: p.solanaUsdc, tx: 'solana' });
    const funding = { source: p.solanaUsdc, fromAlternative: true };
    const paid = after([...chosen, p.detected(whole), p.confirmed(whole), p.funded([whole], funding)]);
    assert.deepEqual([paid.kind, paid.held], ['paid', elsewhere]);
  });

  it('warns of paying again when a block has left the chain', () => {
    const gone = after([...p.unpaid, p.detected(), p.orphaned()]);
    assert.deepEqual([gone.kind, gone.gone, gone.open], ['waiting', true, true]);
    assert.equal(after([...p.unpaid, p.detected(), p.orphaned(), p.detected()]).gone, false);
  });

  it('follows money on its refund', () => {
    const back = p.refundAttempt(1, '7.50');
    const asked = [...tooLow, p.refundAddressSet(), p.refundRequested('7.50')];
    assert.equal(after(asked).kind, 'refunding');
    assert.equal(after([...asked, p.refundSigned(1, back)]).kind, 'refunding');
    assert.equal(after([...asked, p.refundSigned(1, back), p.refundSettled(1, back)]).kind, 'refunded');
  });

  it('has a text for each reason of a bounce', () => {
    assert.equal(after([...p.paid, p.bounced('payoutImpossible', '10.01')]).kind, 'unpayable');
    const any = [p.created({ type: 'anyAmount' }), p.detected(), p.confirmed(), p.bounced('amountTooHigh', '10.01')];
    assert.equal(after(any).kind, 'tooHigh');
  });

  it('requests no sum when the payer chooses it', () => {
    const any = after([p.created({ type: 'anyAmount' })]);
    assert.equal(any.kind, 'waiting');
    assert.equal(any.received, null);
  });
});
