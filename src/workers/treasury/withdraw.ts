/** An operator sends money of the treasury to an address of the book, or to another account of the treasury by way of one. */
import { hash } from 'node:crypto';
import { currentState, type Handle } from '../../../commands/handle.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { day_ms, epochMs, type Instant } from '../../../domain/time.ts';
import { allowance, allowanceInstance, takeAllowance } from '../../../domain/treasury/allowance.ts';
import { type Operation, operation, orderOperation } from '../../../domain/treasury/operation.ts';
import { type OwedOn, takesWhatIsOwed } from '../payouts/spare.ts';
import type { OperatorBy } from './operator.ts';
import { type AskedWithdrawal, type Asking, type OrderDeps, orderOf, railOf } from './withdrawalOrder.ts';

export interface WithdrawDeps extends OrderDeps {
  readonly owedOn: OwedOn;
}

export interface Ordered {
  readonly id: string;
  readonly operation: Operation;
  /** False when the same was ordered lately: nothing was done. */
  readonly isNew: boolean;
}

/** Equal withdrawals that are told apart, of all time. */
const equalsMost = 1_000;

/**
 * Orders a withdrawal. Everything is checked before: nothing is ever half done.
 *
 * Its id follows from what is asked and from how many equal ones there were: whoever repeats himself after a lost answer meets his own
 * order. Of two who ask at once for the same, one orders it and the other is told so.
 */
export async function withdraw(
  deps: WithdrawDeps,
  asked: AskedWithdrawal,
  by: OperatorBy,
  signal: AbortSignal,
): Promise<Ordered | Refusal> {
  const order = await orderOf(deps, asked, by);
  if (isRefusal(order)) return order;
  const last = await lastEqual(deps.handle, order);
  if (isRefusal(last)) return last;
  if (last.operation && !asked.again && isRecent(last.operation, deps.clock.now()))
    return { id: last.id, operation: last.operation, isNew: false };
  const amount = BigInt(order.amount);
  const rail = railOf(deps, order.chainId);
  if (isRefusal(rail)) return rail;
  const refusal = asked.evenOwed
    ? undefined
    : await takesWhatIsOwed({ rail, owedOn: deps.owedOn }, { token: order.token, amount }, signal);
  if (refusal) return refuse('illegalStep', `${refusal.message}; --even-owed takes it all the same`);
  const { handle } = deps;
  const id = last.operation ? last.nextId : last.id;
  const approvals = await approvalsFor(deps, id, order, by);
  if (isRefusal(approvals)) return approvals;
  const ordered = { ...order, approvals };
  const handled = await handle(operation, id, (state) => orderOperation(state, ordered), { ...by, appId: null });
  if (isRefusal(handled)) return handled;
  if (!handled.state) return refuse('conflict', 'the order was not recorded: order it again');
  return { id, operation: handled.state, isNew: handled.appended > 0 };
}

/**
 * Others may be ordered at the same time: the share of a day is taken before the order is recorded. A crash in between leaves the share
 * taken, which the same order, asked again, has already.
 */
async function approvalsFor(
  { handle, clock, limits }: WithdrawDeps,
  operationId: string,
  order: Asking,
  by: OperatorBy,
): Promise<0 | 1 | Refusal> {
  const taking = { operationId, value: BigInt(order.value_microUsd), by: order.by, now: clock.now() };
  const taken = await handle(
    allowance,
    allowanceInstance,
    (state) => takeAllowance(state, taking, limits.approval_microUsd),
    { ...by, appId: null },
  );
  if (!isRefusal(taken)) return 0;
  return taken.refused === 'forbidden' ? 1 : taken;
}

/** Not over yet, or ordered within a day. */
const isRecent = ({ leg, calledOff, ordered }: Operation, now: Instant): boolean =>
  calledOff === null && (leg.settled === null || epochMs(now) - epochMs(ordered.orderedAt) < day_ms);

interface LastEqual {
  /** Of the latest equal one; without one, the id that the first gets. */
  readonly id: string;
  readonly operation: Operation | null;
  readonly nextId: string;
}

async function lastEqual(handle: Handle, order: Asking): Promise<LastEqual | Refusal> {
  let last: LastEqual = { id: idOf(order, 1), operation: null, nextId: idOf(order, 1) };
  for (let n = 1; n <= equalsMost; n += 1) {
    const id = idOf(order, n);
    const found = await currentState(handle, operation, id);
    if (!found) return last;
    last = { id, operation: found, nextId: idOf(order, n + 1) };
  }
  return refuse('conflict', `${equalsMost} equal withdrawals were ordered: say another amount`);
}

/** Short, for people type it. */
function idOf({ kind, chainId, account, token, receiver, receiverMemo, amount }: Asking, n: number): string {
  const parts = [kind, chainId, account, token.address, receiver, receiverMemo, amount, n];
  return hash('sha256', JSON.stringify(parts)).slice(0, 12);
}
