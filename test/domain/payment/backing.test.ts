import assert from 'node:assert/strict';
import { isRefusal } from '../../../domain/decider.ts';
import { forgeryIn, payoutBacking, payoutOwed, refundBacking } from '../../../domain/payment/backing.ts';
import type { PaymentEvent, Transfer } from '../../../domain/payment/events.ts';
import * as p from '../../support/payments.ts';

const came = p.payin();
const polygon = p.payin({ in: p.polygonUsdc, tx: 'polygon', amount: '900.00' });
const more = p.payin({ tx: 'more', amount: '2.00' });
const confirmed = (transfers: readonly Transfer[]) => transfers.map((transfer) => p.confirmed(transfer));

function backsPayout(history: readonly PaymentEvent[]) {
  const payment = p.paymentAfter(history);
  const order = payoutOwed(payment)?.leg.order ?? assert.fail('no payout is owed');
  return payoutBacking(payment, order);
}

const backsRefund = (history: readonly PaymentEvent[], asset = p.baseUsdc) =>
  refundBacking(p.paymentAfter(history), { chainId: asset.chain.id, token: asset.token });

function refused(backing: unknown, why: RegExp): void {
  assert.ok(isRefusal(backing), 'it is refused');
  assert.match(backing.message, why);
}

/** Ids of accepted payins, with the sum that they must reach. */
function accepted(backing: ReturnType<typeof backsPayout>) {
  assert.ok(backing !== null && !isRefusal(backing), 'money backs it');
  return { transfers: backing.payins.map(({ transfer }) => transfer), needed: backing.needed };
}

describe('the money that backs a payout', () => {
  it('is the payins that funded it, which add up to the received amount', () => {
    assert.deepEqual(accepted(backsPayout(p.paid)), { transfers: [came], needed: p.of('10.01') });
    const both = [...p.unpaid, ...confirmed([came, more]), p.funded([came])];
    assert.deepEqual(accepted(backsPayout(both)).transfers, [came]);
    refused(
      backsPayout([...p.unpaid, ...confirmed([came, more]), p.funded([came, more])]),
      /shows 12010000 of 10010000/,
    );
    refused(backsPayout([...p.unpaid, p.funded([came])]), /shows 0 of 10010000 units .* in 0 of 1 transfers/);
  });

  it('is in the source token of the payment: money on another chain does not add up', () => {
    refused(
      backsPayout([...p.unpaid, ...confirmed([came, polygon]), p.funded([came, polygon])]),
      /in 1 of 2 transfers/,
    );
    const only = p.funded([polygon], { received: '900.00', sourceAmount: '900.00' });
    refused(backsPayout([...p.unpaid, ...confirmed([polygon]), only]), /in 0 of 1 transfers/);
  });

  it('is never nothing, except for a withdrawal of credit', () => {
    const zero = { received: '0', sourceAmount: '0', fee: '0' };
    refused(backsPayout([...p.unpaid, ...confirmed([came]), p.funded([came], zero)]), /pays out more than the 0 units/);
    refused(backsPayout([...p.unpaid, p.confirmed(), p.funded([came], { ...zero, payout: '0' })]), /not the one/);
    assert.equal(backsPayout([...p.unpaid, p.funded([came], { rule: 'cashback' })]), null);
  });

  it('is no less than the payout, in the catalogue’s decimals', () => {
    refused(backsPayout([...p.unpaid, p.confirmed(), p.funded([came], { payout: '10.010001' })]), /pays out more/);
    refused(backsPayout([...p.unpaid, p.confirmed(), p.funded([came], { excess: '0.02' })]), /pays out more/);
    const [created] = p.unpaid;
    assert.ok(created?.type === 'PaymentCreated');
    for (const end of ['source', 'destination'] as const)
      for (const decimals of [0, 5, 7, 18]) {
        const token = { ...created.data[end].token, decimals };
        const lying = p.event('PaymentCreated', { ...created.data, [end]: { ...created.data[end], token } });
        refused(backsPayout([lying, ...p.paid.slice(1)]), /other decimals than the token has/);
      }
  });

  it('backs no other payout than the one that the terms and the funding name', () => {
    const requested = p.payoutRequested();
    const others = [
      p.payoutRequested('9.99'),
      p.payoutRequested('10.00', p.ethereumUsdt),
      p.payoutRequested('10.00', p.polygonUsdc),
      p.event('PayoutRequested', { ...requested.data, receiverAddress: p.customerWallet }),
      p.event('PayoutRequested', { ...requested.data, receiverMemo: 'memo' }),
      p.event('PayoutRequested', { ...requested.data, token: { ...requested.data.token, decimals: 5 } }),
    ];
    accepted(backsPayout([...p.paid, requested]));
    for (const other of others) refused(backsPayout([...p.paid, other]), /not the one that the terms/);
  });

  it('backs additional refunds of the same token: all of it must have arrived', () => {
    const back = p.refundRequested('1.99', { networkFee: '0.01' });
    const both = [...p.unpaid, ...confirmed([came, more]), back, p.funded([came])];
    assert.deepEqual(accepted(backsPayout(both)), { transfers: [came, more], needed: p.of('12.01') });
    refused(backsPayout([...p.unpaid, ...confirmed([came]), back, p.funded([came])]), /10010000 of 12010000/);
    const calledOff = p.event('RefundCalledOff', { refund: 1, reason: 'wrong', calledOffAt: p.minute(72) });
    accepted(backsPayout([...p.unpaid, ...confirmed([came]), back, calledOff, p.funded([came])]));
    const signed = p.refundSigned(1, p.refundAttempt(1, '1.99'));
    refused(backsPayout([...p.unpaid, ...confirmed([came]), back, signed, calledOff, p.funded([came])]), /of 12010000/);
  });
});

describe('the money that backs a refund', () => {
  it('is all received money of its token, less the payout’s share', () => {
    const back = p.refundRequested('2.00');
    const backing = backsRefund([...p.unpaid, ...confirmed([came, more, polygon]), p.funded([came]), back]);
    assert.deepEqual(accepted(backing), { transfers: [came, more], needed: p.of('12.01') });
    refused(backsRefund([...p.unpaid, ...confirmed([came, polygon]), p.funded([came]), back]), /10010000 of 12010000/);
  });

  it('is missing for a payout that bounced after it was signed', () => {
    const bounced = [p.bounced('payoutImpossible', '10.01'), p.refundRequested('10.01')];
    accepted(backsRefund([...p.ordered, ...bounced]));
    refused(backsRefund([...p.ordered, p.signed(), ...bounced]), /10010000 of 20020000/);
    accepted(backsRefund([...p.ordered, p.signed(), p.died(), ...bounced]));
  });

  it('is no more if the log calls a part of the payout excess', () => {
    const back = p.refundRequested('10.01');
    refused(backsRefund([...p.unpaid, p.confirmed(), p.funded([came], { excess: '10.01' }), back]), /of 20010000/);
  });
});

describe('a transfer in the log', () => {
  it('is forged with decimals that are not the token’s, or a hash in capital letters', () => {
    assert.equal(forgeryIn(came), undefined);
    assert.match(forgeryIn({ ...came, token: { ...came.token, decimals: 18 } }) ?? '', /with 18 decimals/);
    assert.match(forgeryIn({ ...came, token: { ...came.token, address: p.merchantWallet } }) ?? '', /catalogue/);
    const upper = came.txHash.replace('a', 'A');
    assert.match(forgeryIn({ ...came, txHash: upper }) ?? '', /count twice/);
    assert.equal(forgeryIn({ ...p.payin({ in: p.solanaUsdc }), txHash: '5Kd3NBUAdUnhyzenEwVLy9' }), undefined);
  });
});
