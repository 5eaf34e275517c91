/**
 * Money that no payment takes up: it came to an address which payments share without the memo of any payment, or to a payment that has
 * recorded as many transfers as a payment takes. An operator says whose it is, or that it goes back. Stream `unmatched-<transferId>`.
 */
import Type, { type Static } from 'typebox';
import { type Decider, type Decision, InvariantBroken, refuse } from './decider.ts';
import { rescale } from './money.ts';
import { Transfer } from './payment/events.ts';
import { Address, closed, Id, nullable, Text, Time } from './schema.ts';
import type { Instant } from './time.ts';

/** 2: also what came for a payment beyond the transfers that it takes up. */
export const unmatchedSchemaVersion = 2;

/** Why an operator sends money back: a sentence or two. */
export const refundReasonMax = 400;

const PaymentRef = Type.Object({ paymentId: Id, appId: Id }, closed);

export const unmatchedEventSchemas = {
  UnmatchedPayinSeen: Type.Object(
    {
      transfer: Transfer,
      /** The payment whose deposit it came to; missing where address and memo are no payment's. */
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
      requestedAt: Time,
    },
    closed,
  ),
} as const;

type Schemas = typeof unmatchedEventSchemas;
export type UnmatchedEventType = keyof Schemas;
export type UnmatchedEvent = {
  [T in UnmatchedEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[UnmatchedEventType];
type Assignment = Static<Schemas['UnmatchedPayinAssigned']>;
type RefundOrder = Static<Schemas['UnmatchedPayinRefundRequested']>;

/** What was decided about the money. A decision stands: the money can be given away only once. */
export type Verdict =
  | { readonly kind: 'open' }
  | ({ readonly kind: 'assigned' } & Assignment)
  | ({ readonly kind: 'refundRequested' } & RefundOrder);

/** `null` before the transfer is seen. */
export type UnmatchedState = {
  readonly transfer: Transfer;
  /** The payment whose deposit it came to and that takes up no more transfers; null for money without a known memo. */
  readonly beyond: Static<typeof PaymentRef> | null;
  readonly seenAt: Instant;
  readonly verdict: Verdict;
} | null;

export const unmatched: Decider<UnmatchedState, UnmatchedEvent> = {
  category: 'unmatched',
  initial: null,
  evolve(state, event) {
    if (event.type === 'UnmatchedPayinSeen')
      return { ...event.data, beyond: event.data.beyond ?? null, verdict: { kind: 'open' } };
    if (!state) throw new InvariantBroken(`${event.type} before UnmatchedPayinSeen`);
    return event.type === 'UnmatchedPayinAssigned'
      ? { ...state, verdict: { kind: 'assigned', ...event.data } }
      : { ...state, verdict: { kind: 'refundRequested', ...event.data } };
  },
};

/** Smaller transfers are not recorded: sending one back costs more than it brings, and flooding the log with them costs next to nothing. */
export const leastKept = { value: 1n, decimals: 2 } as const;

/**
 * A final transfer that no payment takes up. Seen again it changes nothing.
 *
 * @param beyond the payment that it was paid to; null for none
 */
export function see(
  state: UnmatchedState,
  transfer: Transfer,
  now: Instant,
  beyond: Static<typeof PaymentRef> | null = null,
): Decision<UnmatchedEvent> {
  const least = rescale(leastKept.value, leastKept.decimals, transfer.token.decimals);
  if (state || BigInt(transfer.amount) < least) return [];
  return [
    {
      type: 'UnmatchedPayinSeen',
      data: { transfer, ...(beyond && { beyond: { paymentId: beyond.paymentId, appId: beyond.appId } }), seenAt: now },
    },
  ];
}

/** Gives the money to the payment, as if it had come with the payment's memo. */
export function assign(
  state: UnmatchedState,
  payment: { readonly paymentId: string; readonly appId: string },
  now: Instant,
): Decision<UnmatchedEvent> {
  if (!state) return unknownTransfer;
  const { verdict } = state;
  if (verdict.kind === 'assigned' && verdict.paymentId === payment.paymentId) return [];
  if (verdict.kind !== 'open') return decided(verdict);
  const { paymentId, appId } = payment;
  return [{ type: 'UnmatchedPayinAssigned', data: { paymentId, appId, assignedAt: now } }];
}

/** Orders the money back. Only the order is recorded here; somebody else carries it out. */
export function requestRefund(
  state: UnmatchedState,
  order: Omit<RefundOrder, 'requestedAt'>,
  now: Instant,
): Decision<UnmatchedEvent> {
  if (!state) return unknownTransfer;
  const { verdict } = state;
  const { receiverAddress, receiverMemo, reason } = order;
  if (reason.length === 0 || reason.length > refundReasonMax) {
    return refuse('invalidRequest', `say why in 1 to ${refundReasonMax} characters`);
  }
  if (verdict.kind === 'refundRequested') {
    const same = verdict.receiverAddress === receiverAddress && verdict.receiverMemo === receiverMemo;
    return same ? [] : decided(verdict);
  }
  if (verdict.kind !== 'open') return decided(verdict);
  const data = { receiverAddress, receiverMemo, reason, requestedAt: now };
  return [{ type: 'UnmatchedPayinRefundRequested', data }];
}

export const unknownTransfer = refuse('illegalStep', 'no unmatched transfer has this id: the list shows them');

const decided = (verdict: Exclude<Verdict, { kind: 'open' }>) =>
  refuse(
    'illegalStep',
    verdict.kind === 'assigned'
      ? `the money was given to payment ${verdict.paymentId}: refund it there`
      : `the money is to go back to ${verdict.receiverAddress}: it can be given away only once`,
  );
