/** Pages about payments. */
import type { VNode } from 'preact';
import { chains } from '../../../domain/chains.ts';
import { deliveryPage } from '../../../web/dashboard/delivery.ts';
import { newLinkPage } from '../../../web/dashboard/newLink.ts';
import { overviewPage } from '../../../web/dashboard/overview.ts';
import { paymentPage } from '../../../web/dashboard/payment.ts';
import { paymentsPage } from '../../../web/dashboard/payments.ts';
import { emptyForm } from '../../../web/parts/form.ts';
import type { Frame } from '../../../web/parts/frame.ts';
import { nothing, overview } from './overview.ts';
import { ago, list, now, onStellar, payment, type Say, secret } from './payments.ts';
import { settled } from './settingsPages.ts';
import { delivery, exhausted, money, story, transactions } from './story.ts';

/** Of a form. */
const nonce = '8f14e45f-ceea-467f-a9d5-1b2c3d4e5f60';

export const paymentPages = (frame: Frame, say: Say): Readonly<Record<string, VNode>> => ({
  overview: overviewPage({
    ...frame,
    period: '30d',
    overview: overview,
    payments: list(say).slice(0, 6),
    setUp: { key: true, settlement: true, webhook: true },
    exhausted: 2,
    now,
  }),
  overviewFirst: overviewPage({
    ...frame,
    flash: { kind: 'done', text: say('Your e-mail is proved. Your app works.') },
    period: '7d',
    overview: nothing,
    payments: [],
    setUp: { key: false, settlement: true, webhook: false },
    exhausted: 0,
    now,
  }),
  payments: paymentsPage({
    ...frame,
    filter: emptyForm,
    payments: list(say),
    cursor: null,
    nextCursor: 'c',
    any: true,
    now,
  }),
  paymentsNone: paymentsPage({
    ...frame,
    filter: { values: { q: say('A-77'), status: 'payment_bounced' }, errors: {} },
    payments: [],
    cursor: null,
    nextCursor: null,
    any: true,
    now,
  }),
  paymentsFirst: paymentsPage({
    ...frame,
    filter: emptyForm,
    payments: [],
    cursor: null,
    nextCursor: null,
    any: false,
    now,
  }),
  payment: paymentPage({
    ...frame,
    payment: payment(say),
    story: story,
    transactions,
    deliveries: [exhausted(say), delivery(say)],
    link: null,
    now,
  }),
  paymentUnpaid: paymentPage({
    ...frame,
    payment: onStellar(say),
    story: story.slice(0, 1),
    transactions: [],
    deliveries: [],
    link: 'https://pay.example/p/51e61f19-6faf-864c-aaec-b8f58c1ad314',
    now,
  }),
  paymentHeld: paymentPage({
    ...frame,
    payment: payment(say, {
      status: 'payment_bounced',
      errorCode: 'amountTooLow',
      errorMessage:
        'Less than the agreed or the least accepted amount arrived in time. The money is held and can be refunded.',
      amountReceived: '7.50',
      payoutConfirmedAt: null,
      payoutTxHash: null,
    }),
    story: [
      ...story.slice(0, 2),
      { at: ago(1_000), status: 'payment_bounced', type: 'bounced', code: 'amountTooLow', received: money('7.50') },
    ],
    transactions: transactions.slice(0, 1),
    deliveries: [],
    link: null,
    now,
  }),
  newLink: newLinkPage({ ...frame, nonce, form: emptyForm, chains, settlement: settled, asksReceiver: false }),
  newLinkWallet: newLinkPage({
    ...frame,
    nonce,
    form: { values: { amount: say('ten') }, errors: { amount: say('must be a decimal like 10.00') } },
    chains,
    settlement: null,
    asksReceiver: true,
  }),
  newLinkFirst: newLinkPage({ ...frame, nonce, form: emptyForm, chains, settlement: null, asksReceiver: false }),
  delivery: deliveryPage({
    ...frame,
    delivery: exhausted(say),
    url: say('https://shop.teahouse.example/webhooks'),
    error: null,
    duration_ms: 1_204,
    request: {
      headers: [
        ['Content-Type', 'application/json'],
        ['X-Service-Timestamp', '1795349104000'],
        ['X-Service-Signature', `sha256=${secret}`],
        ['webhook-id', say('7b1c4e2f')],
      ],
      body: JSON.stringify({
        event_id: '7b1c4e2f',
        type: 'payment_payout_completed',
        data: { id: '51e61f19', orderId: say('A-1042') },
      }),
      proved: true,
    },
    firstDeliveryId: null,
    repeats: [delivery(say)],
    mayRedeliver: true,
  }),
});
