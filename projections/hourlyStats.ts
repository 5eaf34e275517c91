import { formatAmount } from '../domain/money.ts';
import type { PaymentState } from '../domain/payment/state.ts';
import { add, ofStates } from './projection.ts';
import type { Tables } from './tables.ts';

/** Sums by app and by the UTC hour of the confirmed payout. A payout that left its chain is subtracted again. */
export const hourlyStats = ofStates('hourlyStats', 'payment', ({ before, after }) => {
  if (before?.payout?.settled === after.payout?.settled) return [];
  return [...share(before, -1n), ...share(after, 1n)].map((row) => add('hourly_stats', row));
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
      hour: `${settled.confirmedAt.slice(0, 13)}:00:00.000Z`,
      volume: formatAmount(sign * payment.funded.sourceAmount, source.token.decimals),
      net: formatAmount(sign * payment.funded.payout, destination.token.decimals),
      count: Number(sign),
    },
  ];
}
