/** Records in refunded payments how the payments that fund their refunds have ended. */
import { type FundedRefundKey, type FundedRefundsDeps, settleFundedRefund } from '../../../commands/fundedRefunds.ts';
import type { Instant } from '../../../domain/time.ts';
import type { Worker } from '../engine.ts';

export interface FundedRefundsWorkerDeps extends Pick<FundedRefundsDeps, 'handle' | 'clock'> {
  readonly due: (max: number, now: Instant) => Promise<readonly FundedRefundKey[]>;
}

export const fundedRefundsWorkerName = 'fundedRefunds';

export function fundedRefundsWorker({ due, ...deps }: FundedRefundsWorkerDeps): Worker<FundedRefundKey> {
  return {
    name: fundedRefundsWorkerName,
    concurrency: 2,
    due,
    keyOf: ({ fundingPaymentId }) => fundingPaymentId,
    async act(item) {
      const refused = await settleFundedRefund(deps, item, { cause: `worker:${fundedRefundsWorkerName}` });
      if (refused) throw new Error(`${refused.refused}: ${refused.message}`);
    },
  };
}
