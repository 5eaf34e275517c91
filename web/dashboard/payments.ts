/** An app’s payments: filters, search, pages. GET: q, status, from, to (days), cursor. */
import type { VNode } from 'preact';
import { type PaymentStatus, type PaymentView, paymentStatuses } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import { empty } from '../parts/boxes.ts';
import { linkButton, submit } from '../parts/button.ts';
import { wordOf } from '../parts/chip.ts';
import { selectField, textField } from '../parts/field.ts';
import type { FormState } from '../parts/form.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { pager } from '../parts/pager.ts';
import { appPaths, withQuery } from '../parts/paths.ts';
import { paymentTable } from './paymentTable.ts';

export interface PaymentsModel extends Frame {
  /** Fields: q, status, from, to. */
  readonly filter: FormState;
  /** Newest first. */
  readonly payments: readonly PaymentView[];
  /** The cursor that this page began at; null on the first. */
  readonly cursor: string | null;
  readonly nextCursor: string | null;
  /** Whether the app ever had a payment: an empty list teaches something else then. */
  readonly any: boolean;
  readonly now: Instant;
}

export const paymentsPage = (model: PaymentsModel): VNode => {
  const { app, filter, payments, cursor, nextCursor } = model;
  const to = appPaths(app.appId);
  const query = Object.fromEntries(['q', 'status', 'from', 'to'].map((name) => [name, filter.values[name] ?? null]));
  const filtered = Object.values(query).some((value) => value !== null && value !== '');
  return appPage(
    model,
    {
      title: 'Payments',
      section: 'payments',
      live: payments.length > 0 ? `Newest payment: ${payments[0] && wordOf(payments[0].status)}` : '',
      controls: [
        payments.length > 0 && linkButton(withQuery(to.csv, query), 'Export CSV'),
        linkButton(to.newLink, 'New payment link', 'primary'),
      ],
    },
    html`<div class="stack">
      ${(model.any || filtered) && filters(to.payments, filter, filtered)}
      <section class="card" id="list" data-live="part" aria-label="Payments">
        ${payments.length > 0 ? paymentTable(app.appId, payments) : noPayments(model, filtered)}
        ${pager({ path: to.payments, query, cursor, nextCursor })}
      </section>
    </div>`,
  );
};

const statusOptions = [
  { value: '', label: 'Any state' },
  ...paymentStatuses.map((status) => ({ value: status, label: optionOf(status) })),
];

/** Where two statuses have one word for people, the status itself tells them apart. */
function optionOf(status: PaymentStatus): string {
  const word = wordOf(status);
  return paymentStatuses.filter((other) => wordOf(other) === word).length === 1
    ? word
    : `${word} (${status.replace('payment_', '')})`;
}

const filters = (path: string, form: FormState, filtered: boolean): VNode =>
  html`<form class="filters" role="search" method="get" action=${path}>
    ${textField({
      form,
      name: 'q',
      label: 'Search',
      type: 'search',
      optional: true,
      maxlength: 200,
      placeholder: 'Order, payment id or transaction',
    })}
    ${selectField({ form, name: 'status', label: 'State', optional: true, options: statusOptions })}
    ${textField({ form, name: 'from', label: 'From (UTC)', type: 'date', optional: true })}
    ${textField({ form, name: 'to', label: 'To (UTC)', type: 'date', optional: true })}
    <div class="controls">${submit('Filter', 'plain')}${filtered && linkButton(path, 'Clear', 'quiet')}</div>
  </form>`;

function noPayments({ app, any, cursor }: PaymentsModel, filtered: boolean): VNode {
  const to = appPaths(app.appId);
  if (filtered) {
    return empty(
      'No payment is like that',
      'Look for the whole order id, payment id or transaction hash, or widen the days.',
      linkButton(to.payments, 'Show all'),
    );
  }
  if (any || cursor !== null)
    return empty('No more payments', 'This was the last page.', linkButton(to.payments, 'Newest'));
  return empty(
    'No payment yet',
    'Make a payment link and send it to somebody, or create payments with an API key. Each payment shows up here by itself, from its first moment on.',
    html`<div class="controls">${linkButton(to.newLink, 'Make a payment link', 'primary')}
      ${linkButton(to.keys, 'Issue an API key')}</div>`,
  );
}
