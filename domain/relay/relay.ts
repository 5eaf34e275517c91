/**
 * A payer's signed authorization that our relay account sends to the token's contract: it moves the payer's money to the payment's deposit, and
 * we pay the gas. It is ordered once, and signed, sent and proven like every transfer. The payment is funded by its payin alone, which the
 * chain's nodes return: nothing of a relay counts as money. Stream `relay-<paymentId>-<number>`.
 */
import { type Decider, type Decision, InvariantBroken, isRefusal, type Refusal, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import {
  failedAttempts,
  liveAttempts,
  newLeg,
  type Owed,
  prepared,
  stepOf,
  type TransferLeg,
  type TransferStep,
} from '../transfer/leg.ts';
import { type ChainLegOwner, chainLegOwner } from '../transfer/owner.ts';
import { evolveLeg, type Outcome, unprefixed } from '../transfer/record.ts';
import { referenceOf, type SignedAttempt } from '../transfer/shapes.ts';
import type { RelayEnd, RelayEvent, RelayOrdered } from './events.ts';

/** Prefix of the events that every transfer has. */
const prefix = 'Relay';

/** Reverted transactions of one relay: each costs gas and moves nothing. */
export const relayRevertsMax = 2;

export interface Relay {
  readonly ordered: RelayOrdered;
  readonly leg: TransferLeg;
  readonly ended: { readonly reason: RelayEnd; readonly detail: string; readonly at: Instant } | null;
}

/** `null` before it is ordered. */
export type RelayState = Relay | null;

export const relay: Decider<RelayState, RelayEvent> = {
  category: 'relay',
  initial: null,
  evolve(state, event) {
    if (event.type === 'RelayOrdered') return { ordered: event.data, leg: legOf(event.data), ended: null };
    if (!state) throw new InvariantBroken(`${event.type} before RelayOrdered`);
    if (event.type === 'RelayEnded') {
      const { reason, detail, endedAt } = event.data;
      return { ...state, ended: { reason, detail, at: endedAt } };
    }
    if (event.type === 'RelayAccountOpened') return { ...state, leg: prepared(state.leg, event.data.attempt) };
    const recorded = unprefixed(prefix, event);
    return recorded ? { ...state, leg: evolveLeg(state.leg, recorded) } : state;
  },
};

const legOf = ({ chainId, token, receiver, amount, form }: RelayOrdered): TransferLeg =>
  newLeg({ chainId, token, receiver, receiverMemo: null, amount: BigInt(amount), form });

/** Id of the stream of a payment's relay. @param number 1, 2, … of the payment's relays */
export const relayIdOf = (paymentId: string, number: number): string => `${paymentId}-${number}`;

/** `sent`: a transaction is signed and can land. `settled` and `short` are on the chain for good. */
export type RelayStanding = 'ordered' | 'sent' | 'settled' | 'short' | 'ended';

export function relayStandingOf({ leg, ended }: Relay): RelayStanding {
  if (leg.settled) return 'settled';
  if (leg.short) return 'short';
  if (ended) return 'ended';
  return liveAttempts(leg).length > 0 ? 'sent' : 'ordered';
}

/** Whether it can still move the payer's money through us. */
export const isRelayOpen = (state: Relay): boolean => ['ordered', 'sent'].includes(relayStandingOf(state));

/** The transaction that moved, or can still move, the money; null before one is signed. */
export const relayHashOf = ({ leg }: Relay): string | null =>
  leg.settled?.hash ?? leg.short?.hash ?? liveAttempts(leg).findLast((signed) => !isOpening(signed))?.hash ?? null;

/** Whether an attempt opens the deposit's token account on Solana: no other one pays rent. */
const isOpening = ({ fee }: Pick<SignedAttempt, 'fee'>): boolean => fee['rent'] !== undefined;

/** The step that the worker owes it now. */
export function nextRelayStep(state: Relay): TransferStep {
  const standing = relayStandingOf(state);
  return standing === 'ended' || standing === 'short' ? { do: 'done' } : stepOf(state.leg);
}

/** @param id of its stream */
export function relayOwed(id: string, state: Relay): Owed {
  const key = { kind: 'relay', id, part: 1 } as const;
  const purpose = { kind: 'relay', reference: referenceOf(key) } as const;
  return { key, purpose, appId: state.ordered.appId, leg: state.leg, step: nextRelayStep(state) };
}

/** Whether it is the same signed authorization: a contract accepts a nonce of a payer once. */
export const isSameAuthorization = (
  { ordered: { chainId, token, form } }: Pick<Relay, 'ordered'>,
  other: { readonly chainId: number; readonly tokenAddress: string; readonly payer: string; readonly nonce: string },
): boolean =>
  chainId === other.chainId &&
  token.address === other.tokenAddress &&
  form.payer === other.payer &&
  form.nonce === other.nonce;

/** @returns `[]` for the same authorization; another one under this id is refused */
export function orderRelay(state: RelayState, order: RelayOrdered): Decision<RelayEvent> {
  if (!state) return [{ type: 'RelayOrdered', data: order }];
  const { chainId, token, form } = order;
  return isSameAuthorization(state, { chainId, tokenAddress: token.address, payer: form.payer, nonce: form.nonce })
    ? []
    : refuse('conflict', 'another authorization of this payment was accepted first: wait for its result');
}

/** Records an authorization that somebody else has sent already: nothing is signed for it, and its payin counts. */
export function orderMoved(
  state: RelayState,
  order: RelayOrdered,
  { detail, now }: { readonly detail: string; readonly now: Instant },
): Decision<RelayEvent> {
  const ordered = orderRelay(state, order);
  if (isRefusal(ordered) || ordered.length === 0) return ordered;
  const data = { reason: 'superseded' as const, detail: detail.slice(0, 400), endedAt: now };
  return [...ordered, { type: 'RelayEnded', data }];
}

const noRelay = refuse('notFound', 'there is no such relay');

/** Ends a relay that is not worth a transaction any more. @param detail at most 400 characters */
export function endRelay(
  state: RelayState,
  { reason, detail, now }: { readonly reason: RelayEnd; readonly detail: string; readonly now: Instant },
): Decision<RelayEvent> {
  if (!state) return noRelay;
  if (state.ended) return [];
  const late = tooLateToEnd(state);
  return late ?? [{ type: 'RelayEnded', data: { reason, detail: detail.slice(0, 400), endedAt: now } }];
}

function tooLateToEnd({ leg }: Relay): Refusal | undefined {
  if (leg.settled || leg.short) return refuse('illegalStep', 'it is on its chain already: it cannot be ended');
  const [signed] = liveAttempts(leg);
  return signed && refuse('illegalStep', `${signed.hash} is signed and can still land: the relay cannot be ended now`);
}

/** Whether its transactions were reverted too often to try another one. */
export const isRelaySpent = ({ leg }: Relay): boolean => failedAttempts(leg) >= relayRevertsMax;

const legVerbs = chainLegOwner({
  prefix,
  legOf: (state: RelayState) => state?.leg ?? noRelay,
  guard: (state) =>
    state?.ended
      ? refuse('illegalStep', `the relay has ended (${state.ended.reason}): sign nothing for it`)
      : undefined,
}) as ChainLegOwner<RelayState, RelayEvent>;

/** A final attempt that only opened the deposit's token account settles nothing: the payer's transaction is signed next. */
export const relayLeg: ChainLegOwner<RelayState, RelayEvent> = {
  ...legVerbs,
  conclude(state, part, outcome, now) {
    const opening = outcome.kind === 'final' ? openingIn(state, outcome) : undefined;
    if (opening && opening.fate !== 'live') return [];
    const decided = legVerbs.conclude(state, part, outcome, now);
    if (!opening || isRefusal(decided)) return decided;
    return decided.map((event) => {
      if (event.type !== 'RelayConfirmed') return event;
      const { confirmedAt: _, ...landed } = event.data;
      return { type: 'RelayAccountOpened', data: landed };
    });
  },
};

const openingIn = (state: RelayState, { attempt, hash }: Extract<Outcome, { kind: 'final' }>) =>
  state?.leg.attempts.find(({ signed }) => signed.attempt === attempt && signed.hash === hash && isOpening(signed));
