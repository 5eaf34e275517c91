/** Gives payers the share of their completed payments. */
import type { Handle } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import { credit, earn } from '../../../domain/credit.ts';
import { isRefusal } from '../../../domain/decider.ts';
import type { Instant } from '../../../domain/time.ts';
import type { DueCredit } from '../../../queries/cashback.ts';
import type { Worker } from '../engine.ts';

export interface CreditsDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** Waits until the read models have come to a position of the log. */
  /** Resolves once the list shows all that the log holds. @throws Unavailable after a while */
  readonly caughtUp: () => Promise<unknown>;
  readonly due: (max: number, now: Instant) => Promise<readonly DueCredit[]>;
}

export const creditsWorkerName = 'credits';

/**
 * Crash before the append: the entry is still there. After it: the entry goes with the event, and until then the account's last events
 * tell that the payment has earned. The list is read when it shows all that the log holds: one that is being filled again shows entries
 * whose events are still to come.
 */
export function creditsWorker({ handle, clock, caughtUp, due }: CreditsDeps): Worker<DueCredit> {
  return {
    name: creditsWorkerName,
    concurrency: 8,
    async due(max, now) {
      await caughtUp();
      return due(max, now);
    },
    keyOf: ({ paymentId, account }) => `${paymentId}:${account}`,
    async act(earning) {
      const facts = { cause: `worker:${creditsWorkerName}`, appId: earning.appId } as const;
      const earned = await handle(credit, earning.account, (state) => earn(state, earning, clock.now()), facts);
      if (isRefusal(earned)) throw new Error(earned.message);
    },
  };
}
