/**
 * Numbers consecutive operations in their streams' names: of two processes that order the next one, one creates the stream, and the other
 * finds it. This needs no lease and no read model.
 */

import { type Cause, isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import { coinOf } from '../../domain/money.ts';
import { epochMs, minute_ms } from '../../domain/time.ts';
import {
  callOffOperation,
  type Operation,
  type OperationOrdered,
  operation,
  operationStatus,
  orderOperation,
} from '../../domain/treasury/operation.ts';
import { currentState, type Handle } from '../handle.ts';
import type { Clock } from '../ports.ts';
import type { DepositSweep } from './ports.ts';

export interface NumberedDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly by: Cause;
}

/** Operations of one run have parts 1 and more. */
export type NameOf = (run: number, part: number) => string;

const runsMax = 1 << 30;

/** @returns the newest run that has begun; 0 if there is none */
export const newestRun = ({ handle }: Pick<NumberedDeps, 'handle'>, nameOf: NameOf): Promise<number> =>
  newestNumber(async (run) => (await currentState(handle, operation, nameOf(run, 1))) !== null);

/** @param begun checks a number; all lower numbers have begun too. @param from a number that has begun, or 0. @returns the newest */
export async function newestNumber(begun: (number: number) => Promise<boolean>, from = 0): Promise<number> {
  let there = from;
  let step = 1;
  while (there + step <= runsMax && (await begun(there + step))) {
    there += step;
    step *= 2;
  }
  for (; step > 1; step /= 2) if (await begun(there + step / 2)) there += step / 2;
  return there;
}

/** Unfinished operations of a run, in order. */
export async function openParts(
  { handle }: Pick<NumberedDeps, 'handle'>,
  nameOf: NameOf,
  run: number,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (let part = 1; run > 0; part += 1) {
    const id = nameOf(run, part);
    const state = await currentState(handle, operation, id);
    if (state === null) break;
    if (!isOver(state)) found.push(id);
  }
  return found;
}

/** An operator's name, or a worker's. */
export const nameIn = (by: Cause): string => by.replace(/^operator:/, '');

/** Begins the operation's stream. @returns a refusal, `conflict`, if another process was faster */
export async function begin(
  { handle, by }: NumberedDeps,
  id: string,
  order: OperationOrdered,
): Promise<Refusal | undefined> {
  const outcome = await handle(
    operation,
    id,
    (state) =>
      state ? refuse('conflict', `${id} was ordered by ${state.ordered.by} meanwhile`) : orderOperation(state, order),
    { cause: by, appId: null, expectNew: true },
  );
  return isRefusal(outcome) ? outcome : undefined;
}

/** An operation unsigned for this long is ordered again on demand: nothing is lost, and circumstances have changed. */
const patience_ms = 10 * minute_ms;

const ends: ReadonlySet<ReturnType<typeof operationStatus>> = new Set(['done', 'short', 'calledOff']);

const isOver = (state: Operation): boolean => ends.has(operationStatus(state));

/**
 * Calls off an operation that died on its chain, or could not be signed for long.
 * @returns the operation afterwards, and whether it is over
 */
export async function lookAfter(
  { handle, clock, by }: NumberedDeps,
  id: string,
): Promise<{ readonly operation: Operation; readonly over: boolean } | undefined> {
  const state = await currentState(handle, operation, id);
  if (state === null) return undefined;
  const standing = operationStatus(state);
  const died = state.leg.attempts.length > 0;
  const waited_ms = epochMs(clock.now()) - epochMs(state.ordered.orderedAt);
  if (standing !== 'ordered' || !(died || waited_ms > patience_ms)) return { operation: state, over: isOver(state) };
  const reason = died ? 'what was signed for it can never land' : 'it could not be signed for ten minutes';
  const outcome = await handle(
    operation,
    id,
    (now) => callOffOperation(now, { reason, by: nameIn(by), now: clock.now() }),
    {
      cause: by,
      appId: null,
    },
  );
  // If it was signed at this moment, the next run checks again.
  return isRefusal(outcome) || !outcome.state
    ? { operation: state, over: false }
    : { operation: outcome.state, over: true };
}

// The treasury deploys the forwarder that flushes deposits, as an operation in the log.

/**
 * Orders the deployment once, and returns a pending one.
 * @returns its operation; null if the forwarder exists already; a refusal if sweeps on the chain need none
 */
export async function orderDeployment(
  deps: NumberedDeps,
  { chainId, account, forwarder }: DepositSweep,
  signal: AbortSignal,
): Promise<string | null | Refusal> {
  if (!forwarder)
    return refuse('invalidRequest', 'this chain needs no forwarder: its deposits can be swept as they are');
  if (await forwarder.isThere(signal)) return null;
  const nameOf = (run: number) => `deploy-${chainId}-${account}-${run}`;
  const newest = await newestRun(deps, nameOf);
  const known = newest > 0 ? await lookAfter(deps, nameOf(newest)) : undefined;
  if (known && !known.over) return nameOf(newest);
  const order: OperationOrdered = {
    kind: 'deployment',
    chainId,
    account,
    token: coinOf(chainId),
    form: { kind: 'deploy', contract: 'forwarder' },
    receiver: forwarder.address,
    receiverMemo: null,
    amount: '0',
    value_microUsd: '0',
    approvals: 0,
    reason: 'deposits cannot be swept without it',
    by: nameIn(deps.by),
    orderedAt: deps.clock.now(),
  };
  // If another process was faster, the operation is that one's.
  await begin(deps, nameOf(newest + 1), order);
  return nameOf(newest + 1);
}
