import { formatAmount } from '../domain/money.ts';
import type { Payment } from '../domain/payment/state.ts';
import { add, ofPayments } from './projection.ts';

/** Sums per app and UTC hour of the confirmed payout; a payout that left its chain is taken off again. */
export const hourlyStats = ofPayments('hourlyStats', ({ event, before, after }) => {
  const confirmed = event.type === 'PayoutConfirmed' && !before?.payout?.settled;
  if (confirmed) return [add('hourly_stats', share(after, event.data.confirmedAt, 1n))];
  const settled = event.type === 'PayoutOrphaned' ? before?.payout?.settled : undefined;
  return settled ? [add('hourly_stats', share(after, settled.confirmedAt, -1n))] : [];
});

function share({ terms, funded }: Payment, confirmedAt: string, sign: 1n | -1n) {
  const { source, destination, appId } = terms;
  return {
    app_id: appId,
    hour: `${confirmedAt.slice(0, 13)}:00:00.000Z`,
    volume: formatAmount(sign * (funded?.sourceAmount ?? 0n), source.token.decimals),
    net: formatAmount(sign * (funded?.payout ?? 0n), destination.token.decimals),
    count: Number(sign),
  };
}
