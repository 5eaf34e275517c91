import type { PaymentState } from '../domain/payment/state.ts';
import { seenAt } from '../domain/payment/view.ts';
import { epochMs } from '../domain/time.ts';
import { add, ofStates } from './projection.ts';

/** How long payments took, by app and the UTC day of the confirmed payout. A payout that left its chain is taken out again. */
export const dailyDurations = ofStates('dailyDurations', 'payment', ({ before, after }) => {
  const [was, is] = [durationOf(before), durationOf(after)];
  if (was?.day === is?.day && was?.seconds === is?.seconds) return [];
  const changed = [...(was ? [{ ...was, count: -1 }] : []), ...(is ? [{ ...is, count: 1 }] : [])];
  return changed.map((row) => add('daily_durations', row));
});

/** From the payin's block to the confirmed payout; null while there are not both. */
function durationOf(payment: PaymentState) {
  const settled = payment?.payout?.settled;
  const seen = payment && seenAt(payment);
  if (!settled || !seen) return null;
  const seconds = Math.max(0, Math.ceil((epochMs(settled.confirmedAt) - epochMs(seen)) / 1_000));
  const day = `${settled.confirmedAt.slice(0, 10)}T00:00:00.000Z`;
  return { app_id: payment.terms.appId, day, seconds: roundedUp(seconds) };
}

/** To two digits: a percent or two is as exact as people read it, and the rows of a day stay few. */
export function roundedUp(seconds: number): number {
  const step = 10 ** Math.max(0, String(seconds).length - 2);
  return Math.ceil(seconds / step) * step;
}
