/**
 * One transfer that we owe (a payout or a refund) and its signed attempts.
 * Sign, record, then send: a second signature under another nonce needs proof that the first can never land.
 */
import type { ChainId } from '../chains.ts';
import { type Decision, type Refusal, refuse } from '../decider.ts';
import { formatAmount } from '../money.ts';
import type { Instant } from '../time.ts';
import type { DeathProof, SignedAttempt, TokenRef } from './events.ts';

export interface Order {
  readonly chainId: ChainId;
  readonly token: TokenRef;
  readonly receiver: string;
  readonly receiverMemo: string | null;
  readonly amount: bigint;
}

/** Where an attempt landed. */
interface Landed {
  readonly attempt: number;
  readonly hash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
}

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

export interface TransferLeg {
  readonly order: Order;
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

export const newLeg = (order: Order): TransferLeg => ({
  order,
  attempts: [],
  settled: null,
  short: null,
  attemptsMax,
  everSettled: false,
});

export const isSpent = (leg: TransferLeg): boolean => leg.attempts.length >= leg.attemptsMax;

export const withMoreAttempts = (leg: TransferLeg): TransferLeg => ({
  ...leg,
  attemptsMax: Math.max(leg.attemptsMax, Math.min(leg.attempts.length + attemptsMax, attemptsEverMax)),
});

/** Whether an attempt can land, or land again: a settled one may leave its chain. Only a proof makes an attempt dead. */
export const canLand = ({ fate }: Attempt): boolean => fate === 'live' || fate === 'settled';

export const liveAttempts = (leg: TransferLeg): readonly SignedAttempt[] =>
  leg.attempts.filter((attempt) => attempt.fate === 'live').map((attempt) => attempt.signed);

const withFate = (leg: TransferLeg, attempt: number, fate: Attempt['fate']): readonly Attempt[] =>
  leg.attempts.map((known) => (known.signed.attempt === attempt ? { ...known, fate } : known));

export const signed = (leg: TransferLeg, attempt: SignedAttempt): TransferLeg => ({
  ...leg,
  attempts: [...leg.attempts, { signed: attempt, fate: 'live' }],
});

export const died = (leg: TransferLeg, attempt: number, { reason }: DeathProof): TransferLeg => ({
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

export const settle = (leg: TransferLeg, settled: Settled): TransferLeg => ({
  ...leg,
  settled,
  everSettled: true,
  attempts: withFate(leg, settled.attempt, 'settled'),
});

export const fellShort = (leg: TransferLeg, short: Short): TransferLeg => ({
  ...leg,
  short,
  attempts: withFate(leg, short.attempt, 'short'),
});

/** An operator has decided about what arrived: it counts as all, and the attempt settles; or as nothing, and all attempts of its nonce are dead. */
export const decidedShort = (leg: TransferLeg, counts: 'as all' | 'as nothing'): TransferLeg => {
  if (!leg.short) return leg;
  const fate = counts === 'as all' ? 'live' : 'dead';
  const attempts = leg.attempts.map((known) =>
    known.fate === 'short' || known.fate === 'live' ? ({ ...known, fate } as const) : known,
  );
  return { ...leg, short: null, attempts };
};

export const unsettle = (leg: TransferLeg): TransferLeg =>
  leg.settled ? { ...leg, settled: null, attempts: withFate(leg, leg.settled.attempt, 'live') } : leg;

/**
 * May this attempt be added? The first, or one after all others are provably dead, or a fee bump of the live one:
 * same nonce, receiver and amount, every fee cap higher. Identical bytes are "already done".
 */
export function checkSign(leg: TransferLeg, attempt: SignedAttempt): Decision<never> | 'ok' {
  const { order } = leg;
  if (leg.attempts.some((known) => known.signed.hash === attempt.hash)) return [];
  if (leg.settled) return refuse('illegalStep', 'the transfer is settled: nothing more may be signed for it');
  if (leg.short) return fallenShort(leg, leg.short);
  if (isSpent(leg)) return attemptsSpent(leg);
  if (attempt.attempt !== leg.attempts.length + 1) {
    return refuse(
      'illegalStep',
      `attempt ${leg.attempts.length + 1} is next, not ${attempt.attempt}: read the stream again`,
    );
  }
  if (
    attempt.chainId !== order.chainId ||
    attempt.token.address !== order.token.address ||
    attempt.receiver !== order.receiver ||
    attempt.receiverMemo !== order.receiverMemo ||
    attempt.amount !== order.amount.toString()
  ) {
    return refuse('illegalStep', 'the signed transfer is not the one that was ordered');
  }
  const live = liveAttempts(leg).at(-1);
  if (live)
    return replaces(live, attempt)
      ? 'ok'
      : refuse('illegalStep', `attempt ${live.attempt} can still land: only a fee bump of it may be signed`);
  const reused = leg.attempts.some(
    ({ signed: dead, fate }) =>
      fate !== 'lapsed' && dead.nonce !== null && dead.nonce === attempt.nonce && dead.account === attempt.account,
  );
  return reused ? refuse('illegalStep', `nonce ${attempt.nonce} is used up: assign the next`) : 'ok';
}

export const attemptsSpent = ({ attempts }: TransferLeg): Refusal =>
  refuse(
    'attemptsSpent',
    `${attempts.length} attempts were signed: find out why none settled it, then npm run payouts -- retry`,
  );

export const fallenShort = ({ order: { token, amount } }: TransferLeg, { hash, arrived }: Short): Refusal =>
  refuse(
    'illegalStep',
    `${hash} brought the receiver ${formatAmount(arrived, token.decimals)} of ${formatAmount(amount, token.decimals)} ${token.symbol}: find out why; ${
      arrived === 0n
        ? 'then npm run payouts -- retry, or pay it by hand and accept'
        : 'then pay the rest by hand and npm run payouts -- accept'
    }`,
  );

/** A fee bump can at most land instead of what it replaces, never besides. */
function replaces(live: SignedAttempt, bump: SignedAttempt): boolean {
  const caps = Object.entries(live.fee).filter(([name]) => name.startsWith('max'));
  return (
    live.nonce !== null &&
    bump.nonce === live.nonce &&
    bump.account === live.account &&
    caps.length > 0 &&
    caps.every(([name, cap]) => BigInt(bump.fee[name] ?? '0') > BigInt(cap))
  );
}

export function checkDied(leg: TransferLeg, attempt: number, proof: DeathProof): Decision<never> | 'ok' {
  const known = leg.attempts.find((candidate) => candidate.signed.attempt === attempt);
  if (!known) return refuse('illegalStep', `attempt ${attempt} was never signed`);
  if (!canLand(known)) return [];
  if (known.fate === 'settled') {
    return refuse(
      'illegalStep',
      `attempt ${attempt} is settled, so it cannot have died (${proof.reason}): an operator must look at it`,
    );
  }
  return 'ok';
}

export function checkSettle(leg: TransferLeg, settled: Settled): Decision<never> | 'ok' {
  if (leg.settled?.hash === settled.hash) return [];
  if (leg.settled) return refuse('illegalStep', `attempt ${leg.settled.attempt} already settled this transfer`);
  if (leg.short) return fallenShort(leg, leg.short);
  const known = leg.attempts.find((candidate) => candidate.signed.attempt === settled.attempt);
  if (known?.signed.hash !== settled.hash) return refuse('illegalStep', `attempt ${settled.attempt} has another hash`);
  if (!canLand(known))
    return refuse('illegalStep', `attempt ${settled.attempt} was proven dead: an operator must look at it`);
  return 'ok';
}

export function checkShort(leg: TransferLeg, short: Short): Decision<never> | 'ok' {
  if (leg.short?.hash === short.hash) return [];
  if (short.arrived >= leg.order.amount) return refuse('illegalStep', 'all that was ordered arrived: it is settled');
  return checkSettle(leg, { ...short, confirmedAt: short.seenAt });
}
