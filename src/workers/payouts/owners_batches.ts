/**
 * Batches own the one transaction that pays all their members. What a batch decides is appended to its own stream first, and to each
 * member's next; only then anything is sent.
 *
 * Crash after BatchOpened: the next worker asks the members. After some PayoutBatched: the same; who has joined stays so. After
 * BatchGathered: it is signed. After BatchSigned, or some PayoutSigned: the others get the same bytes, which nobody has sent. After
 * BatchConfirmed, BatchDied, BatchOrphaned or BatchDissolved, or some of the members' events: the others get theirs. A member that is
 * left behind, because it joined while the batch was closed without it, copies what the batch decided by itself (owners/payments.ts).
 */

import { ChainBroken } from '../../../commands/codec.ts';
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { Recorded, StillFunded, TransferOwner } from '../../../commands/outgoing.ts';
import type { Clock } from '../../../commands/ports.ts';
import { PayoutBlocked } from '../../../commands/transferPorts.ts';
import {
  type Batch,
  type BatchState,
  batchOwed,
  concludeBatch,
  dissolveBatch,
  gatherBatch,
  joinedMembers,
  noteTold,
  orphanBatch,
  payoutBatch,
  signBatch,
} from '../../../domain/batch/batch.ts';
import type { PayoutBatchEvent } from '../../../domain/batch/events.ts';
import { type Decision, isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { copyBatch, isMemberOf, joinBatch } from '../../../domain/payment/batched.ts';
import { lostFunding } from '../../../domain/payment/counting.ts';
import { payoutOwed } from '../../../domain/payment/owed.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import type { TransferKey } from '../../../domain/transfer/key.ts';
import type { Owed } from '../../../domain/transfer/owed.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** Looks once more whether the money is there that a member's payout is made from. @throws PayoutBlocked */
  readonly proveFunding: (payment: Payment, owed: Owed, signal: AbortSignal) => Promise<StillFunded>;
}

const cause = 'worker:payouts' as const;

export function batchOwner(deps: Deps): TransferOwner {
  const { handle, clock } = deps;
  /** @param about what the chain said, for whoever reads the event's cause */
  const record = ({ id }: TransferKey, about: string, decide: (state: BatchState) => Decision<PayoutBatchEvent>) =>
    handle(payoutBatch, id, decide, { cause: `${cause}${about}`, appId: null });
  return {
    async load({ id }) {
      const found = await currentState(handle, payoutBatch, id);
      if (!found) return undefined;
      const owed = batchOwed(id, found);
      const order = { ...found.leg.order, reference: owed.purpose.reference };
      return { ...owed, order, mayOutbid: true, owedSince: found.opened.openedAt };
    },
    sign: (key, attempt) => record(key, '', (state) => signBatch(state, attempt)),
    conclude: (key, outcome) => record(key, ` ${outcome.kind}`, (state) => concludeBatch(state, outcome, clock.now())),
    orphan: (key, seen) => record(key, ` orphaned ${seen.blockHash}`, (state) => orphanBatch(state, seen)),
    tell: (key) => tellMembers(deps, key),
    async cannotSign(key, why) {
      const outcome = await record(key, '', (state) => dissolveBatch(state, why.slice(0, 400), clock.now()));
      return !isRefusal(outcome) && outcome.appended > 0;
    },
    proveFunding: ({ id }, signal) => proveMembers(deps, id, signal),
  };
}

/** Asks who joins; or has every member copy what the batch decided. One after the other: a crash in between leaves the rest to whoever is next. */
async function tellMembers({ handle, clock }: Deps, { id }: TransferKey): Recorded {
  const batch = await currentState(handle, payoutBatch, id);
  if (!batch) return { appended: 0 };
  if (batch.joined === null) return gather({ handle, clock }, id, batch);
  let refusal: Refusal | undefined;
  for (const { paymentId, appId } of joinedMembers(batch)) {
    const copy = (p: PaymentState) => copyBatch(p, id, batch, clock.now());
    const copied = await handle(paymentDecider, paymentId, copy, { cause, appId }).catch(passOver);
    if (isRefusal(copied)) refusal ??= copied;
  }
  // One that does not fit stops what is sent next, and not what the others have to know.
  if (refusal) return refusal;
  return handle(payoutBatch, id, (state) => noteTold(state, batch.changes), { cause, appId: null });
}

/** On a payment that others wrote to nothing is decided: it is not paid, and those beside it do not wait for that. */
function passOver(error: unknown): Refusal {
  if (error instanceof ChainBroken) return refuse('illegalStep', error.message);
  throw error;
}

/** Who does not join is paid by himself. */
async function gather(
  { handle, clock }: Pick<Deps, 'handle' | 'clock'>,
  id: string,
  { opened }: Batch,
): Promise<{ readonly appended: number } | Refusal> {
  const joined: number[] = [];
  for (const [at, { paymentId, appId }] of opened.members.entries()) {
    const joining = { batch: id, position: at + 1, opened, now: clock.now() };
    const outcome = await handle(paymentDecider, paymentId, (p: PaymentState) => joinBatch(p, joining), {
      cause,
      appId,
    }).catch(passOver);
    if (!isRefusal(outcome)) joined.push(at + 1);
  }
  return handle(payoutBatch, id, (state) => gatherBatch(state, joined, clock.now()), { cause, appId: null });
}

/**
 * Proves the money of each member, and that its own stream names this batch, its place and what it is paid: an operator may hold the payout
 * since it joined, its money may leave its chain, and the batch's stream may be forged.
 */
async function proveMembers({ handle, proveFunding }: Deps, id: string, signal: AbortSignal): Promise<StillFunded> {
  const batch = await currentState(handle, payoutBatch, id);
  const places = batch?.joined ?? [];
  const look = () =>
    Promise.all(
      places.map(async (position) => {
        const paymentId = batch?.opened.members[position - 1]?.paymentId ?? '';
        const found = await currentState(handle, paymentDecider, paymentId).catch(passOver);
        const payment = isRefusal(found) ? null : found;
        const isMember = batch && payment && isMemberOf(payment, { batch: id, position, opened: batch.opened });
        return payable(paymentId, isMember ? payment : null);
      }),
    );
  const proven = await Promise.all((await look()).map(({ payment, owed }) => proveFunding(payment, owed, signal)));
  return async () => {
    await look();
    await Promise.all(proven.map((stillFunded) => stillFunded()));
  };
}

function payable(id: string, payment: PaymentState): { readonly payment: Payment; readonly owed: Owed } {
  const owed = payment ? payoutOwed(payment) : undefined;
  if (payment && owed && payment.payoutHeld === null && !lostFunding(payment)) return { payment, owed };
  throw new PayoutBlocked(
    'fundingUnproven',
    `payment ${id} is held, its money left its chain, it is in another batch, or others wrote to its stream: it is not paid with others`,
  );
}
