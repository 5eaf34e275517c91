import type { PaymentState } from '../domain/payment/state.ts';
import { type PaymentStatus, statusOf } from '../domain/payment/view.ts';
import { add, ofStates } from './projection.ts';
import type { Tables } from './tables.ts';

/** How many payments are in which status, by app and the UTC hour of their creation. */
export const hourlyPayments = ofStates('hourlyPayments', 'payment', ({ before, after }) => {
  const [was, is] = [columnOf(before), columnOf(after)];
  if (was === is) return [];
  const { appId, createdAt } = after.terms;
  const moved = { ...none, ...(was && { [was]: -1 }), ...(is && { [is]: 1 }) };
  return [add('hourly_payments', { app_id: appId, hour: `${createdAt.slice(0, 13)}:00:00.000Z`, ...moved })];
});

type Column = Exclude<keyof Tables['hourly_payments'], 'app_id' | 'hour'>;

const none: Readonly<Record<Column, number>> = {
  unpaid: 0,
  started: 0,
  payin_completed: 0,
  bridging: 0,
  payout_started: 0,
  payout_completed: 0,
  completed: 0,
  bounced: 0,
  expired: 0,
  refunded: 0,
};

/** `payment_unpaid` is counted in `unpaid`: the compiler asks for a column of every status. */
const columnOf = (payment: PaymentState): Column | null =>
  payment && (statusOf(payment).slice('payment_'.length) as Short<PaymentStatus>);

type Short<Status> = Status extends `payment_${infer Rest}` ? Rest : never;
