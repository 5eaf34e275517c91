/** Refund of unmatched money: recorded before it is sent, settled by its chain. */
import { type Decision, type Refusal, refuse } from './decider.ts';
import { forgeryIn } from './payment/backing.ts';
import { transferId } from './payment/events.ts';
import { isSameAsset } from './payment/sources.ts';
import type { Instant } from './time.ts';
import { type Order, type Owed, stepOf } from './transfer/leg.ts';
import { type LegOwner, legOwner } from './transfer/owner.ts';
import { tooLateToCallOff } from './transfer/record.ts';
import { referenceOf } from './transfer/shapes.ts';
import type { UnmatchedEvent, UnmatchedState } from './unmatched.ts';

/** Ordered refunds, all but the last called off. Empty if there is no refund, or an operator sends it by hand. */
export function unmatchedRefundsOwed(state: UnmatchedState): readonly Owed[] {
  if (!state) return [];
  const { transfer, refund, calledOff } = state;
  return [...calledOff, ...(refund ? [refund] : [])].map((leg, index) => {
    const key = { kind: 'unmatchedRefund', id: transferId(transfer), part: index + 1 } as const;
    const purpose = { kind: 'refund', reference: referenceOf(key) } as const;
    return { key, purpose, appId: null, leg, step: leg === refund ? stepOf(leg) : { do: 'done' } };
  });
}

/**
 * Returns the money that funds the refund. Refuses an order that does not follow from the transfer: the log may be forged.
 * @param id of the stream
 */
export function unmatchedBacking(
  state: UnmatchedState,
  id: string,
  order: Order,
): NonNullable<UnmatchedState> | Refusal {
  if (state?.verdict.kind !== 'refundRequested') return refuse('forbidden', `nothing of ${id} is to go back`);
  const { transfer } = state;
  if (transferId(transfer) !== id) return refuse('forbidden', `${id} is not the transfer that it is named by`);
  const forged = forgeryIn(transfer);
  if (forged !== undefined) return refuse('forbidden', forged);
  if (!isSameAsset(transfer, order) || order.amount <= 0n || order.amount > BigInt(transfer.amount))
    return refuse('forbidden', `${id} gives back more than came, or another token`);
  return state;
}

/** Number of the refund that an event of the stream is about. */
export const unmatchedRefundPart = ({ calledOff }: NonNullable<UnmatchedState>): number => calledOff.length + 1;

const noRefund = refuse('illegalStep', 'no refund of this money is ordered that the service sends');

/** `part` selects the refund, so signatures of a called-off refund are never used for the next one. */
export const unmatchedRefundLeg: LegOwner<UnmatchedState, UnmatchedEvent> = legOwner({
  prefix: 'UnmatchedRefund',
  legOf(state: UnmatchedState, part) {
    if (!state?.refund) return noRefund;
    return part === unmatchedRefundPart(state)
      ? state.refund
      : refuse('illegalStep', 'this refund was called off: nothing more is recorded of it');
  },
});

/**
 * Operator's decision not to send the refund, for example because its address cannot receive the token. The money waits for another
 * decision. Refused while a signed attempt can land.
 * @param reason at most 400 characters, for merchants and support
 */
export function callOffUnmatchedRefund(
  state: UnmatchedState,
  part: number,
  reason: string,
  now: Instant,
): Decision<UnmatchedEvent> {
  if (state && part <= state.calledOff.length) return [];
  if (!state?.refund || part !== unmatchedRefundPart(state)) return noRefund;
  return tooLateToCallOff(state.refund) ?? [{ type: 'UnmatchedRefundCalledOff', data: { reason, calledOffAt: now } }];
}
