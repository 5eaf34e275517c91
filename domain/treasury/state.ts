/**
 * One treasury account on one chain. Stream `treasury-<chainId>-<account>`.
 *
 * Nonces are assigned here at exact revisions, so two signers cannot both get one. At most `outstandingMax` are unmined at a time, so the
 * relevant events are always among the stream's last ones, and only those are read.
 */
import { type Decider, InvariantBroken } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { Moved, Purpose, TreasuryEvent } from './events.ts';

export const outstandingMax = 16;
/** Maximum cancels of one nonce, each of which outbids the previous one. */
export const cancelsMax = 12;

export interface Assignment {
  readonly nonce: bigint;
  readonly purpose: Purpose;
  /** Null in older events. */
  readonly moves: Moved | null;
  readonly assignedAt: Instant;
}

/** A signed transaction that uses up a nonce. Older ones have no stored bytes. */
export interface SignedCancel {
  readonly hash: string;
  readonly bytes: string | null;
  readonly fee: Readonly<Record<string, string>> | null;
  readonly signedAt: Instant;
}

/** A nonce that was taken from its purpose. */
export interface Cancelled {
  readonly nonce: bigint;
  /** Former purpose; null if it is outside the window. */
  readonly purpose: Purpose | null;
  /** Each outbids the previous one; at least one. */
  readonly signed: readonly SignedCancel[];
  /** Used up for good, by a recorded transaction. */
  readonly usedUp: boolean;
}

/** A nonce that a transaction without a record used up. */
export interface TakenNonce {
  readonly nonce: bigint;
  readonly detail: string;
  /** Nodes returned that transaction: no recorded attempt used the nonce. */
  readonly proven: boolean;
}

/** A transaction without a record before an operator adopted it. */
export interface Adopted {
  readonly hash: string;
  readonly nonce: bigint | null;
}

/** A transaction without a record that moved the account's money. */
export interface Outflow {
  readonly hash: string;
  readonly detail: string;
}

export interface TreasuryState {
  /** False until the first event is seen, and between the closing of a network and the first transfer on the next one. */
  readonly opened: boolean;
  /** The old network is closed, and no history is open on the new one. */
  readonly betweenNetworks: boolean;
  /** Null if it is outside the window. */
  readonly openedAt: Instant | null;
  /** Next nonce to assign; null if the window has none. */
  readonly nextNonce: bigint | null;
  readonly paused: string | null;
  /** Latest assignments, oldest first; at least the outstanding ones. */
  readonly assigned: readonly Assignment[];
  /** Latest cancels, including used-up ones: they explain the fate of a transfer with the same nonce. */
  readonly cancelled: readonly Cancelled[];
  /** Nonces used up by transactions without a record: nothing is signed until an operator explains them. */
  readonly taken: readonly TakenNonce[];
  /** Latest nonces that an operator explained. */
  readonly explained: readonly TakenNonce[];
  /** Uses of lower nonces are known, even if the window has no record. */
  readonly explainedTo: bigint;
  /** Unexplained outgoing transactions: nothing is signed until an operator adopts or explains them. */
  readonly outflows: readonly Outflow[];
  /** Latest adopted transactions, and explained outflows. */
  readonly adopted: readonly Adopted[];
}

/** Maximum events of one outstanding nonce, plus room for two hundred pauses and resumptions. */
const window = (cancelsMax + 3) * outstandingMax + 402;

const unopened: TreasuryState = {
  opened: false,
  betweenNetworks: false,
  openedAt: null,
  nextNonce: null,
  paused: null,
  assigned: [],
  cancelled: [],
  taken: [],
  explained: [],
  explainedTo: 0n,
  outflows: [],
  adopted: [],
};

export const treasury: Decider<TreasuryState, TreasuryEvent> = {
  category: 'treasury',
  window,
  initial: unopened,
  evolve(state, event) {
    const opened = { ...state, opened: !state.betweenNetworks };
    switch (event.type) {
      case 'TreasuryOpened':
        return withOpening(state, event.data);
      case 'PayoutsPaused':
        return { ...opened, paused: event.data.reason };
      case 'PayoutsResumed':
        return { ...opened, paused: null };
      // A pause stays in force until an operator ends it.
      case 'TreasuryNetworkClosed':
        return { ...unopened, betweenNetworks: true, paused: state.paused };
      case 'OutflowSeen': {
        const { hash, detail } = event.data;
        return { ...opened, outflows: [...opened.outflows, { hash, detail }] };
      }
      case 'TransactionAdopted':
        return withAdopted(opened, event.data);
      default:
        return evolveNonce(opened, event);
    }
  },
};

/** Nonces below a new network's history belong to the old network, or were used before the history: they are not unknown. */
function withOpening(state: TreasuryState, { firstNonce, openedAt }: DataOf<'TreasuryOpened'>): TreasuryState {
  const nextNonce = BigInt(firstNonce);
  const explainedTo = state.betweenNetworks ? nextNonce : state.explainedTo;
  return { ...state, opened: true, betweenNetworks: false, openedAt, nextNonce, explainedTo };
}

function evolveNonce(state: TreasuryState, event: TreasuryEvent): TreasuryState {
  switch (event.type) {
    case 'NonceAssigned':
      return withAssigned(state, event.data);
    case 'NonceCancelled':
      return withCancel(state, event.data);
    case 'NonceUsedUp': {
      const nonce = BigInt(event.data.nonce);
      const cancelled = state.cancelled.map((each) => (each.nonce === nonce ? { ...each, usedUp: true } : each));
      return { ...state, cancelled };
    }
    case 'NonceTaken': {
      const nonce = BigInt(event.data.nonce);
      return {
        ...state,
        cancelled: without(state.cancelled, nonce),
        taken: [...state.taken, { nonce, detail: event.data.detail, proven: event.data.proven }],
      };
    }
    case 'NoncesExplained':
      return explained(state, BigInt(event.data.upTo));
    default:
      return state;
  }
}

type DataOf<T extends TreasuryEvent['type']> = Extract<TreasuryEvent, { type: T }>['data'];

function withAssigned(state: TreasuryState, data: DataOf<'NonceAssigned'>): TreasuryState {
  const { purpose, moves = null, assignedAt } = data;
  const nonce = BigInt(data.nonce);
  if (state.nextNonce !== null && nonce !== state.nextNonce) {
    throw new InvariantBroken(`nonce ${nonce} follows ${state.nextNonce - 1n}`);
  }
  const assigned = [...state.assigned, { nonce, purpose, moves, assignedAt }].slice(-window);
  return { ...state, nextNonce: nonce + 1n, assigned };
}

function withCancel(state: TreasuryState, data: DataOf<'NonceCancelled'>): TreasuryState {
  const { hash, bytes = null, fee = null, cancelledAt: signedAt } = data;
  const nonce = BigInt(data.nonce);
  const known = state.cancelled.find((cancel) => cancel.nonce === nonce);
  const purpose = known?.purpose ?? state.assigned.find((each) => each.nonce === nonce)?.purpose ?? null;
  const signed = [...(known?.signed ?? []), { hash, bytes, fee, signedAt }];
  return {
    ...state,
    assigned: without(state.assigned, nonce),
    cancelled: [...without(state.cancelled, nonce), { nonce, purpose, signed, usedUp: false }].slice(-window),
  };
}

/** The nonce is used up: its purpose gets another one, and its signatures can never land. */
function withAdopted(state: TreasuryState, data: DataOf<'TransactionAdopted'>): TreasuryState {
  const { hash, blockNumber } = data;
  const nonce = data.nonce === null ? null : BigInt(data.nonce);
  const adopted = [...state.adopted, { hash, nonce }].slice(-window);
  const outflows = state.outflows.filter((outflow) => outflow.hash !== hash);
  if (nonce === null) return { ...state, adopted, outflows };
  const detail = `transaction ${hash} in block ${blockNumber} used nonce ${nonce}`;
  return {
    ...state,
    adopted,
    outflows,
    nextNonce: data.nextNonce === null ? state.nextNonce : BigInt(data.nextNonce),
    assigned: without(state.assigned, nonce),
    cancelled: without(state.cancelled, nonce),
    taken: without(state.taken, nonce),
    explained: [...without(state.explained, nonce), { nonce, detail, proven: true }].slice(-window),
  };
}

function explained(state: TreasuryState, upTo: bigint): TreasuryState {
  const from = <T extends { readonly nonce: bigint }>(all: readonly T[]) => all.filter(({ nonce }) => nonce >= upTo);
  return {
    ...state,
    nextNonce: state.nextNonce === null || state.nextNonce < upTo ? upTo : state.nextNonce,
    assigned: from(state.assigned),
    cancelled: from(state.cancelled),
    taken: from(state.taken),
    explained: [...state.explained, ...state.taken.filter(({ nonce }) => nonce < upTo)].slice(-window),
    explainedTo: state.explainedTo < upTo ? upTo : state.explainedTo,
    outflows: [],
    adopted: [...state.adopted, ...state.outflows.map(({ hash }) => ({ hash, nonce: null }))].slice(-window),
  };
}

const without = <T extends { readonly nonce: bigint }>(all: readonly T[], nonce: bigint): readonly T[] =>
  all.filter((each) => each.nonce !== nonce);

export const treasuryInstance = (chainId: number, account: string): string => `${chainId}-${account}`;
