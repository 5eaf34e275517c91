/** Payments as rows. The whole row leads to the payment. */
import type { VNode } from 'preact';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { Sorting } from '../../queries/findPayments.ts';
import { amount, paymentName, wayOf, when } from '../parts/cells.ts';
import { bdi, type Content, cut, html } from '../parts/html.ts';
import { appPaths } from '../parts/paths.ts';
import { cameOf, dueOf, paymentChip } from '../parts/paymentState.ts';
import { type PlainName, sayText } from '../parts/say.ts';
import { type Column, table } from '../parts/table.ts';

const captions: Readonly<Record<Sorting, PlainName>> = {
  newest: 'captionNewest',
  oldest: 'captionOldest',
  largest: 'captionLargest',
  smallest: 'captionSmallest',
};

const columnsBy = (sort: Sorting): readonly Column[] => [
  { head: sayText('payment'), kind: 'title' },
  { head: sayText('way'), kind: 'note' },
  { head: sayText('state'), kind: 'chip' },
  {
    head: sayText('created'),
    kind: 'when',
    ...(sort === 'newest' && { sorted: 'descending' }),
    ...(sort === 'oldest' && { sorted: 'ascending' }),
  },
  {
    head: sayText('due'),
    kind: 'number',
    ...(sort === 'largest' && { sorted: 'descending' }),
    ...(sort === 'smallest' && { sorted: 'ascending' }),
  },
  { head: sayText('received'), kind: 'detail' },
];

export const paymentTable = (appId: string, payments: readonly PaymentView[], sort: Sorting = 'newest'): VNode =>
  html`<div class="whole-rows">${table(
    sayText(captions[sort]),
    columnsBy(sort),
    payments.map((payment) => [
      nameCell(appId, payment),
      html`<span class="names">${wayOf(payment)}</span>`,
      paymentChip(payment),
      when(payment.createdAt),
      amount(dueOf(payment), payment.sourceTokenSymbol),
      receivedCell(payment),
    ]),
  )}</div>`;

function nameCell(appId: string, payment: PaymentView): Content {
  const { orderId, title, tags } = payment;
  return html`<span><strong><a href=${appPaths(appId).payment(payment.paymentId)}>${bdi(paymentName(payment))}</a></strong>
    ${orderId !== null && title !== null && html`<small class="below">${bdi(cut(title, 80))}</small>`}
    ${tags !== null && html`<small class="below">${bdi(tags.map((tag) => `#${tag}`).join(' '))}</small>`}</span>`;
}

function receivedCell(payment: PaymentView): Content {
  const came = cameOf(payment);
  if (came.length === 0) return null;
  return html`<span dir="ltr">${came.flatMap((each, place) => [place > 0 && ' + ', html`<span class="money">${each}</span>`])}</span>`;
}
