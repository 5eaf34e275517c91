/** Creates payments of withdrawals that a crash has left without them, and returns the cents of those that cannot be paid out. */
import { type ReturnDeps, returnBounced } from '../../../commands/returnWithdrawal.ts';
import { type FinishDeps, finishWithdrawal } from '../../../commands/withdrawCashback.ts';
import type { Instant } from '../../../domain/time.ts';
import type { Worker } from '../engine.ts';

interface UnfinishedWithdrawal {
  readonly appId: string;
  readonly paymentId: string;
}

export interface WithdrawalsDeps extends FinishDeps, ReturnDeps {
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
      const by = { cause: `worker:${withdrawalsWorkerName}` } as const;
      const refused =
        (await finishWithdrawal(deps, appId, paymentId, by)) ?? (await returnBounced(deps, appId, paymentId, by));
      if (refused) throw new Error(`${refused.refused}: ${refused.message}`);
    },
  };
}
