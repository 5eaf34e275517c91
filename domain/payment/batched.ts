/**
 * A payout that is paid with others. From `PayoutBatched` on the payment signs nothing by itself; what its batch's stream decided it copies,
 * until that lets it go. A copy can be made at any time, by anybody, and again: it follows from the two states alone.
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

/** Whether it may be paid with others: nothing was ever signed for it, nothing stands in its way, and it was in no batch before. */
export function mayJoin(p: PaymentState): p is Payment {
  if (!p?.funded || p.closed || p.batch || p.wasBatched || p.payoutHeld !== null || lostFunding(p)) return false;
  return p.terms.destination.receiverMemo === null && (p.payout?.attempts.length ?? 0) === 0;
}

/** What a payment says of itself in a batch's first event. */
export const asMember = ({ terms, funded }: Payment): Member => ({
  paymentId: terms.paymentId,
  appId: terms.appId,
  receiver: terms.destination.receiverAddress,
  amount: (funded?.payout ?? 0n).toString(),
});

export interface Joining {
  /** The batch's id, and the payment's place among its members, from 1. */
  readonly batch: string;
  readonly position: number;
  readonly opened: Batch['opened'];
  readonly now: Instant;
}

/** Whether the batch pays at this place just what the payment owes. */
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

/** Whether the payment's own stream says that this batch pays it, and the batch pays what it owes. */
export const isMemberOf = (p: Payment, { batch, position, opened }: Omit<Joining, 'now'>): boolean =>
  p.batch?.id === batch && p.batch.position === position && paysAsOwed(p, { opened, position });

/** Leaves the payout to the batch; `[]` when it is in it. Refused for what the batch would pay to somebody else, or otherwise. */
export function joinBatch(p: PaymentState, { batch, position, opened, now }: Joining): Decision<PaymentEvent> {
  if (p?.batch?.id === batch) return [];
  if (!mayJoin(p)) return refuse('illegalStep', 'this payout is not to be paid with others');
  if (!paysAsOwed(p, { opened, position }))
    return refuse('illegalStep', 'the batch would pay something else than this payout');
  const requested = requestPayout(p, now);
  if (isRefusal(requested)) return requested;
  return [...requested, { type: 'PayoutBatched', data: { batch, position, batchedAt: now } }];
}

/** Copies what the batch decided; `[]` when the payment has all of it, or is not in that batch. */
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
  // What brought it too little is for an operator to decide, who may have it paid by itself.
  return copying.leg().short ? [...events, release('it landed, and too little arrived')] : events;
}

type Copy = ReturnType<typeof createCopy>;

/** The payment's leg while it catches up, with the events of that; after a refusal nothing more. */
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

/** The same bytes and the same nonce, for this payment's own receiver and amount. What died before it was told was never sent. */
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

/** So that what all of them may cost together is what the transaction may cost. */
const shareOfGas = ({ fee }: SignedAttempt, count: number): { readonly gas?: string } =>
  fee['gas'] === undefined ? {} : { gas: ((BigInt(fee['gas']) + BigInt(count) - 1n) / BigInt(count)).toString() };

/** A block that left comes first: what is settled can not have died. */
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
  // What the transaction cost stands in each of them: the books count it once, by its hash.
  const own = { ...landedData(landed), attempt };
  const arrived = leg.short ? (brought?.[at] ?? 0n) : copying.leg().order.amount;
  copying.take((member) =>
    arrived >= member.order.amount
      ? transfer.confirm(member, { ...own, confirmedAt: leg.settled?.confirmedAt ?? now })
      : transfer.reportShort(member, { ...own, arrived, seenAt: leg.short?.seenAt ?? now }),
  );
}
