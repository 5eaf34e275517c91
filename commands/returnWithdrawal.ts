/** Returns the cents of a withdrawal of cashback to the merchant's account when its payment bounced. */
import { type CashbackState, cashback, overtaken, returnWithdrawal } from '../domain/cashback.ts';
import { isRefusal, type Refusal } from '../domain/decider.ts';
import { returnedBy } from '../domain/payment/cashback.ts';
import { paymentDecider } from '../domain/payment/state.ts';
import { findWithdrawal } from './findWithdrawal.ts';
import { type By, currentState, type Handle } from './handle.ts';
import type { Clock, EventStore } from './ports.ts';

export interface ReturnDeps {
  readonly handle: Handle;
  readonly store: Pick<EventStore, 'read'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Maximum attempts while other withdrawals of the same merchant return. */
const triesMax = 8;

/**
 * Changes nothing where the payment has not bounced or the cents have returned. After a crash the worker of withdrawals repeats it.
 *
 * @throws Unavailable
 */
export async function returnBounced(
  { handle, store, clock }: ReturnDeps,
  appId: string,
  paymentId: string,
  by: By,
): Promise<Refusal | undefined> {
  const payment = await currentState(handle, paymentDecider, paymentId);
  const cents = payment && returnedBy(payment);
  if (!payment || cents === null) return undefined;
  const { createdAt } = payment.terms;
  for (let tries = 1; tries <= triesMax; tries += 1) {
    // The account is read before the search: a return in between shows in one of the two.
    const seen = await currentState(handle, cashback, appId);
    if (!(await findWithdrawal(store, { appId, paymentId, createdAt }))) return undefined;
    const decide = (state: CashbackState) => returnWithdrawal(state, { paymentId, cents }, { seen, now: clock.now() });
    const returned = await handle(cashback, appId, decide, { ...by, appId });
    if (!isRefusal(returned)) return undefined;
    if (returned !== overtaken) return returned;
  }
  return overtaken;
}
