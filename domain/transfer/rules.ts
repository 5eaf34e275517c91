/** What may be recorded of a transfer's attempts, and why not. */
import { type Decision, type Refusal, refuse } from '../decider.ts';
import { formatAmount } from '../money.ts';
import { canLand, isSpent, liveAttempts, type Settled, type Short, type TransferLeg } from './leg.ts';
import type { DeathProof, SignedAttempt } from './shapes.ts';

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
    `${attempts.length} attempts were signed: find out why none settled it, then npm run payouts (of a refund: refunds) -- retry`,
  );

export const fallenShort = ({ order: { token, amount } }: TransferLeg, { hash, arrived }: Short): Refusal =>
  refuse(
    'illegalStep',
    `${hash} brought the receiver ${formatAmount(arrived, token.decimals)} of ${formatAmount(amount, token.decimals)} ${token.symbol}: find out why; ${
      arrived === 0n
        ? 'then npm run payouts (of a refund: refunds) -- retry, or pay it by hand and accept'
        : 'then pay the rest by hand and npm run payouts (of a refund: refunds) -- accept'
    }`,
  );

/** Why a transfer cannot be given up: something of it can land, or has. */
export function tooLateToCallOff(leg: TransferLeg): Refusal | undefined {
  if (leg.short) return fallenShort(leg, leg.short);
  const landing = leg.attempts.find(canLand);
  return landing && refuse('illegalStep', `${landing.signed.hash} is signed and can land: it cannot be called off now`);
}

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
