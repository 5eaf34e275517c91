/**
 * One thing that is done with the treasury's money besides paying out: a withdrawal, a rebalance of two of our accounts, a collection of
 * deposits, a contract that is put on a chain. Ordered once, approved where it must be, signed like every transfer. Stream `operation-<id>`.
 */
import { type Decider, type Decision, InvariantBroken, type Refusal, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import * as legs from '../transfer/leg.ts';
import { checkDied, checkSettle, checkShort, checkSign } from '../transfer/rules.ts';
import type { DeathProof, SignedAttempt } from '../transfer/shapes.ts';
import { stepOf, type TransferStep } from '../transfer/step.ts';
import type { OperationEvent, OperationOrdered } from './operationEvents.ts';

export interface Operation {
  readonly ordered: OperationOrdered;
  readonly leg: legs.TransferLeg;
  /** Who agreed, besides whoever ordered it. */
  readonly approvedBy: readonly string[];
  readonly calledOff: { readonly reason: string; readonly by: string; readonly at: Instant } | null;
  /** What a collection brought, in smallest units, where that was not what was ordered. */
  readonly brought: bigint | null;
  /** The transaction that ended a rebalance at its other end. */
  readonly arrived: { readonly hash: string; readonly amount: bigint; readonly at: Instant } | null;
}

/** `null` before it is ordered. */
export type OperationState = Operation | null;

export const operation: Decider<OperationState, OperationEvent> = {
  category: 'operation',
  initial: null,
  evolve(state, event) {
    if (event.type === 'OperationOrdered')
      return {
        ordered: event.data,
        leg: newLeg(event.data),
        approvedBy: [],
        calledOff: null,
        brought: null,
        arrived: null,
      };
    if (!state) throw new InvariantBroken(`${event.type} before OperationOrdered`);
    switch (event.type) {
      case 'OperationApproved':
        return { ...state, approvedBy: [...state.approvedBy, event.data.by] };
      case 'OperationCalledOff':
        return { ...state, calledOff: { reason: event.data.reason, by: event.data.by, at: event.data.calledOffAt } };
      case 'RebalanceArrived': {
        const { hash, amount, arrivedAt } = event.data;
        return { ...state, arrived: { hash, amount: BigInt(amount), at: arrivedAt } };
      }
      default:
        return evolveLeg(state, event);
    }
  },
};

const newLeg = ({ chainId, token, receiver, receiverMemo, amount, form }: OperationOrdered): legs.TransferLeg =>
  legs.newLeg({ chainId, token, receiver, receiverMemo, amount: BigInt(amount), ...(form && { form }) });

type LegEvent = Exclude<
  OperationEvent,
  { type: 'OperationOrdered' | 'OperationApproved' | 'OperationCalledOff' | 'RebalanceArrived' }
>;

function evolveLeg(state: Operation, event: LegEvent): Operation {
  const { leg } = state;
  switch (event.type) {
    case 'OperationSigned':
      return { ...state, leg: legs.signed(leg, event.data) };
    case 'OperationDied':
      return { ...state, leg: legs.died(leg, event.data.attempt, event.data.proof) };
    case 'OperationOrphaned':
      return { ...state, leg: legs.unsettle(leg) };
    case 'OperationConfirmed': {
      const { arrived } = event.data;
      const brought = arrived === undefined ? state.brought : BigInt(arrived);
      return { ...state, brought, leg: legs.settle(leg, event.data) };
    }
    case 'OperationShort':
      return { ...state, leg: legs.fellShort(leg, { ...event.data, arrived: BigInt(event.data.arrived) }) };
  }
}

/** How it stands, in a word that operators read. `done` and `short` are on the chain for good. */
export type OperationStanding = 'waitsForApproval' | 'calledOff' | 'ordered' | 'signed' | 'short' | 'done';

export function standingOf({ leg, calledOff, ordered, approvedBy }: Operation): OperationStanding {
  if (leg.settled) return 'done';
  if (leg.short) return 'short';
  if (calledOff) return 'calledOff';
  if (legs.liveAttempts(leg).length > 0) return 'signed';
  return approvedBy.length < ordered.approvals ? 'waitsForApproval' : 'ordered';
}

/** What the process owes it now. One that fell short is over: what arrived is recorded, and nothing more is sent by itself. */
export function nextOperationStep(state: OperationState): TransferStep {
  if (!state) return { do: 'done' };
  const standing = standingOf(state);
  if (standing === 'calledOff' || standing === 'short') return { do: 'done' };
  return stepOf(state.leg, standing === 'waitsForApproval');
}

/** @returns `[]` for the very same order; another one under this id is refused */
export function orderOperation(state: OperationState, order: OperationOrdered): Decision<OperationEvent> {
  if (!state) return [{ type: 'OperationOrdered', data: order }];
  const { ordered } = state;
  const same = (['kind', 'chainId', 'account', 'receiver', 'receiverMemo', 'amount'] as const).every(
    (field) => ordered[field] === order[field],
  );
  return same && ordered.token.address === order.token.address
    ? []
    : refuse('conflict', 'another operation has this id: order it anew');
}

const noOperation = refuse('notFound', 'there is no such operation: npm run treasury -- operations lists them');

/** Another operator agrees. What needs no approval, or has it, is left as it is. */
export function approveOperation(state: OperationState, by: string, now: Instant): Decision<OperationEvent> {
  if (!state) return noOperation;
  const { ordered, approvedBy, calledOff } = state;
  if (calledOff)
    return refuse('illegalStep', `it was called off by ${calledOff.by} (${calledOff.reason}): order it anew`);
  if (approvedBy.includes(by) || approvedBy.length >= ordered.approvals) return [];
  if (by === ordered.by)
    return refuse('forbidden', `${by} ordered it: somebody else has to approve it, under a name of his own`);
  return [{ type: 'OperationApproved', data: { by, approvedAt: now } }];
}

/**
 * It is not done. Possible while nothing that was signed for it can land: before it is signed, and after every attempt has died.
 * @param asked `reason` has at most 400 characters
 */
export function callOffOperation(
  state: OperationState,
  { reason, by, now }: { readonly reason: string; readonly by: string; readonly now: Instant },
): Decision<OperationEvent> {
  if (!state) return noOperation;
  if (state.calledOff) return [];
  const tooLate = tooLateToCallOff(state);
  return tooLate ?? [{ type: 'OperationCalledOff', data: { reason, by, calledOffAt: now } }];
}

function tooLateToCallOff({ leg }: Operation): Refusal | undefined {
  if (leg.settled || leg.short) return refuse('illegalStep', 'it is on its chain already: it cannot be called off');
  const [signed] = legs.liveAttempts(leg);
  return signed && refuse('illegalStep', `${signed.hash} is signed and can still land: it cannot be called off now`);
}

/** Appended BEFORE the bytes are sent; only bytes read back from the stream are ever sent. */
export function signOperation(state: OperationState, attempt: SignedAttempt): Decision<OperationEvent> {
  if (!state) return noOperation;
  const { calledOff } = state;
  if (calledOff) return refuse('illegalStep', `it was called off by ${calledOff.by}: sign nothing for it`);
  if (standingOf(state) === 'waitsForApproval')
    return refuse('illegalStep', 'another operator has to approve it first');
  const checked = checkSign(state.leg, attempt);
  return checked === 'ok' ? [{ type: 'OperationSigned', data: attempt }] : checked;
}

/** One proof may end several attempts: all that share the nonce. */
export function buryOperation(
  state: OperationState,
  attempts: readonly number[],
  proof: DeathProof,
): Decision<OperationEvent> {
  if (!state) return noOperation;
  const events: OperationEvent[] = [];
  for (const attempt of attempts) {
    const checked = checkDied(state.leg, attempt, proof);
    if (checked === 'ok') events.push({ type: 'OperationDied', data: { attempt, proof } });
    else if ('refused' in checked) return checked;
  }
  return events;
}

/** @param arrived what a collection brought, in smallest units; left out where that is what was ordered */
export function confirmOperation(
  state: OperationState,
  settled: legs.Settled,
  arrived?: bigint,
): Decision<OperationEvent> {
  if (!state) return noOperation;
  const checked = checkSettle(state.leg, settled);
  if (checked !== 'ok') return checked;
  const brought = arrived === undefined ? {} : { arrived: arrived.toString() };
  const data = { ...legs.landedData(settled), confirmedAt: settled.confirmedAt, ...brought };
  return [{ type: 'OperationConfirmed', data }];
}

/** Said only of what can leave its chain no more. */
export function reportShortOperation(state: OperationState, short: legs.Short): Decision<OperationEvent> {
  if (!state) return noOperation;
  const checked = checkShort(state.leg, short);
  const data = { ...legs.landedData(short), arrived: short.arrived.toString(), seenAt: short.seenAt };
  return checked === 'ok' ? [{ type: 'OperationShort', data }] : checked;
}

/** Its block left the chain: its bytes are sent again. */
export function orphanOperation(
  state: OperationState,
  seen: { readonly hash: string; readonly blockHash: string },
): Decision<OperationEvent> {
  const settled = state?.leg.settled;
  if (!settled || settled.hash !== seen.hash || settled.blockHash !== seen.blockHash) return [];
  const { attempt, hash, blockHash } = settled;
  return [{ type: 'OperationOrphaned', data: { attempt, hash, blockHash } }];
}

/** The money of a rebalance has come to our other account. */
export function rebalanceArrived(
  state: OperationState,
  seen: { readonly hash: string; readonly amount: bigint; readonly by: string; readonly now: Instant },
): Decision<OperationEvent> {
  if (!state) return noOperation;
  if (!state.ordered.expects) return refuse('illegalStep', 'it is no rebalance: nothing is expected to arrive');
  if (state.arrived?.hash === seen.hash) return [];
  if (state.arrived) return refuse('illegalStep', `its money came with ${state.arrived.hash} already`);
  if (!state.leg.settled)
    return refuse('illegalStep', 'its money has not left yet: wait until it is done on its own chain');
  const { hash, amount, by, now } = seen;
  return [{ type: 'RebalanceArrived', data: { hash, amount: amount.toString(), by, arrivedAt: now } }];
}
