/** Records buyers' payments by credit in the merchants' accounts. */
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import {
  type FinishDeps,
  finishWithdrawal,
  type ReturnDeps,
  returnBounced,
} from '../../../commands/withdrawCashback.ts';
import { cashback, receive } from '../../../domain/cashback.ts';
import { credit, earn } from '../../../domain/credit.ts';
import { isRefusal } from '../../../domain/decider.ts';
import type { Instant } from '../../../domain/time.ts';
import type { CashbackPayment, DueCredit } from '../../../queries/cashback.ts';
import type { Worker } from '../engine.ts';

interface Merchant {
  readonly appId: string;
}

export interface CashbackWorkerDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly due: (max: number, now: Instant) => Promise<readonly Merchant[]>;
  /** The merchant's payments after a number, in order. */
  readonly paymentsAfter: (appId: string, after: number) => Promise<readonly CashbackPayment[]>;
}

export const cashbackWorkerName = 'cashback';

/**
 * Each payment has its number, and the account accepts only the next one: every payment arrives exactly once, despite losses and
 * repetitions.
 */
export function cashbackWorker({ handle, clock, due, paymentsAfter }: CashbackWorkerDeps): Worker<Merchant> {
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

// Credits payers with their share of completed payments.

export interface CreditsDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** Waits until the read models have reached a log position. */
  /** Resolves once the list contains everything in the log. @throws Unavailable after a timeout */
  readonly caughtUp: () => Promise<unknown>;
  readonly due: (max: number, now: Instant) => Promise<readonly DueCredit[]>;
}

export const creditsWorkerName = 'credits';

/**
 * Crash before the append: the entry is still listed. After it: the entry is removed with the event, and until then the account's last
 * events reveal that the payment has earned. Reads the list once it contains everything in the log: a list that is being rebuilt contains
 * entries whose later events are missing.
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

// Creates withdrawals' payments that are missing after a crash, and returns the cents of those that cannot be paid out.

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
