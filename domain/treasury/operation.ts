/**
 * A treasury operation other than a payout: withdrawal, rebalance between two of our accounts, collection of deposits, deployment, or
 * anchoring of a hash. Ordered once, approved if required, signed like every transfer. Stream `operation-<id>`.
 */

import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { type Decider, type Decision, InvariantBroken, type Refusal, refuse } from '../decider.ts';
import { unitsText } from '../money.ts';
import { Address, Amount, closed, Digest, Hash, oneOf, Text, Time } from '../schema.ts';
import type { Instant } from '../time.ts';
import { liveAttempts, newLeg, type Owed, stepOf, type TransferLeg, type TransferStep } from '../transfer/leg.ts';
import { type ChainLegOwner, chainLegOwner } from '../transfer/owner.ts';
import { evolveLeg, unprefixed } from '../transfer/record.ts';
import {
  AssetRef,
  Attempt,
  allowedContracts,
  DeathProof,
  Memo,
  Orphaned,
  ourContracts,
  Reason,
  referenceOf,
  Settled,
  Short,
  SignedAttempt,
} from '../transfer/shapes.ts';

// Every event of a treasury operation, as it is stored. Stream `operation-<id>`.

/** 2: allowances for our contracts; anchoring a head's hash on a chain. 3: allowances for the contract that burns for rebalances. 4: for USDT0's. */
export const operationSchemaVersion = 4;

export const operationKinds = ['withdrawal', 'rebalance', 'sweep', 'deployment', 'anchor'] as const;

/** Operator's account name, as in `operator:<name>`. */
const Operator = Type.String({ minLength: 1, maxLength: 128 });

/** Form of an operation other than a token transfer: coin, collection of deposits, deployment, allowance, or anchor. */
const Form = Type.Union([
  Type.Object({ kind: Type.Literal('coin') }, closed),
  Type.Object(
    {
      kind: Type.Literal('flush'),
      deposits: Type.Array(Type.Object({ address: Address, salt: Text(128) }, closed), { minItems: 1, maxItems: 200 }),
    },
    closed,
  ),
  Type.Object({ kind: Type.Literal('deploy'), contract: oneOf(ourContracts) }, closed),
  Type.Object({ kind: Type.Literal('allow'), contract: oneOf(allowedContracts), most: Amount }, closed),
  Type.Object({ kind: Type.Literal('anchor'), hash: Digest }, closed),
]);

export const operationEventSchemas = {
  OperationOrdered: Type.Object(
    {
      kind: oneOf(operationKinds),
      chainId: oneOf(chainIds),
      /** Treasury account that owns the money. */
      account: Address,
      token: AssetRef,
      form: Type.Optional(Form),
      receiver: Address,
      receiverMemo: Memo,
      amount: Amount,
      /** Value in millionths of a dollar: tokens count as one dollar, coins as configured. */
      value_microUsd: Amount,
      /** Number of other operators who must approve before the signature. */
      approvals: Type.Integer({ minimum: 0, maximum: 1 }),
      /** It may use money that payouts are owed. Default: it waits for them. */
      evenOwed: Type.Optional(Type.Literal(true)),
      /** For a rebalance: our account that finally receives the money. */
      expects: Type.Optional(Type.Object({ chainId: oneOf(chainIds), account: Address, token: AssetRef }, closed)),
      reason: Reason,
      /** An operator, or a worker by its name. */
      by: Operator,
      orderedAt: Time,
    },
    closed,
  ),
  OperationApproved: Type.Object({ by: Operator, approvedAt: Time }, closed),
  OperationCalledOff: Type.Object({ reason: Reason, by: Operator, calledOffAt: Time }, closed),
  OperationSigned: Type.Object(SignedAttempt, closed),
  OperationDied: Type.Object({ attempt: Attempt, proof: DeathProof }, closed),
  OperationOrphaned: Type.Object(Orphaned, closed),
  OperationConfirmed: Type.Object(
    {
      ...Settled,
      /** Amount of a collection, if it differs from the order. */
      arrived: Type.Optional(Amount),
    },
    closed,
  ),
  /** The transfer is final, and the receiver got less than ordered. Nothing more is sent. */
  OperationShort: Type.Object(Short, closed),
  /** Other end of a rebalance: the transaction that topped up our account there. */
  RebalanceArrived: Type.Object({ hash: Hash, amount: Amount, by: Operator, arrivedAt: Time }, closed),
} as const;

type Schemas = typeof operationEventSchemas;
export type OperationEventType = keyof Schemas;
export type OperationEvent = {
  [T in OperationEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[OperationEventType];
export type OperationOrdered = Static<Schemas['OperationOrdered']>;
export type OperationKind = (typeof operationKinds)[number];
export type OperationForm = Static<typeof Form>;

/** Prefix of the events that every transfer has. */
const prefix = 'Operation';

export interface Operation {
  readonly ordered: OperationOrdered;
  readonly leg: TransferLeg;
  /** Operators who approved, besides the one who ordered. */
  readonly approvedBy: readonly string[];
  readonly calledOff: { readonly reason: string; readonly by: string; readonly at: Instant } | null;
  /** Amount of a collection in smallest units, if it differs from the order. */
  readonly brought: bigint | null;
  /** Transaction that ended a rebalance on the destination chain. */
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
        leg: legOf(event.data),
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
        return withLegEvent(state, event);
    }
  },
};

const legOf = ({ chainId, token, receiver, receiverMemo, amount, form }: OperationOrdered): TransferLeg =>
  newLeg({ chainId, token, receiver, receiverMemo, amount: BigInt(amount), ...(form && { form }) });

function withLegEvent(state: Operation, event: OperationEvent): Operation {
  const told = unprefixed(prefix, event);
  if (!told) return state;
  const arrived = event.type === 'OperationConfirmed' ? event.data.arrived : undefined;
  return {
    ...state,
    leg: evolveLeg(state.leg, told),
    brought: arrived === undefined ? state.brought : BigInt(arrived),
  };
}

/** Status of an operation, as operators read it. `done` and `short` are final on the chain. */
export type OperationStatus = 'waitsForApproval' | 'calledOff' | 'ordered' | 'signed' | 'short' | 'done';

export function operationStatus({ leg, calledOff, ordered, approvedBy }: Operation): OperationStatus {
  if (leg.settled) return 'done';
  if (leg.short) return 'short';
  if (calledOff) return 'calledOff';
  if (liveAttempts(leg).length > 0) return 'signed';
  return approvedBy.length < ordered.approvals ? 'waitsForApproval' : 'ordered';
}

/**
 * Next step that the process owes the operation. One that fell short is over: its amount is recorded, and nothing more is sent
 * automatically.
 */
export function nextOperationStep(state: Operation): TransferStep {
  const standing = operationStatus(state);
  if (standing === 'calledOff' || standing === 'short') return { do: 'done' };
  return stepOf(state.leg, standing === 'waitsForApproval');
}

/** @param id of its stream */
export function operationOwed(id: string, state: Operation): Owed {
  const key = { kind: 'operation', id, part: 1 } as const;
  const { kind } = state.ordered;
  const purpose = { kind: kind === 'rebalance' ? 'withdrawal' : kind, reference: referenceOf(key) } as const;
  return { key, purpose, appId: null, leg: state.leg, step: nextOperationStep(state) };
}

/** @returns `[]` for an identical order; a different order with this id is refused */
export function orderOperation(state: OperationState, order: OperationOrdered): Decision<OperationEvent> {
  if (!state) return [{ type: 'OperationOrdered', data: order }];
  const { ordered } = state;
  const same = (['kind', 'chainId', 'account', 'receiver', 'receiverMemo', 'amount'] as const).every(
    (field) => ordered[field] === order[field],
  );
  return same && ordered.token.address === order.token.address
    ? []
    : refuse('conflict', 'another operation has this id: order it again');
}

const noOperation = refuse('notFound', 'no operation has this id: list them with npm run treasury -- operations');

/** Approves by another operator. Changes nothing if no approval is missing. */
export function approveOperation(state: OperationState, by: string, now: Instant): Decision<OperationEvent> {
  if (!state) return noOperation;
  const { ordered, approvedBy, calledOff } = state;
  if (calledOff)
    return refuse('illegalStep', `it was called off by ${calledOff.by} (${calledOff.reason}): order it anew`);
  if (approvedBy.includes(by) || approvedBy.length >= ordered.approvals) return [];
  if (by === ordered.by)
    return refuse('forbidden', `${by} ordered it: another operator must approve it, under their own name`);
  return [{ type: 'OperationApproved', data: { by, approvedAt: now } }];
}

/**
 * Calls the operation off. Possible while no signed attempt can land: before the signature, or after every attempt has died.
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
  if (leg.settled || leg.short)
    return refuse('illegalStep', 'the transaction is on its chain: the operation cannot be called off');
  const [signed] = liveAttempts(leg);
  return signed && refuse('illegalStep', `${signed.hash} is signed and can still land: it cannot be called off now`);
}

/** No operator accepts a short operation or allows more attempts: they order a new one instead. */
export const operationLeg = chainLegOwner({
  prefix,
  legOf: (state: OperationState) => state?.leg ?? noOperation,
  guard(state) {
    if (state?.calledOff)
      return refuse('illegalStep', `it was called off by ${state.calledOff.by}: sign nothing for it`);
    return state && operationStatus(state) === 'waitsForApproval'
      ? refuse('illegalStep', 'another operator has to approve it first')
      : undefined;
  },
  /** A collection may bring another amount than ordered. */
  extra: (_, __, outcome) =>
    outcome?.kind === 'final' && outcome.arrived !== undefined ? { arrived: unitsText(outcome.arrived) } : {},
}) as ChainLegOwner<OperationState, OperationEvent>;

/** The money of a rebalance reached our other account. */
export function rebalanceArrived(
  state: OperationState,
  seen: { readonly hash: string; readonly amount: bigint; readonly by: string; readonly now: Instant },
): Decision<OperationEvent> {
  if (!state) return noOperation;
  if (!state.ordered.expects)
    return refuse('illegalStep', 'the operation is not a rebalance: nothing is expected to arrive');
  if (state.arrived?.hash === seen.hash) return [];
  if (state.arrived) return refuse('illegalStep', `its money came with ${state.arrived.hash} already`);
  if (!state.leg.settled)
    return refuse('illegalStep', 'the money has not left its chain: wait until the transfer is final there');
  const { hash, amount, by, now } = seen;
  return [{ type: 'RebalanceArrived', data: { hash, amount: unitsText(amount), by, arrivedAt: now } }];
}
