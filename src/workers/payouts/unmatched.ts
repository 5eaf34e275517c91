/** Money that no payment takes up owns its way back. */

import { currentState, type Handle } from '../../../commands/handle.ts';
import { nothingToProve, type StillFunded, type TransferOwner } from '../../../commands/outgoing.ts';
import type { Clock } from '../../../commands/ports.ts';
import { PayoutBlocked } from '../../../commands/transferPorts.ts';
import { type Decision, isRefusal } from '../../../domain/decider.ts';
import type { Transfer } from '../../../domain/payment/events.ts';
import type { TransferKey } from '../../../domain/transfer/key.ts';
import { failedAttempts } from '../../../domain/transfer/leg.ts';
import { type UnmatchedEvent, type UnmatchedState, unmatched } from '../../../domain/unmatched.ts';
import {
  concludeUnmatchedRefund,
  orphanUnmatchedRefund,
  signUnmatchedRefund,
  unmatchedBacking,
  unmatchedRefundsOwed,
} from '../../../domain/unmatchedRefund.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** Looks once more whether the money has come. @throws PayoutBlocked */
  readonly proveMoney: (transfers: readonly Transfer[], needed: bigint, signal: AbortSignal) => Promise<StillFunded>;
}

export function unmatchedRefundOwner({ handle, clock, proveMoney }: Deps): TransferOwner {
  const load = (key: TransferKey) => currentState(handle, unmatched, key.id);
  const record = (key: TransferKey, about: string, decide: (state: UnmatchedState) => Decision<UnmatchedEvent>) =>
    handle(unmatched, key.id, decide, { cause: `worker:refunds${about}`, appId: null });

  return {
    async load(key) {
      const state = await load(key);
      const owed = unmatchedRefundsOwed(state).find((each) => each.key.part === key.part);
      if (!owed || !state) return undefined;
      const { leg, purpose } = owed;
      const { verdict, seenAt } = state;
      const asked = verdict.kind === 'refundRequested' ? verdict : undefined;
      const order = {
        ...leg.order,
        reference: purpose.reference,
        referenceOrdinal: failedAttempts(leg) + 1,
        ...(asked?.opensAccount !== undefined && { opensAccount: asked.opensAccount }),
      };
      const owedSince = asked?.requestedAt ?? seenAt;
      return { ...owed, order, mayOutbid: true, owedSince };
    },
    async proveFunding(key, signal) {
      const state = await load(key);
      const order = unmatchedRefundsOwed(state).find((each) => each.key.part === key.part)?.leg.order;
      if (!order) return nothingToProve;
      const backing = unmatchedBacking(state, key.id, order);
      if (isRefusal(backing)) throw new PayoutBlocked('fundingUnproven', backing.message);
      const { transfer } = backing;
      return proveMoney([transfer], BigInt(transfer.amount), signal);
    },
    sign: (key, attempt) => record(key, '', (state) => signUnmatchedRefund(state, key.part, attempt)),
    conclude: (key, outcome) =>
      record(key, ` ${outcome.kind}`, (state) => concludeUnmatchedRefund(state, key.part, outcome, clock.now())),
    orphan: (key, seen) =>
      record(key, ` orphaned ${seen.blockHash}`, (state) => orphanUnmatchedRefund(state, key.part, seen)),
  };
}
