/**
 * Many payouts in one transaction. A batch names its members; each of their payments records that it is in it before anything is signed,
 * and has no attempt of its own until the batch lets it go. What is signed and what became of it is decided here, and told to the members'
 * streams before anything else is done. Stream `payoutBatch-<chainId>-<account>-<number>`.
 */
import { type Decider, type Decision, InvariantBroken, isRefusal, refuse } from '../decider.ts';
import { unitsText } from '../money.ts';
import type { Instant } from '../time.ts';
import { canLand, newLeg, type Owed, stepOf, type TransferLeg, type TransferStep } from '../transfer/leg.ts';
import { type ChainLegOwner, chainLegOwner } from '../transfer/owner.ts';
import { evolveLeg, type Outcome, unprefixed } from '../transfer/record.ts';
import { type DeathProof, referenceOf } from '../transfer/shapes.ts';
import { type BatchOpened, type Member, membersMax, type PayoutBatchEvent } from './events.ts';

/** Of the events that every transfer has. */
const prefix = 'Batch';
const leastMembers = 2;

export interface Batch {
  readonly opened: BatchOpened;
  /** Places of those whose payments are in it, ascending; null until that is known. */
  readonly joined: readonly number[] | null;
  readonly leg: TransferLeg;
  /** Why each dead attempt can never land, by its number. */
  readonly proofs: ReadonlyMap<number, DeathProof>;
  /** What each receiver got, where not all of them got all. */
  readonly brought: readonly bigint[] | null;
  /** Why, of one that is over without having landed. */
  readonly dissolved: string | null;
  /** What the members' streams have to know, and how much of it they do. */
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

/** Those whose payments are in it, in the order in which they are paid; none before that is known. */
export const joinedMembers = ({ opened, joined }: Batch): readonly Member[] => membersAt(opened, joined ?? []);

/** How it stands, in a word that operators read. */
export type BatchStanding = 'gathering' | 'gathered' | 'signed' | 'dissolved' | 'short' | 'done';

export function batchStandingOf({ joined, leg, dissolved }: Batch): BatchStanding {
  if (leg.settled) return 'done';
  if (leg.short) return 'short';
  if (dissolved !== null) return 'dissolved';
  if (leg.attempts.length > 0) return 'signed';
  return joined === null ? 'gathering' : 'gathered';
}

/** What the process owes it now. Nothing is sent that its members' streams do not have. */
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

/** The first one takes the number; whoever else asks for it takes the next. */
export function openBatch(state: BatchState, order: BatchOpened): Decision<PayoutBatchEvent> {
  if (state) return refuse('conflict', 'this number has a batch already: take the next');
  const payments = new Set(order.members.map(({ paymentId }) => paymentId));
  if (payments.size < leastMembers || payments.size > membersMax || payments.size !== order.members.length)
    return refuse('invalidRequest', `a batch has ${leastMembers} to ${membersMax} payments, each once`);
  return [{ type: 'BatchOpened', data: order }];
}

const noBatch = refuse('notFound', 'no batch has this id');

/** Those are in it for good, whoever was asked. Of fewer than two nothing is made. @param joined their places, ascending */
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

/** What is recorded here has to be in the members' streams before anything is sent. */
export const batchLeg: ChainLegOwner<BatchState, PayoutBatchEvent> = {
  ...legVerbs,
  /** A batch has one nonce: where nothing of that can land any more, it is over, and its members are paid by themselves. */
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

/** It is not made. Possible while nothing was signed for it: what is signed ends by what its chain proves. @param reason at most 400 characters */
export function dissolveBatch(state: BatchState, reason: string, now: Instant): Decision<PayoutBatchEvent> {
  if (!state) return noBatch;
  if (state.dissolved !== null) return [];
  if (state.leg.attempts.length > 0) return refuse('illegalStep', 'it is signed: only what its chain shows ends it');
  return [dissolved(reason, now)];
}

/** The members' streams have all up to there. @param changes as the state had them that was told */
export function noteTold(state: BatchState, changes: number): Decision<PayoutBatchEvent> {
  if (!state) return noBatch;
  return changes > state.told ? [{ type: 'BatchTold', data: { changes } }] : [];
}
