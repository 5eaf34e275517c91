/** Twenty payments of an app: every state, amounts from a cent to millions, titles of several scripts and lengths. */
import assert from 'node:assert/strict';
import { createPayment } from '../../domain/payment/create.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import * as p from '../support/payments.ts';

export interface SeededPayment {
  readonly paymentId: string;
  readonly events: readonly PaymentEvent[];
}

const count = 20;
const amounts = ['10.00', '4.50', '1250.4875', '18.50', '98765.4321', '1234567.89', '0.01', '64.00'];
const titles = [
  'Ethiopia Yirgacheffe, 250 g',
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
  'شاي أخضر عضوي، 500 غرام',
  '埃塞俄比亚耶加雪菲咖啡豆',
  'Workshop ticket',
];

/** Each state of a payment of this amount. */
const ways: readonly ((amount: string) => readonly PaymentEvent[])[] = [
  (amount) => {
    const { payin, funded } = paidExactly(amount);
    const attempt = p.attempt(1, { amount });
    return [...payin, funded, p.payoutRequested(amount), p.signed(attempt), p.settled(attempt)];
  },
  () => [],
  (amount) => {
    const { payin, funded } = paidExactly(amount);
    return [...payin, funded, p.payoutRequested(amount), p.signed(p.attempt(1, { amount }))];
  },
  () => {
    const transfer = p.payin({ amount: '0.005' });
    return [p.detected(transfer), p.confirmed(transfer)];
  },
  () => [p.expired()],
  () => {
    const transfer = p.payin({ amount: '0.005' });
    return [p.detected(transfer), p.confirmed(transfer), p.expired(), p.bounced('amountTooLow', '0.005')];
  },
  () => {
    const other = p.polygonUsdc;
    const transfer = p.payin({ amount: '2.00', in: other });
    return [p.detected(transfer), p.confirmed(transfer), p.expired()];
  },
  () => {
    const transfer = p.payin({ amount: '0.005' });
    const attempt = p.refundAttempt(1, '0.005');
    return [
      ...[p.detected(transfer), p.confirmed(transfer), p.expired(), p.bounced('amountTooLow', '0.005')],
      ...[p.refundAddressSet(), p.refundRequested('0.005'), p.refundSigned(1, attempt), p.refundSettled(1, attempt)],
    ];
  },
];

function paidExactly(amount: string) {
  const due = (Number(amount) + 0.01).toFixed(4);
  const transfer = p.payin({ amount: due });
  const funded = p.funded([transfer], { received: due, sourceAmount: due, payout: amount });
  return { payin: [p.detected(transfer), p.confirmed(transfer)], funded };
}

/** @param mark two hex digits in the ids of the app's payments */
export const seededPayments = (appId: string, mark: string): readonly SeededPayment[] =>
  Array.from({ length: count }, (_, index): SeededPayment => {
    const amount = amounts[index % amounts.length] ?? '1.00';
    const paymentId = `0198f3c2-00${mark}-8000-8000-0000000000${String(index).padStart(2, '0')}`;
    const terms = {
      ...p.terms({ amount, orderId: `A-${1001 + index}` }),
      ...{ paymentId, appId },
      display: { title: titles[index % titles.length] ?? '', description: null, currency: 'USD' },
      now: p.minute(-index),
    };
    const [created] = createPayment(null, terms) as readonly PaymentEvent[];
    assert.ok(created, 'the terms make a payment');
    const way = ways[index % ways.length] ?? (() => []);
    return { paymentId, events: [created, ...way(amount)] };
  });
