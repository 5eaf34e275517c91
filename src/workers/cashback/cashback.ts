/** Brings what buyers pay out of their credit into the merchants' accounts. */
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import { cashback, receive } from '../../../domain/cashback.ts';
import { isRefusal } from '../../../domain/decider.ts';
import type { Instant } from '../../../domain/time.ts';
import type { CashbackPayment } from '../../../queries/cashback.ts';
import type { Worker } from '../engine.ts';

interface Merchant {
  readonly appId: string;
}

export interface CashbackDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly due: (max: number, now: Instant) => Promise<readonly Merchant[]>;
  /** The merchant's payments after a number, in turn. */
  readonly paymentsAfter: (appId: string, after: number) => Promise<readonly CashbackPayment[]>;
}

export const cashbackWorkerName = 'cashback';

/** Each payment has its number, and the account takes the next one only: whatever is lost or comes twice, each arrives once. */
export function cashbackWorker({ handle, clock, due, paymentsAfter }: CashbackDeps): Worker<Merchant> {
  return {
    name: cashbackWorkerName,
    concurrency: 4,
    due,
    keyOf: ({ appId }) => appId,
    async act({ appId }, signal) {
      const { received } = await currentState(handle, cashback, appId);
      for (const payment of await paymentsAfter(appId, received)) {
        if (signal.aborted) return;
        const { account, digest, orderId, cents } = payment;
        const next = { ordinal: Number(payment.ordinal), account, digest, orderId, cents };
        const facts = { cause: `worker:${cashbackWorkerName}`, appId } as const;
        const taken = await handle(cashback, appId, (state) => receive(state, next, clock.now()), facts);
        if (isRefusal(taken)) throw new Error(taken.message);
      }
    },
  };
}
