/** What an app's owner sees first: statistics of a period beside the period before, and how its payments fare. */
import type { PaymentStatus } from '../domain/payment/view.ts';
import type { Stats } from './reports.ts';

export interface Overview {
  readonly stats: Stats;
  /** The period of the same length that ended where this one begins. */
  readonly before: Pick<Stats, 'volumeUsdc' | 'paymentCount'>;
  /** Of the payments created in the period, as they stand now. */
  readonly created: {
    readonly count: number;
    /** Funded: their payout is under way or done. */
    readonly paid: number;
    readonly expiredUnpaid: number;
    readonly byStatus: Readonly<Partial<Record<PaymentStatus, number>>>;
  };
  /** Of the payments paid out in the period: from the payin's block to the confirmed payout, in whole seconds rounded up; null without any. */
  readonly seenToPaidOut: { readonly count: number; readonly median_s: number; readonly p95_s: number } | null;
}
