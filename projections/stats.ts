import { formatAmount } from '../domain/money.ts';
import type { PaymentState } from '../domain/payment/state.ts';
import { type PaymentStatus, seenAt, statusOf } from '../domain/payment/view.ts';
import { epochMs, type Instant } from '../domain/time.ts';
import { add, ofStates } from './projection.ts';
import type { Tables } from './tables.ts';

/** Sums by app and by the UTC hour of the confirmed payout, and of each refund by its own hour. Orphaned ones are subtracted again. */
export const hourlyStats = ofStates('hourlyStats', 'payment', ({ before, after }) => {
  const paid = before?.payout?.settled === after.payout?.settled ? [] : [...share(before, -1n), ...share(after, 1n)];
  const back =
    before?.refunds === after.refunds ? [] : [...sentBack(before, after, -1n), ...sentBack(after, before, 1n)];
  return [...paid, ...back].map((row) => add('hourly_stats', row));
});

/** A payment's part of its hour's sums: zero before its payout is confirmed. */
function share(payment: PaymentState, sign: 1n | -1n): readonly Tables['hourly_stats'][] {
  const settled = payment?.payout?.settled;
  // Neither a withdrawal nor the funding of a refund is a sale.
  if (!payment?.funded || !settled || payment.funded.rule === 'cashback' || payment.terms.refundOf) return [];
  const { source, destination, appId } = payment.terms;
  return [
    {
      app_id: appId,
      hour: hourOf(settled.confirmedAt),
      volume: formatAmount(sign * payment.funded.sourceAmount, source.token.decimals),
      net: formatAmount(sign * payment.funded.payout, destination.token.decimals),
      count: Number(sign),
      refunded: '0',
    },
  ];
}

/** Refunds that are final in one of the two states only, or in different blocks. */
function sentBack(payment: PaymentState, other: PaymentState, sign: 1n | -1n): readonly Tables['hourly_stats'][] {
  return (payment?.refunds ?? []).flatMap(({ refund, order, settled }) => {
    const same = other?.refunds.some((known) => known.refund === refund && known.settled === settled);
    if (!payment || !settled || same) return [];
    return [
      {
        app_id: payment.terms.appId,
        hour: hourOf(settled.confirmedAt),
        volume: '0',
        net: '0',
        count: 0,
        refunded: formatAmount(sign * order.amount, order.token.decimals),
      },
    ];
  });
}

const hourOf = (at: Instant): string => `${at.slice(0, 13)}:00:00.000Z`;

/** Number of payments per status, by app and the UTC hour of their creation. */
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

/** `payment_unpaid` is counted in `unpaid`; a payment that funds a refund is not counted. The compiler requires a column for every status. */
const columnOf = (payment: PaymentState): Column | null =>
  payment && !payment.terms.refundOf ? (statusOf(payment).slice('payment_'.length) as Short<PaymentStatus>) : null;

type Short<Status> = Status extends `payment_${infer Rest}` ? Rest : never;

/** Durations of payments, by app and the UTC day of the confirmed payout. An orphaned payout is removed. */
export const dailyDurations = ofStates('dailyDurations', 'payment', ({ before, after }) => {
  const [was, is] = [durationOf(before), durationOf(after)];
  if (was?.day === is?.day && was?.seconds === is?.seconds) return [];
  const changed = [...(was ? [{ ...was, count: -1 }] : []), ...(is ? [{ ...is, count: 1 }] : [])];
  return changed.map((row) => add('daily_durations', row));
});

/** From the payin's block to the confirmed payout; null if either is missing. */
function durationOf(payment: PaymentState) {
  const settled = payment?.payout?.settled;
  const seen = payment && seenAt(payment);
  if (!settled || !seen) return null;
  const seconds = Math.max(0, Math.ceil((epochMs(settled.confirmedAt) - epochMs(seen)) / 1_000));
  const day = `${settled.confirmedAt.slice(0, 10)}T00:00:00.000Z`;
  return { app_id: payment.terms.appId, day, seconds: roundedUp(seconds) };
}

/** Rounds to two digits: a percent or two is precise enough for people, and limits the rows of a day. */
export function roundedUp(seconds: number): number {
  const step = 10 ** Math.max(0, String(seconds).length - 2);
  return Math.ceil(seconds / step) * step;
}
