/**
 * One outgoing transfer and its signed attempts, in any stream. Sign, record, then send: a second signature under another nonce needs proof
 * that the first can never land.
 */
import type { ChainId } from '../chains.ts';
import type { Instant } from '../time.ts';
import type { AssetRef, Cost, DeathProof, Form, PurposeKind, SignedAttempt, TransferKey } from './shapes.ts';

export interface Order<A extends AssetRef = AssetRef> {
  readonly chainId: ChainId;
  readonly token: A;
  readonly receiver: string;
  readonly receiverMemo: string | null;
  /** In smallest units. */
  readonly amount: bigint;
  /** Default: a plain transfer of a token. */
  readonly form?: Form;
}

/** Block of a landed attempt, and its cost. */
export interface Landed {
  readonly attempt: number;
  readonly hash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly cost?: Cost;
}

/** Event data of a landed attempt. */
export const landedData = ({ attempt, hash, blockNumber, blockHash, cost }: Landed): Landed => ({
  attempt,
  hash,
  blockNumber,
  blockHash,
  ...(cost && { cost }),
});

export interface Settled extends Landed {
  readonly confirmedAt: Instant;
}

/** An attempt that is final with less than was ordered. */
export interface Short extends Landed {
  /** Amount that arrived, in smallest units of the order's token. */
  readonly arrived: bigint;
  readonly seenAt: Instant;
}

export interface Attempt {
  readonly signed: SignedAttempt;
  /**
   * `lapsed`: it can never land and has not used up its nonce, which the next attempt uses. `short`: it landed, and less than was ordered
   * arrived.
   */
  readonly fate: 'live' | 'dead' | 'lapsed' | 'short' | 'settled';
}

export interface TransferLeg<A extends AssetRef = AssetRef> {
  readonly order: Order<A>;
  readonly attempts: readonly Attempt[];
  readonly settled: Settled | null;
  /** Nothing more is signed until an operator decides. */
  readonly short: Short | null;
  /** Maximum attempts. */
  readonly attemptsMax: number;
  /** True if it was ever confirmed. A new confirmation after an orphaned one is not reported again. */
  readonly everSettled: boolean;
}

/** Maximum fee bumps and replacements after proven deaths, until an operator allows as many again. */
export const attemptsMax = 100;
/** Upper bound of what an operator can allow. */
export const attemptsEverMax = 1_000;

export const newLeg = <A extends AssetRef>(order: Order<A>): TransferLeg<A> => ({
  order,
  attempts: [],
  settled: null,
  short: null,
  attemptsMax,
  everSettled: false,
});

export const isSpent = (leg: TransferLeg): boolean => leg.attempts.length >= leg.attemptsMax;

export const withMoreAttempts = <L extends TransferLeg>(leg: L): L => ({
  ...leg,
  attemptsMax: Math.max(leg.attemptsMax, Math.min(leg.attempts.length + attemptsMax, attemptsEverMax)),
});

/** True if an attempt can land, or land again: a settled one may leave its chain. Only a proof makes an attempt dead. */
export const canLand = ({ fate }: Attempt): boolean => fate === 'live' || fate === 'settled';

export const liveAttempts = (leg: TransferLeg): readonly SignedAttempt[] =>
  leg.attempts.filter((attempt) => attempt.fate === 'live').map((attempt) => attempt.signed);

/**
 * Live attempts of a transfer whose outcome is unknown. Beside an attempt that landed, those with its nonce stay live, because it may leave
 * its chain again; until then nothing waits for them.
 */
export const pendingAttempts = (leg: TransferLeg): readonly SignedAttempt[] =>
  leg.settled || leg.short ? [] : liveAttempts(leg);

/**
 * Live attempts, then dead ones that had the same nonce. One instance may find an attempt dead while another outbids it: then a known
 * transaction used the nonce, and no stranger's.
 */
export function contenders(leg: TransferLeg): readonly SignedAttempt[] {
  const live = liveAttempts(leg);
  const isBeside = ({ nonce, account }: SignedAttempt) =>
    nonce !== null && live.some((each) => each.nonce === nonce && each.account === account);
  const dead = leg.attempts.filter(({ fate, signed: own }) => fate === 'dead' && isBeside(own));
  return [...live, ...dead.map(({ signed: own }) => own)];
}

const withFate = (leg: TransferLeg, attempt: number, fate: Attempt['fate']): readonly Attempt[] =>
  leg.attempts.map((known) => (known.signed.attempt === attempt ? { ...known, fate } : known));

export const signed = <L extends TransferLeg>(leg: L, attempt: SignedAttempt): L => ({
  ...leg,
  attempts: [...leg.attempts, { signed: attempt, fate: 'live' }],
});

export const died = <L extends TransferLeg>(leg: L, attempt: number, { reason }: DeathProof): L => ({
  ...leg,
  attempts: withFate(leg, attempt, reason === 'validityPassed' ? 'lapsed' : 'dead'),
});

/** The attempt landed and only prepared the transfer, such as by opening an account. It can not land again. */
export const prepared = <L extends TransferLeg>(leg: L, attempt: number): L => ({
  ...leg,
  attempts: withFate(leg, attempt, 'lapsed'),
});

/** Attempts that failed before their validity ended: the chain included them, or an operator declared them dead. */
export const failedAttempts = ({ attempts }: TransferLeg): number =>
  attempts.filter(({ fate }) => fate === 'dead').length;

/** Number of nonces that the transfer's attempts have used up. */
export const noncesUsedUp = (leg: TransferLeg): number =>
  new Set(leg.attempts.filter(({ fate }) => fate !== 'lapsed').map(({ signed }) => `${signed.account} ${signed.nonce}`))
    .size;

export const settle = <L extends TransferLeg>(leg: L, settled: Settled): L => ({
  ...leg,
  settled,
  everSettled: true,
  attempts: withFate(leg, settled.attempt, 'settled'),
});

export const fellShort = <L extends TransferLeg>(leg: L, short: Short): L => ({
  ...leg,
  short,
  attempts: withFate(leg, short.attempt, 'short'),
});

/** An operator's decision about a short payout: it counts in full and settles, or as nothing, and all attempts of its nonce are dead. */
export const decidedShort = <L extends TransferLeg>(leg: L, counts: 'as all' | 'as nothing'): L => {
  if (!leg.short) return leg;
  const fate = counts === 'as all' ? 'live' : 'dead';
  const attempts = leg.attempts.map((known) =>
    known.fate === 'short' || known.fate === 'live' ? ({ ...known, fate } as const) : known,
  );
  return { ...leg, short: null, attempts };
};

export const unsettle = <L extends TransferLeg>(leg: L): L =>
  leg.settled ? { ...leg, settled: null, attempts: withFate(leg, leg.settled.attempt, 'live') } : leg;

// Next step that the process owes a transfer. Workers only execute it.

export type TransferStep =
  /** The money is available, and the transfer is not ordered yet. */
  | { readonly do: 'order' }
  | { readonly do: 'sign' }
  /** Signed and not settled: send the recorded bytes until their fate is known. */
  | { readonly do: 'broadcast'; readonly attempts: readonly SignedAttempt[] }
  /** Nothing can land. Nothing is signed until an operator decides, or the money returns. */
  | { readonly do: 'hold' }
  /** Other streams lack a decision of this one: they receive it before the next step. */
  | { readonly do: 'tell' }
  /** A batch pays it and decides its outcome. */
  | { readonly do: 'batched' }
  | { readonly do: 'done' };

/** Pure: an equal leg gives an equal step. @param isHeld true if nothing new may be signed now */
export function stepOf(leg: TransferLeg, isHeld = false): TransferStep {
  if (leg.settled) return { do: 'done' };
  if (leg.short) return { do: 'hold' };
  const attempts = pendingAttempts(leg);
  if (attempts.length > 0) return { do: 'broadcast', attempts };
  return isHeld ? { do: 'hold' } : { do: 'sign' };
}

// A transfer that a stream owes, as far as the stream itself knows.

export interface Owed {
  readonly key: TransferKey;
  /** Kind for limits, and the key as one text (`referenceOf`) for nonces and signers. */
  readonly purpose: { readonly kind: PurposeKind; readonly reference: string };
  /** App whose limits it counts against; null for the treasury's own. */
  readonly appId: string | null;
  /** Leg of the transfer. Before the order: the leg that it will have. */
  readonly leg: TransferLeg;
  readonly step: TransferStep;
}
