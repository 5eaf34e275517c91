/**
 * A payout that a batch pays. After `PayoutBatched` the payment signs nothing alone; it copies the decisions of its batch's stream until
 * the batch releases it. Any process can copy at any time, repeatedly: the copy follows from the two states alone.
 */
import { type Batch, joinedMembers } from '../batch/batch.ts';
import type { Member } from '../batch/events.ts';
import { type Decision, isRefusal, type Refusal, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import { landedData, type TransferLeg } from '../transfer/leg.ts';
import * as transfer from '../transfer/record.ts';
import type { SignedAttempt } from '../transfer/shapes.ts';
import type { PaymentEvent } from './events.ts';
import { requestPayout } from './payout.ts';
import { lostFunding } from './sources.ts';
import type { Payment, PaymentState } from './state.ts';

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
