/** Payments as rows, newest first. */
import type { VNode } from 'preact';
import type { PaymentView } from '../../domain/payment/view.ts';
import { statusChip } from '../parts/boxes.ts';
import { amount, paymentName, wayOf, when } from '../parts/cells.ts';
import { bdi, html } from '../parts/html.ts';
import { appPaths } from '../parts/paths.ts';
import { type Column, table } from '../parts/table.ts';

const columns: readonly Column[] = [
  { head: 'Order', kind: 'title' },
  { head: 'Way', kind: 'note' },
  { head: 'State', kind: 'chip' },
  { head: 'Created', kind: 'when', sorted: 'descending' },
  { head: 'Amount', kind: 'number' },
];

export const paymentTable = (appId: string, payments: readonly PaymentView[]): VNode =>
  table(
    'Payments, newest first',
    columns,
    payments.map((payment) => [
      html`<strong><a href=${appPaths(appId).payment(payment.paymentId)}>${bdi(paymentName(payment))}</a></strong>`,
      wayOf(payment),
      statusChip(payment.status),
      when(payment.createdAt),
      amount(payment.amountReceived ?? payment.sourceAmount, payment.sourceTokenSymbol),
    ]),
  );
