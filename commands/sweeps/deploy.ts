/** The forwarder that deposits are flushed by is put on a chain by the treasury itself, as an operation in the log. */

import { coinOf } from '../../domain/coins.ts';
import { type Refusal, refuse } from '../../domain/decider.ts';
import type { OperationOrdered } from '../../domain/treasury/operationEvents.ts';
import { begin, lookAfter, type NumberedDeps, nameIn, newestRun } from './numbered.ts';
import type { DepositSweep } from './ports.ts';

/**
 * Orders it, once: while one is under way that one is meant.
 * @returns its operation; null where the forwarder stands already; a refusal where nothing has to stand before deposits can be swept
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
  // Where somebody else was faster, it is his.
  await begin(deps, nameOf(newest + 1), order);
  return nameOf(newest + 1);
}
