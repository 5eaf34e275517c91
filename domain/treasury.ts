/**
 * One treasury account on one chain. Stream `treasury-<chainId>-<account>`.
 *
 * Nonces are handed out here, at exact revisions: two signers cannot both get one. At most `outstandingMax` are
 * unmined at a time, so what matters now always lies in the stream's last events, and only those are read.
 */
import Type, { type Static } from 'typebox';
import { type ChainId, chainIds } from './chains.ts';
import { type Decider, type Decision, InvariantBroken, type Refusal, refuse } from './decider.ts';
import { Address, closed, Hash, Height, Id, oneOf, Text, Time } from './schema.ts';
import type { Instant } from './time.ts';

export const treasurySchemaVersion = 1;

export const outstandingMax = 16;

/** What a nonce is for. A purpose gets one nonce; another attempt after a proven death is another purpose. */
const Purpose = Type.Object(
  {
    kind: oneOf(['payout', 'refund', 'sweep', 'cancel']),
    /** Payment id, or what else the transfer belongs to. */
    reference: Id,
    /** Counts the nonces that one reference used up: 1 for the first. */
    ordinal: Type.Integer({ minimum: 1, maximum: 10_000 }),
  },
  closed,
);

export const treasuryEventSchemas = {
  /** The account's history here begins: the chain's nonce at that moment; 0 where it has none. */
  TreasuryOpened: Type.Object(
    { chainId: oneOf(chainIds), account: Address, firstNonce: Height, openedAt: Time },
    closed,
  ),
  NonceAssigned: Type.Object({ nonce: Height, purpose: Purpose, assignedAt: Time }, closed),
  /** A no-value transaction used the nonce up, because its purpose is gone. */
  NonceCancelled: Type.Object({ nonce: Height, hash: Hash, cancelledAt: Time }, closed),
  SweepSigned: Type.Object(
    { nonce: Height, hash: Hash, bytes: Type.String({ minLength: 2, maxLength: 65_536 }), signedAt: Time },
    closed,
  ),
  SweepConfirmed: Type.Object({ nonce: Height, hash: Hash, confirmedAt: Time }, closed),
  PayoutsPaused: Type.Object({ reason: Text(400), pausedAt: Time }, closed),
  PayoutsResumed: Type.Object({ resumedAt: Time }, closed),
} as const;

type Schemas = typeof treasuryEventSchemas;
export type TreasuryEventType = keyof Schemas;
export type TreasuryEvent = {
  [T in TreasuryEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[TreasuryEventType];
export type Purpose = Static<typeof Purpose>;

export interface TreasuryState {
  /** False until the first event is seen. */
  readonly opened: boolean;
  /** The nonce that the next assignment gets; null when the window shows none. */
  readonly nextNonce: bigint | null;
  readonly paused: string | null;
  /** The latest assignments, oldest first; at least the outstanding ones. */
  readonly assigned: readonly { readonly nonce: bigint; readonly purpose: Purpose }[];
}

/** Each outstanding nonce leaves at most three events; the rest is room for two hundred pauses and resumptions among them. */
const window = 3 * outstandingMax + 402;

export const treasury: Decider<TreasuryState, TreasuryEvent> = {
  category: 'treasury',
  window,
  initial: { opened: false, nextNonce: null, paused: null, assigned: [] },
  evolve(state, event) {
    const opened = { ...state, opened: true };
    switch (event.type) {
      case 'TreasuryOpened':
        return { ...opened, nextNonce: BigInt(event.data.firstNonce) };
      case 'NonceAssigned': {
        const assignment = { nonce: BigInt(event.data.nonce), purpose: event.data.purpose };
        if (state.nextNonce !== null && assignment.nonce !== state.nextNonce) {
          throw new InvariantBroken(`nonce ${assignment.nonce} follows ${state.nextNonce - 1n}`);
        }
        return {
          ...opened,
          nextNonce: assignment.nonce + 1n,
          assigned: [...state.assigned, assignment].slice(-window),
        };
      }
      case 'NonceCancelled': {
        const cancelled = BigInt(event.data.nonce);
        return { ...opened, assigned: state.assigned.filter(({ nonce }) => nonce !== cancelled) };
      }
      case 'PayoutsPaused':
        return { ...opened, paused: event.data.reason };
      case 'PayoutsResumed':
        return { ...opened, paused: null };
      default:
        return opened;
    }
  },
};

export const treasuryInstance = (chainId: number, account: string): string => `${chainId}-${account}`;

const samePurpose = (a: Purpose, b: Purpose): boolean =>
  a.kind === b.kind && a.reference === b.reference && a.ordinal === b.ordinal;

/** The nonce that a purpose already has: a restart finishes it instead of taking another. */
export const nonceOf = (state: TreasuryState, purpose: Purpose): bigint | null =>
  state.assigned.find((assignment) => samePurpose(assignment.purpose, purpose))?.nonce ?? null;

export function openTreasury(
  state: TreasuryState,
  at: { chainId: ChainId; account: string; minedNonce: bigint; now: Instant },
): Decision<TreasuryEvent> {
  if (state.opened) return [];
  const { chainId, account, minedNonce, now } = at;
  return [{ type: 'TreasuryOpened', data: { chainId, account, firstNonce: minedNonce.toString(), openedAt: now } }];
}

/** Refuses when the chain has mined transactions of the account that the log does not know. @param minedNonce its next nonce there */
export function behindChain({ nextNonce }: TreasuryState, minedNonce: bigint): Refusal | undefined {
  if (nextNonce === null || minedNonce <= nextNonce) return undefined;
  return refuse(
    'treasuryBehindChain',
    `the chain has mined up to nonce ${minedNonce}, the log assigned up to ${nextNonce}: the key was used elsewhere or the log is an old copy; sign nothing until an operator has reconciled them`,
  );
}

export const whilePaused = ({ paused }: TreasuryState): Refusal | undefined =>
  paused === null ? undefined : refuse('treasuryPaused', `payouts are paused (${paused}): resume them first`);

/**
 * Gives the purpose the next nonce; `[]` when it has one. While the account is paused or the log behind its chain, a
 * purpose that has its nonce is refused too: nothing is signed then.
 *
 * @param purpose without a recorded signature: one that is recorded ends the purpose, and the next attempt is another purpose
 * @param minedNonce the account's next nonce as its chain has mined it; ahead of the log it means a restored backup or
 *   a key used elsewhere: then nothing may be signed, for the log does not know what was
 */
export function assignNonce(
  state: TreasuryState,
  { purpose, minedNonce, now }: { purpose: Purpose; minedNonce: bigint; now: Instant },
): Decision<TreasuryEvent> {
  const { nextNonce } = state;
  if (nextNonce === null)
    return refuse('illegalStep', 'the treasury is not open: open it with the chain’s nonce first');
  const refusal = behindChain(state, minedNonce) ?? whilePaused(state);
  if (refusal) return refusal;
  const own = nonceOf(state, purpose);
  if (own !== null && own < minedNonce) {
    return refuse(
      'treasuryBehindChain',
      `the chain has mined nonce ${own}, which the log gave to ${purpose.kind} ${purpose.reference} and knows no signature of: the log has lost its end or the key was used elsewhere; sign nothing until an operator has found that transaction`,
    );
  }
  if (own !== null) return [];
  if (nextNonce - minedNonce >= BigInt(outstandingMax)) {
    return refuse(
      'treasuryBusy',
      `${outstandingMax} transactions are under way from this account: wait for one to be mined`,
    );
  }
  return [{ type: 'NonceAssigned', data: { nonce: nextNonce.toString(), purpose, assignedAt: now } }];
}

/** For an account of a chain without nonces: may a transfer be signed now? The first one opens the account's history. */
export function allowTransfer(
  state: TreasuryState,
  at: { chainId: ChainId; account: string; now: Instant },
): Decision<TreasuryEvent> {
  return whilePaused(state) ?? openTreasury(state, { ...at, minedNonce: 0n });
}

/** Takes a nonce from a purpose that cannot use it now: a transaction that does nothing uses it up. `[]` when it was taken before. */
export const cancelNonce = (
  state: TreasuryState,
  { nonce, hash, now }: { nonce: bigint; hash: string; now: Instant },
): Decision<TreasuryEvent> =>
  state.assigned.some((assignment) => assignment.nonce === nonce)
    ? [{ type: 'NonceCancelled', data: { nonce: nonce.toString(), hash, cancelledAt: now } }]
    : [];

/** @param reason at most 400 characters, for whoever asks why */
export function pausePayouts(state: TreasuryState, reason: string, now: Instant): Decision<TreasuryEvent> {
  if (!state.opened) {
    return refuse('illegalStep', 'nothing was ever paid from here: leave the chain out of the configuration instead');
  }
  return state.paused === null ? [{ type: 'PayoutsPaused', data: { reason, pausedAt: now } }] : [];
}

export function resumePayouts(state: TreasuryState, now: Instant): Decision<TreasuryEvent> {
  return state.paused === null ? [] : [{ type: 'PayoutsResumed', data: { resumedAt: now } }];
}
