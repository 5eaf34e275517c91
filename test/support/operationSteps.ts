/** Steps of generated histories in which operators order withdrawals, and these are approved, called off, or sent. */
import type { Decision } from '../../domain/decider.ts';
import type { Instant } from '../../domain/time.ts';
import { liveAttempts } from '../../domain/transfer/leg.ts';
import {
  approveOperation,
  callOffOperation,
  type OperationEvent,
  type OperationState,
  operationLeg,
  orderOperation,
} from '../../domain/treasury/operation.ts';
import { attemptOf, withdrawal } from './operations.ts';
import * as p from './payments.ts';

export const operationIdOf = (who: number): string => `0198f3c2-0000-8000-8000-0000000000a${who}`;

/** Ordered first; impossible operations are refused. */
export function onOperation(
  state: OperationState,
  { who, n }: { readonly who: number; readonly n: number },
  now: Instant,
): Decision<OperationEvent> {
  if (!state) return orderOperation(state, withdrawal({ approvals: who % 2, reason: `rent ${who}`, orderedAt: now }));
  const [live] = liveAttempts(state.leg);
  if (n === 5) return callOffOperation(state, { reason: 'not needed', by: 'grace', now });
  if (who % 2 === 1 && state.approvedBy.length === 0) return approveOperation(state, 'grace', now);
  if (live) return operationLeg.conclude(state, 1, p.final(p.landed(live, 300 + n)), now);
  const hash = p.hashOf('operation', who);
  return state.leg.settled
    ? []
    : operationLeg.sign(state, 1, attemptOf(state.ordered, { hash, nonce: `${who}`, signedAt: now }));
}
