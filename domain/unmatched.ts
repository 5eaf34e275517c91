/**
 * Money that no payment takes up: it came to an address which payments share without the memo of any payment, or to a payment that has
 * recorded as many transfers as a payment takes. An operator says whose it is, or that it goes back. Stream `unmatched-<transferId>`.
 */
import Type, { type Static } from 'typebox';
import { type Decider, type Decision, InvariantBroken, refuse } from './decider.ts';
import { formatAmount, rescale, unitsText } from './money.ts';
import { type TokenRef, Transfer, transferId } from './payment/events.ts';
import { Address, Amount, closed, Id, nullable, Text, Time } from './schema.ts';
import type { Instant } from './time.ts';
import { newLeg, type TransferLeg } from './transfer/leg.ts';
import { evolveLeg, unprefixed } from './transfer/record.ts';
import * as shapes from './transfer/shapes.ts';

/** 2: also what came for a payment beyond the transfers that it takes up. 3: refunds are sent by the service. 4: and can be called off. */
export const unmatchedSchemaVersion = 4;

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
      /** In the token's units: what sending it costs, taken off. Missing in older ones, which operators sent by hand: nothing is signed for them. */
      networkFee: Type.Optional(Amount),
      /** Whether the fee is also for the receiver's account for the token. Missing in older ones, and where none is needed. */
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

/** What was decided about the money. A decision stands, unless it is called off: the money can be given away only once. */
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
  /** The money on its way back; null before it is ordered, and where an operator sends it by hand. */
  readonly refund: TransferLeg<TokenRef> | null;
  /** Ways back that were called off, in their order: nothing of them can land. */
  readonly calledOff: readonly TransferLeg<TokenRef>[];
} | null;

export const unmatched: Decider<UnmatchedState, UnmatchedEvent> = {
  category: 'unmatched',
  initial: null,
  evolve(state, event) {
    // The first one counts: another one that an attacker appends would hide refunds that were signed.
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
  if (state.calledOff.some(({ attempts }) => attempts.length > 0))
    return refuse('illegalStep', 'a refund of this money was signed once: it can only be ordered back again');
  const { paymentId, appId } = payment;
  return [{ type: 'UnmatchedPayinAssigned', data: { paymentId, appId, assignedAt: now } }];
}

/** Returns why a payment must not be paid out of the transfer: it was given elsewhere. Undefined for a transfer that no decision is about. */
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

/** Orders the money back, less what sending it costs. */
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

const decided = (verdict: Exclude<Verdict, { kind: 'open' }>) =>
  refuse(
    'illegalStep',
    verdict.kind === 'assigned'
      ? `the money was given to payment ${verdict.paymentId}: refund it there`
      : `the money is to go back to ${verdict.receiverAddress}: it can be given away only once`,
  );
