/** The payout leg: ordered once, signed and recorded before it is sent, settled by what the destination chain shows. */
import { type Decision, refuse } from '../decider.ts';
import { unitsText } from '../money.ts';
import type { Instant } from '../time.ts';
import { attemptsEverMax, isSpent, landedData, liveAttempts, type Settled, type Short } from '../transfer/leg.ts';
import { checkDied, checkSettle, checkShort, checkSign, fallenShort } from '../transfer/rules.ts';
import type { DeathProof, SignedAttempt } from '../transfer/shapes.ts';
import { lostFunding } from './counting.ts';
import type { PaymentEvent } from './events.ts';
import type { PaymentState } from './state.ts';

const noPayout = refuse('illegalStep', 'no payout is ordered for this payment');

export function requestPayout(p: PaymentState, now: Instant): Decision<PaymentEvent> {
  if (!p?.funded || p.closed) return refuse('illegalStep', 'only a funded payment is paid out');
  if (p.payout) return [];
  const { chainId, token, receiverAddress, receiverMemo } = p.terms.destination;
  const amount = unitsText(p.funded.payout);
  return [
    { type: 'PayoutRequested', data: { chainId, token, receiverAddress, receiverMemo, amount, requestedAt: now } },
  ];
}

/** Appended BEFORE the bytes are sent; only bytes read back from the stream are ever sent. */
export function signPayout(p: PaymentState, attempt: SignedAttempt): Decision<PaymentEvent> {
  if (!p?.payout || p.closed) return noPayout;
  if (lostFunding(p) && liveAttempts(p.payout).length === 0) {
    return refuse('illegalStep', 'the money that funded this payment left its chain: sign nothing until it is back');
  }
  if (p.payoutHeld !== null && !p.payout.attempts.some(({ signed }) => signed.hash === attempt.hash))
    return refuse('illegalStep', `an operator holds this payout (${p.payoutHeld}): npm run payouts -- retry`);
  const checked = checkSign(p.payout, attempt);
  return checked === 'ok' ? [{ type: 'PayoutSigned', data: attempt }] : checked;
}

/** One proof may end several attempts: all that share the nonce. */
export function buryPayout(p: PaymentState, attempts: readonly number[], proof: DeathProof): Decision<PaymentEvent> {
  if (!p?.payout) return noPayout;
  const events: PaymentEvent[] = [];
  for (const attempt of attempts) {
    const checked = checkDied(p.payout, attempt, proof);
    if (checked === 'ok') events.push({ type: 'PayoutDied', data: { attempt, proof } });
    else if ('refused' in checked) return checked;
  }
  return events;
}

export function confirmPayout(p: PaymentState, settled: Settled): Decision<PaymentEvent> {
  if (!p?.payout) return noPayout;
  const checked = checkSettle(p.payout, settled);
  const data = { ...landedData(settled), confirmedAt: settled.confirmedAt };
  return checked === 'ok' ? [{ type: 'PayoutConfirmed', data }] : checked;
}

/** Said only of what can leave its chain no more: nothing is paid again by itself. */
export function reportShort(p: PaymentState, short: Short): Decision<PaymentEvent> {
  if (!p?.payout) return noPayout;
  const checked = checkShort(p.payout, short);
  const data = { ...landedData(short), arrived: unitsText(short.arrived), seenAt: short.seenAt };
  return checked === 'ok' ? [{ type: 'PayoutShort', data }] : checked;
}

/** An operator's decision: the receiver has it all, whatever its own transfer brought. @param reason as for `holdPayout` */
export function acceptPayout(p: PaymentState, reason: string, now: Instant): Decision<PaymentEvent> {
  const short = p?.payout?.short;
  if (!short)
    return p?.payout?.settled
      ? []
      : refuse('illegalStep', 'no transfer of this payout fell short: there is nothing to accept');
  return [
    { type: 'PayoutAccepted', data: { reason, acceptedAt: now } },
    { type: 'PayoutConfirmed', data: { ...landedData(short), confirmedAt: now } },
  ];
}

/** A settled payout's block left the chain: its bytes are sent again. */
export function orphanPayout(p: PaymentState, seen: { hash: string; blockHash: string }): Decision<PaymentEvent> {
  const settled = p?.payout?.settled;
  if (!settled || settled.hash !== seen.hash || settled.blockHash !== seen.blockHash) return [];
  const { attempt, hash, blockHash } = settled;
  return [{ type: 'PayoutOrphaned', data: { attempt, hash, blockHash } }];
}

/**
 * An operator's decision: nothing more is signed for this payout until he has it tried again. What is signed can still land and settle it.
 * @param reason at most 400 characters, for whoever asks why
 */
export function holdPayout(p: PaymentState, reason: string, now: Instant): Decision<PaymentEvent> {
  if (!p?.funded || p.closed || p.payout?.settled) return noPayout;
  return p.payoutHeld === null ? [{ type: 'PayoutHeld', data: { reason, heldAt: now } }] : [];
}

/** An operator's decision: the payout goes on, after his hold, a hundred attempts, or a transfer that brought nothing. @param reason as for `holdPayout` */
export function retryPayout(p: PaymentState, reason: string, now: Instant): Decision<PaymentEvent> {
  if (!p?.funded || p.closed || p.payout?.settled) return noPayout;
  const spent = p.payout !== null && isSpent(p.payout);
  const short = p.payout?.short;
  if (p.payout && short && short.arrived > 0n) return fallenShort(p.payout, short);
  if (p.payoutHeld === null && !spent && !short) return [];
  if (spent && p.payout.attempts.length >= attemptsEverMax)
    return refuse('illegalStep', `${attemptsEverMax} attempts were signed: no more are allowed`);
  return [{ type: 'PayoutRetried', data: { reason, retriedAt: now } }];
}
