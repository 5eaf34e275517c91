/**
 * Unmatched money: it arrived at a shared address without a payment's memo, or at a payment that has recorded its maximum of transfers. An
 * operator assigns it to a payment or refunds it. Stream `unmatched-<transferId>`.
 */

import Type, { type Static } from 'typebox';
import { type Decider, type Decision, InvariantBroken, type Refusal, refuse } from './decider.ts';
import { convert, formatAmount, unitsText, usCent } from './money.ts';
import { forgeryIn } from './payment/backing.ts';
import { type TokenRef, Transfer, transferId } from './payment/events.ts';
import { isSameAsset } from './payment/sources.ts';
import { Address, Amount, closed, Id, nullable, Text, Time } from './schema.ts';
import type { Instant } from './time.ts';
import { newLeg, type Order, type Owed, stepOf, type TransferLeg } from './transfer/leg.ts';
import { type LegOwner, legOwner } from './transfer/owner.ts';
import { evolveLeg, tooLateToCallOff, unprefixed } from './transfer/record.ts';
import * as shapes from './transfer/shapes.ts';
import { referenceOf } from './transfer/shapes.ts';

/** 2: also money beyond a payment's maximum of transfers. 3: the service sends refunds. 4: refunds can be called off. */
export const unmatchedSchemaVersion = 4;

/** Maximum length of an operator's reason for a refund: a sentence or two. */
export const refundReasonMax = 400;

const PaymentRef = Type.Object({ paymentId: Id, appId: Id }, closed);

export const unmatchedEventSchemas = {
  UnmatchedPayinSeen: Type.Object(
    {
      transfer: Transfer,
      /** Payment of the deposit; omitted if address and memo belong to no payment. */
      beyond: Type.Optional(PaymentRef),
      seenAt: Time,
    },
    closed,
  ),
  UnmatchedPayinAssigned: Type.Object({ paymentId: Id, appId: Id, assignedAt: Time }, closed),
  UnmatchedPayinRefundRequested: Type.Object(
    {
      receiverAddress: Address,
      receiverMemo: nullable(Text(128)),
      reason: Type.String({ minLength: 1, maxLength: refundReasonMax }),
      /**
       * Deducted cost of sending, in the token's units. Omitted in older events, whose refunds operators sent by hand: nothing is signed
       * for them.
       */
      networkFee: Type.Optional(Amount),
      /** True if the fee includes opening the receiver's account for the token. Omitted in older events, and if none is needed. */
      opensAccount: Type.Optional(Type.Boolean()),
      requestedAt: Time,
    },
    closed,
  ),
  UnmatchedRefundSigned: Type.Object(shapes.SignedAttempt, closed),
  UnmatchedRefundDied: Type.Object({ attempt: shapes.Attempt, proof: shapes.DeathProof }, closed),
  UnmatchedRefundConfirmed: Type.Object(shapes.Settled, closed),
  UnmatchedRefundOrphaned: Type.Object(shapes.Orphaned, closed),
  UnmatchedRefundShort: Type.Object(shapes.Short, closed),
  UnmatchedRefundAccepted: Type.Object({ reason: shapes.Reason, acceptedAt: Time }, closed),
  UnmatchedRefundRetried: Type.Object({ reason: shapes.Reason, retriedAt: Time }, closed),
  UnmatchedRefundCalledOff: Type.Object({ reason: shapes.Reason, calledOffAt: Time }, closed),
} as const;

type Schemas = typeof unmatchedEventSchemas;
export type UnmatchedEventType = keyof Schemas;
export type UnmatchedEvent = {
  [T in UnmatchedEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[UnmatchedEventType];
type Assignment = Static<Schemas['UnmatchedPayinAssigned']>;
type RefundOrder = Static<Schemas['UnmatchedPayinRefundRequested']>;

/** Decision about the money. It is final unless called off: the money can be given away only once. */
export type UnmatchedDecision =
  | { readonly kind: 'open' }
  | ({ readonly kind: 'assigned' } & Assignment)
  | ({ readonly kind: 'refundRequested' } & RefundOrder);

/** `null` before the transfer is seen. */
export type UnmatchedState = {
  readonly transfer: Transfer;
  /** Payment of the deposit, which records no more transfers; null for money without a known memo. */
  readonly beyond: Static<typeof PaymentRef> | null;
  readonly seenAt: Instant;
  readonly verdict: UnmatchedDecision;
  /** The refund; null before its order, and for one that an operator sends by hand. */
  readonly refund: TransferLeg<TokenRef> | null;
  /** Refunds that were called off, in their order: none of their attempts can land. */
  readonly calledOff: readonly TransferLeg<TokenRef>[];
} | null;

export const unmatched: Decider<UnmatchedState, UnmatchedEvent> = {
  category: 'unmatched',
  initial: null,
  evolve(state, event) {
    // The first event counts: a second one, appended by an attacker, would hide signed refunds.
    if (event.type === 'UnmatchedPayinSeen')
      return (
        state ?? {
          ...event.data,
          beyond: event.data.beyond ?? null,
          verdict: { kind: 'open' },
          refund: null,
          calledOff: [],
        }
      );
    if (!state) throw new InvariantBroken(`${event.type} before UnmatchedPayinSeen`);
    if (event.type === 'UnmatchedPayinAssigned') return { ...state, verdict: { kind: 'assigned', ...event.data } };
    if (event.type === 'UnmatchedPayinRefundRequested')
      return {
        ...state,
        verdict: { kind: 'refundRequested', ...event.data },
        refund: legOf(state.transfer, event.data),
      };
    if (event.type === 'UnmatchedRefundCalledOff') {
      const calledOff = [...state.calledOff, ...(state.refund ? [state.refund] : [])];
      return { ...state, verdict: { kind: 'open' }, refund: null, calledOff };
    }
    const recorded = unprefixed('UnmatchedRefund', event);
    return recorded && state.refund ? { ...state, refund: evolveLeg(state.refund, recorded) } : state;
  },
};

function legOf({ chainId, token, amount }: Transfer, { receiverAddress, receiverMemo, networkFee }: RefundOrder) {
  if (networkFee === undefined) return null;
  return newLeg({
    chainId,
    token,
    receiver: receiverAddress,
    receiverMemo,
    amount: BigInt(amount) - BigInt(networkFee),
  });
}

/** Smaller transfers are not recorded: a refund would cost more than it returns, and they would be a cheap way to flood the log. */
export const leastKept = { value: 1n, ...usCent } as const;

/**
 * Records a final transfer that no payment can use. A repeated record changes nothing.
 *
 * @param beyond the payment that it was paid to; null for none
 */
export function see(
  state: UnmatchedState,
  transfer: Transfer,
  now: Instant,
  beyond: Static<typeof PaymentRef> | null = null,
): Decision<UnmatchedEvent> {
  const least = convert(leastKept.value, leastKept, transfer.token);
  if (state || BigInt(transfer.amount) < least) return [];
  return [
    {
      type: 'UnmatchedPayinSeen',
      data: { transfer, ...(beyond && { beyond: { paymentId: beyond.paymentId, appId: beyond.appId } }), seenAt: now },
    },
  ];
}

/** Gives the money to the payment, as if it had arrived with the payment's memo. */
export function assign(
  state: UnmatchedState,
  payment: { readonly paymentId: string; readonly appId: string },
  now: Instant,
): Decision<UnmatchedEvent> {
  if (!state) return unknownTransfer;
  const { verdict } = state;
  if (verdict.kind === 'assigned' && verdict.paymentId === payment.paymentId) return [];
  if (verdict.kind !== 'open') return decided(verdict);
  if (state.calledOff.some(({ attempts }) => attempts.length > 0))
    return refuse('illegalStep', 'a refund of this money was signed once: it can only be ordered back again');
  const { paymentId, appId } = payment;
  return [{ type: 'UnmatchedPayinAssigned', data: { paymentId, appId, assignedAt: now } }];
}

/** Returns why a payment must not be paid out of the transfer: it was given elsewhere. Undefined for a transfer without a decision. */
export function objectionToUse(state: UnmatchedState, paymentId: string): string | undefined {
  if (!state) return undefined;
  const { verdict, calledOff, transfer } = state;
  const isElsewhere =
    verdict.kind === 'refundRequested' || (verdict.kind === 'assigned' && verdict.paymentId !== paymentId);
  const wasSigned = calledOff.some(({ attempts }) => attempts.length > 0);
  return isElsewhere || wasSigned
    ? `an operator sent transfer ${transferId(transfer)} back or gave it to another payment: it does not pay for ${paymentId}`
    : undefined;
}

/** Orders a refund of the money, less its network fee. */
export function requestRefund(
  state: UnmatchedState,
  order: Omit<RefundOrder, 'requestedAt' | 'networkFee'> & { readonly networkFee: bigint },
  now: Instant,
): Decision<UnmatchedEvent> {
  if (!state) return unknownTransfer;
  const { verdict } = state;
  const { receiverAddress, receiverMemo, reason, networkFee, opensAccount } = order;
  if (reason.length === 0 || reason.length > refundReasonMax) {
    return refuse('invalidRequest', `the reason must have 1 to ${refundReasonMax} characters`);
  }
  if (verdict.kind === 'refundRequested') {
    const same = verdict.receiverAddress === receiverAddress && verdict.receiverMemo === receiverMemo;
    return same ? [] : decided(verdict);
  }
  if (verdict.kind !== 'open') return decided(verdict);
  const { amount, token } = state.transfer;
  if (networkFee >= BigInt(amount)) return tooLittle(token, networkFee);
  const account = opensAccount !== undefined && { opensAccount };
  const fee = { networkFee: unitsText(networkFee), ...account };
  return [
    {
      type: 'UnmatchedPayinRefundRequested',
      data: { receiverAddress, receiverMemo, reason, ...fee, requestedAt: now },
    },
  ];
}

const tooLittle = ({ symbol, decimals }: TokenRef, networkFee: bigint) =>
  refuse(
    'refundTooSmall',
    `it would not cover what sending it costs, ${formatAmount(networkFee, decimals)} ${symbol}: it stays where it is`,
  );

export const unknownTransfer = refuse('illegalStep', 'no unmatched transfer has this id: the list shows them');

const decided = (verdict: Exclude<UnmatchedDecision, { kind: 'open' }>) =>
  refuse(
    'illegalStep',
    verdict.kind === 'assigned'
      ? `the money was given to payment ${verdict.paymentId}: refund it there`
      : `the money is to go back to ${verdict.receiverAddress}: it can be given away only once`,
  );

// Refund of unmatched money: recorded before it is sent, settled by its chain.

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
