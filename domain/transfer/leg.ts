/**
 * One outgoing transfer and its signed attempts, whichever stream it belongs to.
 * Sign, record, then send: a second signature under another nonce needs proof that the first can never land.
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
  /** Left out for a plain transfer of a token. */
  readonly form?: Form;
}

/** Where an attempt landed, and what it cost. */
export interface Landed {
  readonly attempt: number;
  readonly hash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly cost?: Cost;
}

/** What an event holds of it. */
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

/** An attempt that landed for good, with less than was ordered. */
export interface Short extends Landed {
  /** Of the order's token, in smallest units. */
  readonly arrived: bigint;
  readonly seenAt: Instant;
}

export interface Attempt {
  readonly signed: SignedAttempt;
  /**
   * `lapsed`: it can never land and has not used up its nonce, which the next attempt takes. `short`: it landed, and less than was ordered
   * arrived.
   */
  readonly fate: 'live' | 'dead' | 'lapsed' | 'short' | 'settled';
}

export interface TransferLeg<A extends AssetRef = AssetRef> {
  readonly order: Order<A>;
  readonly attempts: readonly Attempt[];
  readonly settled: Settled | null;
  /** Nothing more is signed until an operator has decided about it. */
  readonly short: Short | null;
  /** So many attempts may be signed. */
  readonly attemptsMax: number;
  /** Whether it was ever confirmed. A confirmation that was orphaned since has been told already: the next one is not told again. */
  readonly everSettled: boolean;
}

/** Fee bumps and replacements after proven deaths, all together, until an operator allows as many again. */
export const attemptsMax = 100;
/** An operator can allow no more. */
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

/** Whether an attempt can land, or land again: a settled one may leave its chain. Only a proof makes an attempt dead. */
export const canLand = ({ fate }: Attempt): boolean => fate === 'live' || fate === 'settled';

export const liveAttempts = (leg: TransferLeg): readonly SignedAttempt[] =>
  leg.attempts.filter((attempt) => attempt.fate === 'live').map((attempt) => attempt.signed);

/**
 * The live attempts, and behind them those that are dead and had their nonce. Of two instances one may find an attempt dead while the other
 * outbids it: what then has used the nonce is known, and no stranger's.
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

/** Attempts that can never land although their time had not passed: the chain has taken them up, or an operator has said so. */
export const failedAttempts = ({ attempts }: TransferLeg): number =>
  attempts.filter(({ fate }) => fate === 'dead').length;

/** How many nonces the transfer's attempts have used up. */
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

/** An operator has decided about what arrived: it counts as all, and the attempt settles; or as nothing, and all attempts of its nonce are dead. */
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

// What the process owes a transfer now. Subscribers only interpret it.

export type TransferStep =
  /** The money is there, and the transfer is not ordered yet. */
  | { readonly do: 'order' }
  | { readonly do: 'sign' }
  /** Signed and not settled: send the recorded bytes until their fate is known. */
  | { readonly do: 'broadcast'; readonly attempts: readonly SignedAttempt[] }
  /** Nothing can land, and nothing is signed until somebody has decided, or the money is back. */
  | { readonly do: 'hold' }
  /** Other streams do not have yet what this one decided: they get it before anything else is done. */
  | { readonly do: 'tell' }
  /** It is paid with others, and what becomes of it their batch's stream decides. */
  | { readonly do: 'batched' }
  | { readonly do: 'done' };

/** Pure: same leg, same step. @param isHeld whether nothing new may be signed for it now */
export function stepOf(leg: TransferLeg, isHeld = false): TransferStep {
  if (leg.settled) return { do: 'done' };
  if (leg.short) return { do: 'hold' };
  const attempts = liveAttempts(leg);
  if (attempts.length > 0) return { do: 'broadcast', attempts };
  return isHeld ? { do: 'hold' } : { do: 'sign' };
}

// A transfer that a stream owes, as far as the stream itself knows.

export interface Owed {
  readonly key: TransferKey;
  /** What limits count it as, and what nonces and signers know it by: the key in one text (`referenceOf`). */
  readonly purpose: { readonly kind: PurposeKind; readonly reference: string };
  /** Whose limits it counts for; null for what is the treasury's own. */
  readonly appId: string | null;
  /** Of one that is not ordered yet, the leg that it will have. */
  readonly leg: TransferLeg;
  readonly step: TransferStep;
}
