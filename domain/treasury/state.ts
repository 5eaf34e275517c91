/**
 * One treasury account on one chain. Stream `treasury-<chainId>-<account>`.
 *
 * Nonces are handed out here, at exact revisions: two signers cannot both get one. At most `outstandingMax` are
 * unmined at a time, so what matters now always lies in the stream's last events, and only those are read.
 */
import { type Decider, InvariantBroken } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { Moved, Purpose, TreasuryEvent } from './events.ts';

export const outstandingMax = 16;
/** Cancels of one nonce that outbid each other. */
export const cancelsMax = 12;

export interface Assignment {
  readonly nonce: bigint;
  readonly purpose: Purpose;
  /** Null in older events. */
  readonly moves: Moved | null;
  readonly assignedAt: Instant;
}

/** A signed transaction that uses a nonce up. Of older ones the bytes were not kept. */
export interface SignedCancel {
  readonly hash: string;
  readonly bytes: string | null;
  readonly fee: Readonly<Record<string, string>> | null;
  readonly signedAt: Instant;
}

/** A nonce that was taken from its purpose. */
export interface Cancelled {
  readonly nonce: bigint;
  /** Whom it was taken from; null when the window shows it no more. */
  readonly purpose: Purpose | null;
  /** Each outbids the one before; one at least. */
  readonly signed: readonly SignedCancel[];
  /** For good, by a transaction that is recorded. */
  readonly usedUp: boolean;
}

/** A nonce that was used up by a transaction of which nothing here knows. */
export interface TakenNonce {
  readonly nonce: bigint;
  readonly detail: string;
  /** Nodes have shown that transaction: no recorded attempt used the nonce. */
  readonly proven: boolean;
}

/** A transaction that nothing here recorded before an operator did. */
export interface Adopted {
  readonly hash: string;
  readonly nonce: bigint | null;
}

/** A transaction that moved money of the account and that nothing here records. */
export interface Outflow {
  readonly hash: string;
  readonly detail: string;
}

export interface TreasuryState {
  /** False until the first event is seen, and between the closing of a network and the first transfer on the next one. */
  readonly opened: boolean;
  /** The old network is closed, and no history is open on the new one. */
  readonly betweenNetworks: boolean;
  /** Null when the window does not show it any more. */
  readonly openedAt: Instant | null;
  /** The nonce that the next assignment gets; null when the window shows none. */
  readonly nextNonce: bigint | null;
  readonly paused: string | null;
  /** The latest assignments, oldest first; at least the outstanding ones. */
  readonly assigned: readonly Assignment[];
  /** The latest, those that are used up among them: they explain what became of a transfer under the same nonce. */
  readonly cancelled: readonly Cancelled[];
  /** Nonces that transactions used up of which nothing here knows: nothing is signed until an operator has explained them. */
  readonly taken: readonly TakenNonce[];
  /** The latest of those that an operator has explained. */
  readonly explained: readonly TakenNonce[];
  /** What used the nonces below is known, if not here. */
  readonly explainedTo: bigint;
  /** Money left by these, and nothing here says why: nothing is signed until an operator has adopted or explained them. */
  readonly outflows: readonly Outflow[];
  /** The latest, and outflows that were explained. */
  readonly adopted: readonly Adopted[];
}

/** What one outstanding nonce leaves at most; the rest is room for two hundred pauses and resumptions among them. */
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
      // A pause remains: an operator ends it.
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

/** Nonces below a new network's history are of the old network, or were used before the history: nobody took them. */
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

/** Its nonce is used up: whoever had it gets another one, and what was signed with it can land no more. */
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
