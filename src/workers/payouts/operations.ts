/** Operations of the treasury own the one transfer that each of them is. */

import { currentState, type Handle } from '../../../commands/handle.ts';
import { nothingToProve, type StillFunded, type TransferOwner } from '../../../commands/outgoing.ts';
import type { Clock } from '../../../commands/ports.ts';
import { PayoutBlocked, type PayoutRail } from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import type { Decision } from '../../../domain/decider.ts';
import type { TransferKey } from '../../../domain/transfer/key.ts';
import { failedAttempts } from '../../../domain/transfer/leg.ts';
import { addressBook, addressBookInstance, isUsable } from '../../../domain/treasury/addressBook.ts';
import {
  concludeOperation,
  type Operation,
  type OperationState,
  operation,
  operationOwed,
  orphanOperation,
  signOperation,
} from '../../../domain/treasury/operation.ts';
import type { OperationEvent } from '../../../domain/treasury/operationEvents.ts';
import { type OwedOn, takesWhatIsOwed } from './spare.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly railOf: (chainId: ChainId) => Pick<PayoutRail, 'chainId' | 'balances' | 'transferCost'> | undefined;
  readonly owedOn: OwedOn;
}

export function operationOwner(deps: Deps): TransferOwner {
  const { handle, clock } = deps;
  /** @param about what the chain said, for whoever reads the event's cause */
  const record = ({ id }: TransferKey, about: string, decide: (state: OperationState) => Decision<OperationEvent>) =>
    handle(operation, id, decide, { cause: `worker:operations${about}`, appId: null });
  return {
    async load({ id }, how = {}) {
      const found = await currentState(handle, operation, id, how);
      if (!found) return undefined;
      const owed = operationOwed(id, found);
      const { reference } = owed.purpose;
      return {
        ...owed,
        order: { ...found.leg.order, reference, referenceOrdinal: failedAttempts(found.leg) + 1 },
        mayOutbid: true,
        owedSince: found.ordered.orderedAt,
      };
    },
    sign: (key, attempt) => record(key, '', (state) => signOperation(state, attempt)),
    conclude: (key, outcome) =>
      record(key, ` ${outcome.kind}`, (state) => concludeOperation(state, outcome, clock.now())),
    orphan: (key, seen) => record(key, ` orphaned ${seen.blockHash}`, (state) => orphanOperation(state, seen)),
    proveFunding: ({ id }, signal) => proveLeaving(deps, id, signal),
  };
}

/**
 * Money leaves for an address that is still in the book, and none that payouts are owed: both may have changed since it was ordered.
 * Asked again right before the signature, the book alone: what is owed was just looked at.
 */
async function proveLeaving(deps: Deps, id: string, signal: AbortSignal): Promise<StillFunded> {
  const found = await currentState(deps.handle, operation, id);
  if (!found || !['withdrawal', 'rebalance'].includes(found.ordered.kind)) return nothingToProve;
  await leavesEnough(deps, id, found, signal);
  return () => isInBook(deps, found);
}

async function leavesEnough(
  { railOf, owedOn }: Deps,
  operationId: string,
  { ordered, leg }: Operation,
  signal: AbortSignal,
) {
  const rail = railOf(ordered.chainId);
  if (ordered.evenOwed || !rail) return;
  const { token, amount } = leg.order;
  const refusal = await takesWhatIsOwed({ rail, owedOn }, { token, amount, operationId }, signal);
  if (refusal)
    throw new PayoutBlocked('owed', `${refusal.message}; top it up, or call it off and order it with --even-owed`);
}

async function isInBook({ handle, clock }: Deps, { ordered }: Operation): Promise<void> {
  const { chainId, receiver: address, receiverMemo } = ordered;
  const book = await currentState(handle, addressBook, addressBookInstance);
  if (isUsable(book, { chainId, address, memo: receiverMemo }, clock.now())) return;
  const message = `${address} was taken out of the address book, or added again and not usable yet: npm run treasury -- addresses, or call-off`;
  throw new PayoutBlocked('addressNotInBook', message);
}
