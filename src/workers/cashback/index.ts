/** Buyers' credit: payments by credit over HTTP, and their workers. */
import { createPayByCredit } from '../../../commands/payByCredit.ts';
import {
  cashbackAfter,
  cashbackMovements,
  dueCashback,
  dueCredits,
  dueWithdrawals,
  getCashback,
} from '../../../queries/cashback.ts';
import { type CashbackDeps, cashbackSignPath } from '../../api/routes/cashback.ts';
import { createMessageSigners } from '../../chains/messages.ts';
import type { Core } from '../../core.ts';
import type { RoleWorker } from '../run.ts';
import {
  cashbackWorker,
  cashbackWorkerName,
  creditsWorker,
  creditsWorkerName,
  withdrawalsWorker,
  withdrawalsWorkerName,
} from './cashback.ts';

/** Notified when a list of the workers may have grown. */
export const cashbackChannel = 'todo_cashback';
/** Maximum payments per round; the others stay in the list. */
const paymentsAtOnce = 200;

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

export function cashbackOf({ config, handle, clock, chains, reads }: Core, publicUrl: () => string): CashbackDeps {
  const { path } = config.cashback;
  return {
    path,
    pay: createPayByCredit({
      handle,
      clock,
      signers: createMessageSigners(chains),
      service: () => `${publicUrl()}${path}${cashbackSignPath}`,
      isCurrency: (code) => currencies.has(code),
    }),
    of: (appId, limit) => getCashback(reads, appId, limit),
    movements: (appId, limit) => cashbackMovements(reads, appId, limit),
  };
}

export const cashbackWorkers = ({
  workHandle,
  store,
  clock,
  database,
  deposits,
  caughtUp,
}: Core): readonly RoleWorker[] => [
  {
    worker: creditsWorker({
      handle: workHandle,
      clock,
      caughtUp,
      due: (max, now) => dueCredits(database, { worker: creditsWorkerName, max, now }),
    }),
  },
  {
    worker: cashbackWorker({
      handle: workHandle,
      clock,
      due: (max, now) => dueCashback(database, { worker: cashbackWorkerName, max, now }),
      paymentsAfter: (appId, after) => cashbackAfter(database, appId, { after, max: paymentsAtOnce }),
    }),
  },
  {
    worker: withdrawalsWorker({
      handle: workHandle,
      store,
      clock,
      deposits,
      due: (max, now) => dueWithdrawals(database, { worker: withdrawalsWorkerName, max, now }),
    }),
  },
];
