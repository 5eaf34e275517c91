/** Creates payments of withdrawals that a crash has left without them. */
import { type FinishDeps, finishWithdrawal } from '../../commands/withdrawCashback.ts';
import type { Instant } from '../../domain/time.ts';
import type { Worker } from './worker.ts';

interface UnfinishedWithdrawal {
  readonly appId: string;
  readonly paymentId: string;
}

export interface WithdrawalsDeps extends FinishDeps {
  readonly due: (max: number, now: Instant) => Promise<readonly UnfinishedWithdrawal[]>;
}

export const withdrawalsWorkerName = 'withdrawals';

export function withdrawalsWorker({ due, ...deps }: WithdrawalsDeps): Worker<UnfinishedWithdrawal> {
  return {
    name: withdrawalsWorkerName,
    concurrency: 2,
    due,
    keyOf: ({ paymentId }) => paymentId,
    async act({ appId, paymentId }) {
      const refused = await finishWithdrawal(deps, appId, paymentId, { cause: `worker:${withdrawalsWorkerName}` });
      if (refused) throw new Error(`${refused.refused}: ${refused.message}`);
    },
  };
}
