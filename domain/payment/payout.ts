/** The payout leg: ordered once, recorded before it is sent, settled by the destination chain. */

import { type Batch, joinedMembers, type Member } from '../batch/batch.ts';
import { type Decision, isRefusal, type Refusal, refuse } from '../decider.ts';
import { unitsText } from '../money.ts';
import type { Instant } from '../time.ts';
import { landedData, liveAttempts, type TransferLeg } from '../transfer/leg.ts';
import { type LegOwner, legOwner } from '../transfer/owner.ts';
import * as transfer from '../transfer/record.ts';
import { tooLateToCallOff } from '../transfer/record.ts';
import type { SignedAttempt } from '../transfer/shapes.ts';
import { lostBacking } from './backing.ts';
import type { PaymentEvent } from './events.ts';
import { lostFunding } from './sources.ts';
import type { Payment, PaymentState, Refund } from './state.ts';

const noPayout = refuse('illegalStep', 'no payout is ordered for this payment');

/** A payout in a batch has only the batch's attempts. */
const ofBatch = ({ id }: { readonly id: string }) =>
  refuse('illegalStep', `this payout is paid with others: what becomes of batch ${id} becomes of it`);

export function requestPayout(p: PaymentState, now: Instant): Decision<PaymentEvent> {
  if (!p?.funded || p.closed) return refuse('illegalStep', 'only a funded payment is paid out');
  if (p.payout) return [];
  const { chainId, token, receiverAddress, receiverMemo } = p.terms.destination;
  const amount = unitsText(p.funded.payout);
  return [
    { type: 'PayoutRequested', data: { chainId, token, receiverAddress, receiverMemo, amount, requestedAt: now } },
  ];
}

const legVerbs = legOwner({
  prefix: 'Payout',
  legOf(p: PaymentState, _, verb) {
    const { payout = null, batch = null, closed = false } = p ?? {};
    if (verb === 'orphan') return batch ? null : payout;
    if (verb === 'sign' && (!payout || closed)) return noPayout;
    const isCopied = verb !== 'accept' && verb !== 'retry';
    return batch && isCopied ? ofBatch(batch) : (payout ?? noPayout);
  },
  guard(p, _, attempt) {
    if (!p?.payout) return noPayout;
    if (lostFunding(p) && liveAttempts(p.payout).length === 0)
      return refuse('illegalStep', 'the money that funded this payment left its chain: sign nothing until it is back');
    return p.payoutHeld !== null && !p.payout.attempts.some(({ signed }) => signed.hash === attempt.hash)
      ? refuse('illegalStep', `an operator holds this payout (${p.payoutHeld}): npm run payouts -- retry`)
      : undefined;
  },
});

export const payoutLeg: LegOwner<PaymentState, PaymentEvent> = {
  ...legVerbs,
  /** Resumes the payout, also after a hold. */
  retry(p, part, reason, now) {
    if (!p?.funded || p.closed || p.payout?.settled) return noPayout;
    const retried = p.payout ? legVerbs.retry(p, part, reason, now) : [];
    if (isRefusal(retried) || retried.length > 0 || p.payoutHeld === null) return retried;
    return [{ type: 'PayoutRetried', data: { reason, retriedAt: now } }];
  },
};

/**
 * Operator's decision: nothing more is signed for this payout until the operator retries it. Signed bytes can still land and settle it.
 * @param reason at most 400 characters, for merchants and support
 */
export function holdPayout(p: PaymentState, reason: string, now: Instant): Decision<PaymentEvent> {
  if (!p?.funded || p.closed || p.payout?.settled) return noPayout;
  return p.payoutHeld === null ? [{ type: 'PayoutHeld', data: { reason, heldAt: now } }] : [];
}

// Ordered refunds: recorded before they are sent, settled by their chain.

const noRefund = refuse('illegalStep', 'no such refund is ordered for this payment');

const refundOf = (p: PaymentState, refund: number): Refund | undefined =>
  p?.refunds.find((leg) => leg.refund === refund);

export const refundLeg: LegOwner<PaymentState, PaymentEvent> = legOwner({
  prefix: 'Refund',
  legOf: (p: PaymentState, refund) => refundOf(p, refund) ?? noRefund,
  guard(p, refund) {
    const leg = refundOf(p, refund);
    if (leg && leg.calledOff !== null)
      return refuse('illegalStep', `this refund was called off (${leg.calledOff}): sign nothing for it`);
    return p && leg && liveAttempts(leg).length === 0 && lostBacking(p, leg)
      ? refuse('illegalStep', 'the money that is to go back left its chain: sign nothing until it is back')
      : undefined;
  },
  extra: (_, refund) => ({ refund }),
});

/**
 * Operator's decision not to send a refund, for example because its address cannot receive the token. Its money is held again. Refused
 * while a signed attempt can land.
 * @param reason at most 400 characters, for merchants and support
 */
export function callOffRefund(p: PaymentState, refund: number, reason: string, now: Instant): Decision<PaymentEvent> {
  const leg = refundOf(p, refund);
  if (!leg) return noRefund;
  if (leg.calledOff !== null) return [];
  return tooLateToCallOff(leg) ?? [{ type: 'RefundCalledOff', data: { refund, reason, calledOffAt: now } }];
}

// A payout that a batch pays. After `PayoutBatched` the payment signs nothing alone; it copies the decisions of its
// batch's stream until the batch releases it. Any process can copy at any time, repeatedly: the copy follows from the
// two states alone.

/** True if the payout may join a batch: nothing was ever signed for it, nothing blocks it, and it was in no batch before. */
export function mayJoin(p: PaymentState): p is Payment {
  if (!p?.funded || p.closed || p.batch || p.wasBatched || p.payoutHeld !== null || lostFunding(p)) return false;
  return p.terms.destination.receiverMemo === null && (p.payout?.attempts.length ?? 0) === 0;
}

/** Entry of a payment in a batch's first event. */
export const asMember = ({ terms, funded }: Payment): Member => ({
  paymentId: terms.paymentId,
  appId: terms.appId,
  receiver: terms.destination.receiverAddress,
  amount: (funded?.payout ?? 0n).toString(),
});

export interface Joining {
  /** Batch id, and the payment's position among its members, from 1. */
  readonly batch: string;
  readonly position: number;
  readonly opened: Batch['opened'];
  readonly now: Instant;
}

/** True if the batch pays at this position exactly what the payment owes. */
export function paysAsOwed(p: Payment, { opened, position }: Pick<Joining, 'opened' | 'position'>): boolean {
  const { chainId, token } = p.terms.destination;
  const [own, member] = [asMember(p), opened.members[position - 1]];
  return (
    opened.chainId === chainId &&
    opened.token.address === token.address &&
    opened.token.decimals === token.decimals &&
    member?.paymentId === own.paymentId &&
    member.appId === own.appId &&
    member.receiver === own.receiver &&
    member.amount === own.amount
  );
}

/** True if the payment's own stream names this batch, and the batch pays what the payment owes. */
export const isMemberOf = (p: Payment, { batch, position, opened }: Omit<Joining, 'now'>): boolean =>
  p.batch?.id === batch && p.batch.position === position && paysAsOwed(p, { opened, position });

/** Leaves the payout to the batch; `[]` if it has joined. Refused if the batch would pay another receiver or amount. */
export function joinBatch(p: PaymentState, { batch, position, opened, now }: Joining): Decision<PaymentEvent> {
  if (p?.batch?.id === batch) return [];
  if (!mayJoin(p)) return refuse('illegalStep', 'this payout is not to be paid with others');
  if (!paysAsOwed(p, { opened, position }))
    return refuse('illegalStep', 'the batch would pay something else than this payout');
  const requested = requestPayout(p, now);
  if (isRefusal(requested)) return requested;
  return [...requested, { type: 'PayoutBatched', data: { batch, position, batchedAt: now } }];
}

/** Copies the batch's decisions; `[]` if the payment has them all, or is not in that batch. */
export function copyBatch(p: PaymentState, id: string, batch: Batch, now: Instant): Decision<PaymentEvent> {
  if (p?.batch?.id !== id || !p.payout || batch.joined === null) return [];
  const at = batch.joined.indexOf(p.batch.position);
  const release = (reason: string): PaymentEvent => ({
    type: 'PayoutReleased',
    data: { batch: id, reason, releasedAt: now },
  });
  if (at < 0) return [release('the batch was closed without it')];
  const copying = createCopy(p.payout);
  copySignatures(copying, batch, at);
  copyDeaths(copying, batch);
  copyLanding(copying, batch, at, now);
  const copied = copying.events();
  if (isRefusal(copied)) return copied;
  const events = transfer.prefixed('Payout', copied, {});
  if (isRefusal(events)) return events;
  if (batch.dissolved !== null) return [...events, release(batch.dissolved)];
  // An underpaid member needs an operator's decision, who may have it paid alone.
  return copying.leg().short ? [...events, release('it landed, and too little arrived')] : events;
}

type Copy = ReturnType<typeof createCopy>;

/** Leg of the payment while it catches up, with the copied events. Stops at the first refusal. */
function createCopy(from: TransferLeg) {
  let leg = from;
  let events: readonly transfer.LegEvent[] | Refusal = [];
  return {
    leg: () => leg,
    events: (): Decision<transfer.LegEvent> => events,
    take(decide: (now: TransferLeg) => Decision<transfer.LegEvent>): void {
      if (isRefusal(events)) return;
      const decided = decide(leg);
      if (isRefusal(decided)) events = decided;
      else {
        leg = decided.reduce(transfer.evolveLeg, leg);
        events = [...events, ...decided];
      }
    },
  };
}

const attemptOf = (leg: TransferLeg, hash: string): number | undefined =>
  leg.attempts.find(({ signed }) => signed.hash === hash)?.signed.attempt;

/**
 * Copies the same bytes and nonce with this payment's receiver and amount. Attempts that died before the members had them were never sent.
 */
function copySignatures(copying: Copy, batch: Batch, at: number): void {
  const members = joinedMembers(batch);
  const member = members[at];
  if (!member) return;
  const { receiver, amount } = member;
  for (const { signed, fate } of batch.leg.attempts) {
    if (fate === 'dead' || attemptOf(copying.leg(), signed.hash) !== undefined) continue;
    copying.take((leg) => {
      const fee = { ...signed.fee, ...shareOfGas(signed, members.length) };
      return transfer.sign(leg, { ...signed, fee, attempt: leg.attempts.length + 1, receiver, amount });
    });
  }
}

/** Divides the fee caps, so the members' caps add up to the transaction's. */
const shareOfGas = ({ fee }: SignedAttempt, count: number): { readonly gas?: string } =>
  fee['gas'] === undefined ? {} : { gas: ((BigInt(fee['gas']) + BigInt(count) - 1n) / BigInt(count)).toString() };

/** An orphaned block is copied first: a settled attempt cannot be dead. */
function copyDeaths(copying: Copy, { leg, proofs }: Batch): void {
  const { settled } = copying.leg();
  if (settled && !leg.short && leg.settled?.blockHash !== settled.blockHash)
    copying.take((own) => transfer.orphan(own, settled));
  for (const { signed } of leg.attempts) {
    const proof = proofs.get(signed.attempt);
    const attempt = attemptOf(copying.leg(), signed.hash);
    if (proof && attempt !== undefined) copying.take((own) => transfer.bury(own, [attempt], proof));
  }
}

function copyLanding(copying: Copy, { leg, brought }: Batch, at: number, now: Instant): void {
  const landed = leg.settled ?? leg.short;
  if (!landed || copying.leg().settled || copying.leg().short) return;
  const attempt = attemptOf(copying.leg(), landed.hash);
  if (attempt === undefined) return;
  // Each member's event holds the transaction's cost; the books count it once, by hash.
  const own = { ...landedData(landed), attempt };
  const arrived = leg.short ? (brought?.[at] ?? 0n) : copying.leg().order.amount;
  copying.take((member) =>
    arrived >= member.order.amount
      ? transfer.confirm(member, { ...own, confirmedAt: leg.settled?.confirmedAt ?? now })
      : transfer.reportShort(member, { ...own, arrived, seenAt: leg.short?.seenAt ?? now }),
  );
}
