/** Pages about payments. */
import type { VNode } from 'preact';
import type { PayerOfRefund } from '../../../commands/fundedRefunds.ts';
import { chains } from '../../../domain/chains.ts';
import type { FundedRefund } from '../../../domain/payment/fundedRefund.ts';
import type { RefundableMoney } from '../../../domain/payment/refundOrder.ts';
import { confirmPage } from '../../../web/dashboard/confirm.ts';
import { deliveryPage } from '../../../web/dashboard/deliveries.ts';
import { findPage } from '../../../web/dashboard/find.ts';
import { confirmAddressPage, fundFormPage } from '../../../web/dashboard/fundRefund.ts';
import { newLinkPage } from '../../../web/dashboard/newLink.ts';
import { overviewPage } from '../../../web/dashboard/overview.ts';
import { type Moment, paymentPage } from '../../../web/dashboard/payment.ts';
import { paymentsPage } from '../../../web/dashboard/payments.ts';
import { confirmRefundPage, refundFormPage } from '../../../web/dashboard/refunds.ts';
import { refusalText } from '../../../web/dashboard/refusals.ts';
import { notePage } from '../../../web/dashboard/tend.ts';
import { emptyForm } from '../../../web/parts/field.ts';
import type { Frame } from '../../../web/parts/frame.ts';
import { flashTexts } from '../../../web/parts/messages/flashes.ts';
import { pageLanguage } from '../../../web/parts/say.ts';
import { nothing, overview } from './overview.ts';
import {
  ago,
  counted,
  list,
  needs,
  noNeeds,
  nothingCounted,
  now,
  onStellar,
  payer,
  payinHash,
  payment,
  type Say,
  secret,
  underpaid,
  usdcOnBase,
} from './payments.ts';
import { settled } from './settingsPages.ts';
import { delivery, exhausted, money, story, transactions } from './story.ts';

/** Five held dollars, of which this amount has a proven address. */
const held = (proven: bigint): RefundableMoney => ({
  reason: 'bounced',
  chainId: 8453,
  token: { symbol: 'USDC', address: usdcOnBase, decimals: 6 },
  amount: 5_000_000n,
  proven,
  networkFee: proven > 0n ? 50_000n : null,
  owners: [],
});

const payerOfRefund: PayerOfRefund = {
  ...{ sender: payer, transferId: `8453:${payinHash}:0`, chainId: 8453, tokenSymbol: 'USDC' },
  ...{ fundable: null, receiver: payer, confirmed: null },
};

const confirmation = (say: Say) => ({
  ...{ number: 1, sender: payer, transferId: `8453:${payinHash}:0`, address: say(payer), memo: null },
  ...{ confirmedBy: 'developer:ann', confirmedAt: ago(60), effectiveAt: ago(-2_820), withdrawn: false },
});

const fundedRefund = (refund: number, outcome: 'paid' | 'unpaid' | null): FundedRefund => ({
  ...{ refund, fundingPaymentId: '0198f3c2-0000-8000-8000-0000000000f1', chainId: 8453, amount: 4_000_000n },
  ...{ token: { symbol: 'USDC', address: usdcOnBase, decimals: 6 }, receiverAddress: payer, receiverMemo: null },
  ...{ proof: { sender: payer, by: 'signature' }, requestKey: 'k', requestedAt: ago(90) },
  ended: outcome && { outcome, at: ago(30) },
});

const sentBack = {
  refund: 1,
  status: 'sent',
  reason: 'bounced',
  chainId: 8453,
  tokenSymbol: 'USDC',
  tokenAddress: usdcOnBase,
  amount: '2.45',
  networkFee: '0.05',
  receiverAddress: payer,
  receiverMemo: null,
  requestedBy: 'owner',
  requestedAt: ago(20_000),
  txHash: payinHash,
  confirmedAt: null,
} as const;

const today: Moment = { at: null, form: emptyForm };

/** Nonce of a form. */
const nonce = '8f14e45f-ceea-467f-a9d5-1b2c3d4e5f60';

export const paymentPages = (frame: Frame, say: Say): Readonly<Record<string, VNode>> => ({
  overview: overviewPage({
    ...frame,
    period: '30d',
    overview: overview,
    payments: list(say).slice(0, 6),
    setUp: { key: true, settlement: true, webhook: true },
    needs: needs(say, 2),
    now,
  }),
  overviewFirst: overviewPage({
    ...frame,
    flash: { kind: 'done', text: say(flashTexts[pageLanguage()].appRegistered) },
    period: '7d',
    overview: nothing,
    payments: [],
    setUp: { key: false, settlement: true, webhook: false },
    needs: noNeeds,
    now,
  }),
  payments: paymentsPage({
    ...frame,
    filter: emptyForm,
    payments: list(say),
    cursor: null,
    nextCursor: 'c',
    any: true,
    ...counted,
    now,
  }),
  paymentsNone: paymentsPage({
    ...frame,
    filter: { values: { q: say('A-77'), status: 'payment_bounced' }, errors: {} },
    payments: [],
    cursor: null,
    nextCursor: null,
    any: true,
    ...counted,
    now,
  }),
  paymentsFirst: paymentsPage({
    ...frame,
    filter: emptyForm,
    payments: [],
    cursor: null,
    nextCursor: null,
    any: false,
    ...nothingCounted,
    now,
  }),
  payment: paymentPage({
    ...frame,
    moment: today,
    payment: payment(say),
    story: story,
    transactions,
    deliveries: [exhausted(say), delivery(say)],
    held: [],
    funded: null,
    link: null,
    now,
  }),
  paymentPast: paymentPage({
    ...frame,
    moment: { at: ago(600), form: { values: { asOf: ago(600).slice(0, 16) }, errors: {} } },
    payment: payment(say, {
      status: 'payment_started',
      payoutConfirmedAt: null,
      lineItems: [
        { name: say('Darjeeling First Flush, 250 g'), quantity: 2, amount: '9.00' },
        { name: say('Shipping'), quantity: 1, amount: '1.00' },
      ],
    }),
    story: story.slice(0, 3),
    transactions,
    deliveries: [exhausted(say), delivery(say)],
    held: [],
    funded: null,
    link: null,
    now,
  }),
  paymentUnderpaid: paymentPage({
    ...frame,
    moment: today,
    payment: underpaid(say),
    story: story.slice(0, 2),
    transactions: transactions.slice(0, 1),
    deliveries: [],
    held: [],
    funded: null,
    link: 'https://pay.example/p/51e61f19-6faf-864c-aaec-b8f58c1ad314',
    now,
  }),
  paymentCancel: confirmPage({ ...frame, danger: { kind: 'cancelPayment', payment: underpaid(say) } }),
  paymentNote: notePage({
    ...frame,
    payment: payment(say),
    form: {
      values: { note: say('Called on Friday'), tags: say('wholesale <b>') },
      errors: { tags: say('“<b>” is not a tag: a tag has at most 32 letters and digits.') },
    },
  }),
  find: findPage({ ...frame, q: say('a'), payments: list(say).slice(0, 4), count: 9 }),
  findNone: findPage({ ...frame, q: say('zzz'), payments: [], count: 0 }),
  paymentUnpaid: paymentPage({
    ...frame,
    moment: today,
    payment: onStellar(say),
    story: story.slice(0, 1),
    transactions: [],
    deliveries: [],
    held: [],
    funded: null,
    link: 'https://pay.example/p/51e61f19-6faf-864c-aaec-b8f58c1ad314',
    now,
  }),
  paymentHeld: paymentPage({
    ...frame,
    moment: today,
    payment: payment(say, {
      status: 'payment_bounced',
      errorCode: 'amountTooLow',
      errorMessage:
        'Less than the agreed or the least accepted amount arrived in time. The money is held and can be refunded.',
      amountReceived: '7.50',
      amountCame: '7.50',
      amountDelta: '-2.52',
      payoutConfirmedAt: null,
      payoutTxHash: null,
    }),
    story: [
      ...story.slice(0, 2),
      {
        at: ago(1_000),
        status: 'payment_started',
        type: 'policyApplied',
        rule: 'under',
        verdict: 'refund',
        money: money('7.50'),
        chainId: 8453,
      },
      { at: ago(1_000), status: 'payment_bounced', type: 'bounced', code: 'amountTooLow', received: money('7.50') },
    ],
    transactions: transactions.slice(0, 1),
    deliveries: [],
    held: [held(0n)],
    funded: null,
    link: 'https://pay.example/pay/secret',
    now,
  }),
  paymentSentBack: paymentPage({
    ...frame,
    moment: today,
    payment: payment(say, { status: 'payment_bounced', amountReceived: '7.50', refunds: [sentBack] }),
    story: story.slice(0, 2),
    transactions: transactions.slice(0, 1),
    deliveries: [],
    held: [held(5_000_000n)],
    funded: null,
    link: null,
    now,
  }),
  paymentFunded: paymentPage({
    ...frame,
    moment: today,
    payment: payment(say),
    story,
    transactions,
    deliveries: [],
    held: [],
    funded: {
      payers: [
        { ...payerOfRefund, fundable: '4.00' },
        { ...payerOfRefund, fundable: '1.00', receiver: null, confirmed: confirmation(say) },
      ],
      refunds: [fundedRefund(1, 'paid'), fundedRefund(2, 'unpaid'), fundedRefund(3, null)],
      now,
    },
    link: 'https://pay.example/pay/secret',
    now,
  }),
  fundRefund: fundFormPage({
    ...frame,
    paymentId: sentBack.txHash,
    payers: [{ ...payerOfRefund, fundable: '4.00' }],
    nonce,
    form: { values: { amount: say('ten') }, errors: { amount: say('at most 4.00 is left to refund') } },
  }),
  fundNothing: fundFormPage({ ...frame, paymentId: sentBack.txHash, payers: [], nonce, form: emptyForm }),
  confirmAddress: confirmAddressPage({
    ...{ ...frame, paymentId: sentBack.txHash, payers: [payerOfRefund], delay_hours: 48, challenge: null },
    ...{
      form: {
        values: { address: say('0x12') },
        errors: { address: refusalText('invalidRequest', 'must be an address on Base', 'address') },
      },
      mailboxUrl: null,
    },
  }),
  confirmAddressCode: confirmAddressPage({
    ...{ ...frame, paymentId: sentBack.txHash, payers: [payerOfRefund], delay_hours: 48, challenge: 'c' },
    form: { values: { transferId: '8453:0x1:0', address: payer, memo: say('7') }, errors: {} },
    mailboxUrl: 'http://localhost:8025',
  }),
  refund: refundFormPage({ ...frame, paymentId: sentBack.txHash, held: [held(5_000_000n)], form: emptyForm }),
  refundRefused: refundFormPage({
    ...frame,
    paymentId: sentBack.txHash,
    held: [held(5_000_000n)],
    form: {
      values: { scope: 'part', amount: say('ten') },
      errors: { amount: say('It would not cover what sending it costs.') },
    },
  }),
  refundConfirm: confirmRefundPage({
    ...frame,
    paymentId: sentBack.txHash,
    planned: [
      { ...held(0n), amount: 5_000_000n, networkFee: 50_000n, receiver: { address: payer, memo: null }, proof: null },
    ],
    order: { scope: 'all', key: 'k', challenge: 'c' },
    form: { values: {}, errors: { code: refusalText('codeWrong', 'the code is another one: 4 more tries', 'code') } },
    mailboxUrl: 'http://localhost:8025',
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
    delivery: { ...exhausted(say), endpointId: '4b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2' },
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
    endpointRemoved: false,
  }),
  deliveryRemoved: deliveryPage({
    ...frame,
    delivery: { ...exhausted(say), endpointId: '4b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2' },
    url: say('https://shop.teahouse.example/webhooks'),
    error: null,
    duration_ms: 1_204,
    request: null,
    firstDeliveryId: null,
    repeats: [],
    mayRedeliver: false,
    endpointRemoved: true,
  }),
});
