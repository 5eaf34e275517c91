import { formatAmount } from '../domain/money.ts';
import type { PaymentState } from '../domain/payment/state.ts';
import type { Instant } from '../domain/time.ts';
import { add, ofStates } from './projection.ts';
import type { Tables } from './tables.ts';

/**
 * Sums by app and by the UTC hour of the confirmed payout, and of each refund by its own. What left its chain is subtracted again.
 */
export const hourlyStats = ofStates('hourlyStats', 'payment', ({ before, after }) => {
  const paid = before?.payout?.settled === after.payout?.settled ? [] : [...share(before, -1n), ...share(after, 1n)];
  const back =
    before?.refunds === after.refunds ? [] : [...sentBack(before, after, -1n), ...sentBack(after, before, 1n)];
  return [...paid, ...back].map((row) => add('hourly_stats', row));
});

/** What a payment adds to its hour or takes from it: nothing before its payout is confirmed. */
function share(payment: PaymentState, sign: 1n | -1n): readonly Tables['hourly_stats'][] {
  const settled = payment?.payout?.settled;
  // A withdrawal is no sale.
  if (!payment?.funded || !settled || payment.funded.rule === 'cashback') return [];
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

/** The refunds that are final in one of the two and not, or not in the same block, in the other. */
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
