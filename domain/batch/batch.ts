/**
 * Pays many payouts in one transaction. A batch names its members. Each member's payment records that it joined before anything is signed,
 * and has no attempt of its own until the batch releases it. The batch's stream decides about signatures and outcomes; the members' streams
 * receive each decision before the next step. Stream `payoutBatch-<chainId>-<account>-<number>`.
 */

import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { type Decider, type Decision, InvariantBroken, isRefusal, refuse } from '../decider.ts';
import { unitsText } from '../money.ts';
import { Address, Amount, closed, Id, oneOf, Time } from '../schema.ts';
import type { Instant } from '../time.ts';
import { canLand, newLeg, type Owed, stepOf, type TransferLeg, type TransferStep } from '../transfer/leg.ts';
import { type ChainLegOwner, chainLegOwner } from '../transfer/owner.ts';
import { evolveLeg, type Outcome, unprefixed } from '../transfer/record.ts';
import {
  AssetRef,
  Attempt,
  DeathProof,
  Orphaned,
  Reason,
  referenceOf,
  Settled,
  Short,
  SignedAttempt,
} from '../transfer/shapes.ts';

// Every event of a batch of payouts, as it is stored. Stream `payoutBatch-<chainId>-<account>-<number>`.

export const payoutBatchSchemaVersion = 1;

/** Maximum payouts of one batch: each member's stream holds its bytes. */
export const membersMax = 50;

const Member = Type.Object({ paymentId: Id, appId: Id, receiver: Address, amount: Amount }, closed);
const Position = Type.Integer({ minimum: 1, maximum: membersMax });

export const payoutBatchEventSchemas = {
  BatchOpened: Type.Object(
    {
      chainId: oneOf(chainIds),
      /** The treasury's account. */
      account: Address,
      token: AssetRef,
      /** The contract that pays all of them in one transaction. */
      contract: Address,
      members: Type.Array(Member, { minItems: 2, maxItems: membersMax }),
      openedAt: Time,
    },
    closed,
  ),
  /** Positions (from 1) of the members whose payments have recorded that they joined. */
  BatchGathered: Type.Object({ joined: Type.Array(Position, { maxItems: membersMax }), gatheredAt: Time }, closed),
  BatchSigned: Type.Object(SignedAttempt, closed),
  BatchDied: Type.Object({ attempt: Attempt, proof: DeathProof }, closed),
  BatchOrphaned: Type.Object(Orphaned, closed),
  BatchConfirmed: Type.Object(Settled, closed),
  /** The transaction is final, and some receivers got less than ordered. `brought` holds each joined member's amount, in order. */
  BatchShort: Type.Object({ ...Short, brought: Type.Array(Amount, { maxItems: membersMax }) }, closed),
  /** Nothing of the batch can land, and nothing more is signed for it: its members are paid alone. */
  BatchDissolved: Type.Object({ reason: Reason, dissolvedAt: Time }, closed),
  /** The members' streams have this many changes: signatures, deaths, landings. */
  BatchTold: Type.Object({ changes: Type.Integer({ minimum: 1 }) }, closed),
} as const;

type Schemas = typeof payoutBatchEventSchemas;
export type PayoutBatchEventType = keyof Schemas;
export type PayoutBatchEvent = {
  [T in PayoutBatchEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[PayoutBatchEventType];
export type BatchOpened = Static<Schemas['BatchOpened']>;
export type Member = Static<typeof Member>;

/** Prefix of the events that every transfer has. */
const prefix = 'Batch';
const leastMembers = 2;

export interface Batch {
  readonly opened: BatchOpened;
  /** Positions of the members whose payments have joined, ascending; null until that is known. */
  readonly joined: readonly number[] | null;
  readonly leg: TransferLeg;
  /** Proof that a dead attempt can never land, by attempt number. */
  readonly proofs: ReadonlyMap<number, DeathProof>;
  /** Amount that each receiver got, if some got less than ordered. */
  readonly brought: readonly bigint[] | null;
  /** Reason of a batch that ended without landing. */
  readonly dissolved: string | null;
  /** Number of decisions that the members' streams must copy, and how many they have copied. */
  readonly changes: number;
  readonly told: number;
}

/** `null` before it is opened. */
export type BatchState = Batch | null;

export const payoutBatch: Decider<BatchState, PayoutBatchEvent> = {
  category: 'payoutBatch',
  initial: null,
  evolve(state, event) {
    if (event.type === 'BatchOpened') return newBatch(event.data);
    if (!state) throw new InvariantBroken(`${event.type} before BatchOpened`);
    switch (event.type) {
      case 'BatchGathered':
        return {
          ...state,
          joined: event.data.joined,
          leg: legOf(state.opened, membersAt(state.opened, event.data.joined)),
        };
      case 'BatchTold':
        return { ...state, told: event.data.changes };
      case 'BatchDissolved':
        return { ...state, dissolved: event.data.reason, changes: state.changes + 1 };
      default:
        return withLegEvent(state, event);
    }
  },
};

const newBatch = (opened: BatchOpened): Batch => ({
  opened,
  joined: null,
  leg: legOf(opened, opened.members),
  proofs: new Map(),
  brought: null,
  dissolved: null,
  changes: 0,
  told: 0,
});

function legOf({ chainId, token, contract }: BatchOpened, members: readonly Member[]): TransferLeg {
  const payments = members.map(({ amount, ...member }) => ({ ...member, amount: BigInt(amount) }));
  const amount = payments.reduce((sum, each) => sum + each.amount, 0n);
  return newLeg({
    chainId,
    token,
    receiver: contract,
    receiverMemo: null,
    amount,
    form: { kind: 'payMany', payments },
  });
}

const membersAt = ({ members }: BatchOpened, places: readonly number[]): readonly Member[] =>
  places.flatMap((place) => members[place - 1] ?? []);

function withLegEvent(state: Batch, event: PayoutBatchEvent): Batch {
  const told = unprefixed(prefix, event);
  if (!told) return state;
  const { type } = event;
  return {
    ...state,
    leg: evolveLeg(state.leg, told),
    proofs: type === 'BatchDied' ? new Map([...state.proofs, [event.data.attempt, event.data.proof]]) : state.proofs,
    brought: type === 'BatchShort' ? event.data.brought.map(BigInt) : state.brought,
    changes: state.changes + 1,
  };
}

/** Members whose payments have joined, in the order of payment; empty until that is known. */
export const joinedMembers = ({ opened, joined }: Batch): readonly Member[] => membersAt(opened, joined ?? []);

/** Status of a batch, as operators read it. */
export type BatchStatus = 'gathering' | 'gathered' | 'signed' | 'dissolved' | 'short' | 'done';

export function batchStandingOf({ joined, leg, dissolved }: Batch): BatchStatus {
  if (leg.settled) return 'done';
  if (leg.short) return 'short';
  if (dissolved !== null) return 'dissolved';
  if (leg.attempts.length > 0) return 'signed';
  return joined === null ? 'gathering' : 'gathered';
}

/** Next step of the process for the batch. No attempt is sent before the members' streams contain it. */
export function nextBatchStep(state: Batch): TransferStep {
  if (state.joined === null || state.told < state.changes) return { do: 'tell' };
  if (state.dissolved !== null || state.leg.short) return { do: 'done' };
  return stepOf(state.leg);
}

/** @param id of its stream */
export function batchOwed(id: string, state: Batch): Owed {
  const key = { kind: 'batch', id, part: 1 } as const;
  const purpose = { kind: 'batch', reference: referenceOf(key) } as const;
  return { key, purpose, appId: null, leg: state.leg, step: nextBatchStep(state) };
}

/** The first caller gets the number; a concurrent caller gets the next one. */
export function openBatch(state: BatchState, order: BatchOpened): Decision<PayoutBatchEvent> {
  if (state) return refuse('conflict', 'this number has a batch already: take the next');
  const payments = new Set(order.members.map(({ paymentId }) => paymentId));
  if (payments.size < leastMembers || payments.size > membersMax || payments.size !== order.members.length)
    return refuse('invalidRequest', `a batch has ${leastMembers} to ${membersMax} payments, each once`);
  return [{ type: 'BatchOpened', data: order }];
}

const noBatch = refuse('notFound', 'no batch has this id');

/** Fixes the members for good. A batch needs at least two. @param joined their positions, ascending */
export function gatherBatch(state: BatchState, joined: readonly number[], now: Instant): Decision<PayoutBatchEvent> {
  if (!state) return noBatch;
  if (state.joined !== null) return [];
  const gathered: PayoutBatchEvent = { type: 'BatchGathered', data: { joined: [...joined], gatheredAt: now } };
  return joined.length < leastMembers
    ? [gathered, dissolved('fewer than two payouts are left of it', now)]
    : [gathered];
}

const dissolved = (reason: string, now: Instant): PayoutBatchEvent => ({
  type: 'BatchDissolved',
  data: { reason, dissolvedAt: now },
});

const legVerbs = chainLegOwner({
  prefix,
  legOf: (state: BatchState) => state?.leg ?? noBatch,
  guard(state) {
    if (state && state.dissolved !== null)
      return refuse('illegalStep', `the batch is over (${state.dissolved}): sign nothing for it`);
    return state && state.joined === null
      ? refuse('illegalStep', 'it is not known yet who is in the batch: sign nothing for it')
      : undefined;
  },
  extra: (state, _, outcome) => (state && outcome?.kind === 'short' ? { brought: broughtTo(state, outcome) } : {}),
}) as ChainLegOwner<BatchState, PayoutBatchEvent>;

/** The members' streams must have every record of this leg before anything is sent. */
export const batchLeg: ChainLegOwner<BatchState, PayoutBatchEvent> = {
  ...legVerbs,
  /** A batch has one nonce. When nothing of that nonce can land, the batch is over and its members are paid alone. */
  conclude(state, part, outcome, now) {
    const told = legVerbs.conclude(state, part, outcome, now);
    if (outcome.kind !== 'dead' || isRefusal(told) || told.length === 0) return told;
    const after = told.reduce<BatchState>(payoutBatch.evolve, state);
    return after?.leg.attempts.some(canLand) ? told : [...told, dissolved(outcome.proof.detail.slice(0, 400), now)];
  },
};

function broughtTo({ joined }: Batch, { brought = [] }: Extract<Outcome, { kind: 'short' }>): readonly string[] {
  return (joined ?? []).map((_, at) => unitsText(brought[at] ?? 0n));
}

/** Gives the batch up. Refused once anything was signed: the chain then decides. @param reason at most 400 characters */
export function dissolveBatch(state: BatchState, reason: string, now: Instant): Decision<PayoutBatchEvent> {
  if (!state) return noBatch;
  if (state.dissolved !== null) return [];
  if (state.leg.attempts.length > 0) return refuse('illegalStep', 'it is signed: only what its chain shows ends it');
  return [dissolved(reason, now)];
}

/** Records that the members' streams have all changes up to this number. @param changes the number in the state that was copied */
export function noteTold(state: BatchState, changes: number): Decision<PayoutBatchEvent> {
  if (!state) return noBatch;
  return changes > state.told ? [{ type: 'BatchTold', data: { changes } }] : [];
}
