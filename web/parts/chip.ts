import type { VNode } from 'preact';
import type { PaymentStatus } from '../../domain/payment/view.ts';
import type { Delivery } from '../../queries/deliveries.ts';
import { html } from './html.ts';
import { type IconName, icon } from './icon.ts';

/** ok is final, wait goes on by itself, bad needs somebody, idle is over. */
export type State = 'ok' | 'wait' | 'bad' | 'idle';

export const shapes: Readonly<Record<State, IconName>> = { ok: 'check', wait: 'clock', bad: 'alert', idle: 'over' };

/** A state by colour, shape and word together. */
export const chip = (state: State, word: string): VNode =>
  html`<span class=${`chip ${state}`}>${icon(shapes[state])}${word}</span>`;

const statuses: Readonly<Record<PaymentStatus, readonly [State, string]>> = {
  payment_unpaid: ['wait', 'Not paid yet'],
  payment_started: ['wait', 'Confirming'],
  payment_payin_completed: ['wait', 'Paid, payout due'],
  payment_bridging: ['wait', 'Paid, payout due'],
  payment_payout_started: ['wait', 'Paying out'],
  payment_payout_completed: ['ok', 'Completed'],
  payment_completed: ['ok', 'Completed'],
  payment_bounced: ['bad', 'Money held'],
  payment_expired: ['idle', 'Expired'],
  payment_refunded: ['idle', 'Refunded'],
};

export const stateOf = (status: PaymentStatus): State => statuses[status][0];
export const wordOf = (status: PaymentStatus): string => statuses[status][1];
export const statusChip = (status: PaymentStatus): VNode => chip(...statuses[status]);

/** How a webhook went. */
export const deliveryChip = ({
  status,
  statusCode,
  error,
}: Pick<Delivery, 'status' | 'statusCode' | 'error'>): VNode => {
  if (status === 'delivered') return chip('ok', `Taken, ${statusCode}`);
  if (error === 'unknown') return chip('wait', 'No answer yet');
  return chip('bad', statusCode === null ? 'No answer' : `Refused, ${statusCode}`);
};
