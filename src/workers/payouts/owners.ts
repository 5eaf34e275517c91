/** Payments own their payouts and their refunds. */
import { ChainBroken } from '../../../commands/codec.ts';
import { currentState, type Handle, type Loaded } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import {
  nothingToProve,
  type Outgoing,
  PayoutBlocked,
  type PayoutRail,
  type Recorded,
  type StillFunded,
  type TransferOwner,
} from '../../../commands/transferPorts.ts';
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
import type { ChainId } from '../../../domain/chains.ts';
import { type Decision, isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { owedBy, payoutOwed } from '../../../domain/payment/backing.ts';
import { copyBatch, isMemberOf, joinBatch } from '../../../domain/payment/batched.ts';
import type { PaymentEvent, Transfer } from '../../../domain/payment/events.ts';
import {
  concludePayout,
  concludeRefund,
  orphanPayout,
  orphanRefund,
  requestPayout,
  signPayout,
  signRefund,
} from '../../../domain/payment/payout.ts';
import { lostFunding } from '../../../domain/payment/sources.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import { failedAttempts, type Owed } from '../../../domain/transfer/leg.ts';
import { referenceOf, type TransferKey } from '../../../domain/transfer/shapes.ts';
import { addressBook, addressBookInstance, isUsable } from '../../../domain/treasury/addressBook.ts';
import {
  concludeOperation,
  type Operation,
  type OperationState,
  operation,
  operationOwed,
  orphanOperation,
  signOperation,
} from '../../../domain/treasury/operation.ts';
import type { OperationEvent } from '../../../domain/treasury/operationEvents.ts';
import { type UnmatchedEvent, type UnmatchedState, unmatched } from '../../../domain/unmatched.ts';
import {
  concludeUnmatchedRefund,
  orphanUnmatchedRefund,
  signUnmatchedRefund,
  unmatchedBacking,
  unmatchedRefundsOwed,
} from '../../../domain/unmatchedRefund.ts';
import { type OwedOn, takesWhatIsOwed } from './unsettledAmounts.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** Looks once more whether the money is there that a transfer of the payment is made from. @throws PayoutBlocked */
  readonly proveFunding: (payment: Payment, owed: Owed, signal: AbortSignal) => Promise<StillFunded>;
}

export function payoutOwner(deps: Deps): TransferOwner {
  const { clock, handle } = deps;
  const { load, record, proveFunding } = ofPayments(deps, 'payout');
  return {
    load,
    proveFunding,
    order: (key) => record(key, '', (p) => requestPayout(p, clock.now())),
    sign: (key, attempt) => record(key, '', (p) => signPayout(p, attempt)),
    conclude: (key, outcome) => record(key, ` ${outcome.kind}`, (p) => concludePayout(p, outcome, clock.now())),
    orphan: (key, seen) => record(key, ` orphaned ${seen.blockHash}`, (p) => orphanPayout(p, seen)),
    /** Usually its batch tells it; who joined a batch that was closed without it, or was passed over by a crash, looks for himself. */
    async tell(key) {
      const payment = await currentState(handle, paymentDecider, key.id);
      const id = payment?.batch?.id;
      const batch = id === undefined ? null : await currentState(handle, payoutBatch, id);
      if (id === undefined || !batch) return { appended: 0 };
      return record(key, ` batch ${id}`, (p) => copyBatch(p, id, batch, clock.now()));
    },
  };
}

export function refundOwner(deps: Deps): TransferOwner {
  const { clock } = deps;
  const { load, record, proveFunding } = ofPayments(deps, 'refund');
  return {
    load,
    proveFunding,
    sign: (key, attempt) => record(key, '', (p) => signRefund(p, key.part, attempt)),
    conclude: (key, outcome) =>
      record(key, ` ${outcome.kind}`, (p) => concludeRefund(p, key.part, outcome, clock.now())),
    orphan: (key, seen) => record(key, ` orphaned ${seen.blockHash}`, (p) => orphanRefund(p, key.part, seen)),
  };
}

function ofPayments({ handle, proveFunding }: Deps, kind: 'payout' | 'refund') {
  const find = async (key: TransferKey, how: Loaded) => {
    const payment = await currentState(handle, paymentDecider, key.id, how);
    const owed = payment ? owedBy(payment).find(({ purpose }) => purpose.reference === referenceOf(key)) : undefined;
    return payment && owed && { payment, owed };
  };

  return {
    async load(key: TransferKey, how: Loaded = {}): Promise<Outgoing | undefined> {
      const found = await find(key, how);
      return found ? outgoing(found.payment, found.owed) : undefined;
    },

    async proveFunding(key: TransferKey, signal: AbortSignal): Promise<StillFunded> {
      // It was just loaded.
      const found = await find(key, { asKnown: true });
      return found ? proveFunding(found.payment, found.owed, signal) : nothingToProve;
    },

    /** @param about what the chain said, for whoever reads the event's cause */
    async record(key: TransferKey, about: string, decide: (p: PaymentState) => Decision<PaymentEvent>) {
      // Whose payment it is never changes.
      const payment = await currentState(handle, paymentDecider, key.id, { asKnown: true });
      const facts = { cause: `worker:${kind}s${about}`, appId: payment?.terms.appId ?? null } as const;
      return handle(paymentDecider, key.id, decide, facts);
    },
  };
}

function outgoing(payment: Payment, owed: Owed): Outgoing {
  const { terms, funded, payoutHeld, refunds } = payment;
  const isPayout = owed.key.kind === 'payout';
  const refund = isPayout ? undefined : refunds.find((each) => each.refund === owed.key.part);
  const { opensAccount } = isPayout ? terms : (refund?.request ?? {});
  // Refunds are younger than secret references.
  const isSecret = !isPayout || terms.payoutReference === 'secret';
  return {
    ...owed,
    order: {
      ...owed.leg.order,
      reference: owed.purpose.reference,
      ...(isSecret && { referenceOrdinal: failedAttempts(owed.leg) + 1 }),
      ...(opensAccount !== undefined && { opensAccount }),
    },
    mayOutbid: !isPayout || payoutHeld === null,
    owedSince: refund?.requestedAt ?? funded?.fundedAt ?? terms.createdAt,
  };
}

// Batches own the one transaction that pays all their members. What a batch decides is appended to its own stream first, and to each
// member's next; only then anything is sent.
//
// Crash after BatchOpened: the next worker asks the members. After some PayoutBatched: the same; who has joined stays so. After
// BatchGathered: it is signed. After BatchSigned, or some PayoutSigned: the others get the same bytes, which nobody has sent. After
// BatchConfirmed, BatchDied, BatchOrphaned or BatchDissolved, or some of the members' events: the others get theirs. A member that is
// left behind, because it joined while the batch was closed without it, copies what the batch decided by itself (owners/payments.ts).

interface BatchDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** Looks once more whether the money is there that a member's payout is made from. @throws PayoutBlocked */
  readonly proveFunding: (payment: Payment, owed: Owed, signal: AbortSignal) => Promise<StillFunded>;
}

const cause = 'worker:payouts' as const;

export function batchOwner(deps: BatchDeps): TransferOwner {
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
async function tellMembers({ handle, clock }: BatchDeps, { id }: TransferKey): Recorded {
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
  { handle, clock }: Pick<BatchDeps, 'handle' | 'clock'>,
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
async function proveMembers(
  { handle, proveFunding }: BatchDeps,
  id: string,
  signal: AbortSignal,
): Promise<StillFunded> {
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

// Operations of the treasury own the one transfer that each of them is.

interface OperationDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly railOf: (chainId: ChainId) => Pick<PayoutRail, 'chainId' | 'balances' | 'transferCost'> | undefined;
  readonly owedOn: OwedOn;
}

export function operationOwner(deps: OperationDeps): TransferOwner {
  const { handle, clock } = deps;
  /** @param about what the chain said, for whoever reads the event's cause */
  const record = ({ id }: TransferKey, about: string, decide: (state: OperationState) => Decision<OperationEvent>) =>
    handle(operation, id, decide, { cause: `worker:operations${about}`, appId: null });
  return {
    async load({ id }, how = {}) {
      const found = await currentState(handle, operation, id, how);
      if (!found) return undefined;
      const owed = operationOwed(id, found);
      const { reference } = owed.purpose;
      return {
        ...owed,
        order: { ...found.leg.order, reference, referenceOrdinal: failedAttempts(found.leg) + 1 },
        mayOutbid: true,
        owedSince: found.ordered.orderedAt,
      };
    },
    sign: (key, attempt) => record(key, '', (state) => signOperation(state, attempt)),
    conclude: (key, outcome) =>
      record(key, ` ${outcome.kind}`, (state) => concludeOperation(state, outcome, clock.now())),
    orphan: (key, seen) => record(key, ` orphaned ${seen.blockHash}`, (state) => orphanOperation(state, seen)),
    proveFunding: ({ id }, signal) => proveLeaving(deps, id, signal),
  };
}

/**
 * Money leaves for an address that is still in the book, and none that payouts are owed: both may have changed since it was ordered.
 * Asked again right before the signature, the book alone: what is owed was just looked at.
 */
async function proveLeaving(deps: OperationDeps, id: string, signal: AbortSignal): Promise<StillFunded> {
  const found = await currentState(deps.handle, operation, id);
  if (!found || !['withdrawal', 'rebalance'].includes(found.ordered.kind)) return nothingToProve;
  await leavesEnough(deps, id, found, signal);
  return () => isInBook(deps, found);
}

async function leavesEnough(
  { railOf, owedOn }: OperationDeps,
  operationId: string,
  { ordered, leg }: Operation,
  signal: AbortSignal,
) {
  const rail = railOf(ordered.chainId);
  if (ordered.evenOwed || !rail) return;
  const { token, amount } = leg.order;
  const refusal = await takesWhatIsOwed({ rail, owedOn }, { token, amount, operationId }, signal);
  if (refusal)
    throw new PayoutBlocked('owed', `${refusal.message}; top it up, or call it off and order it with --even-owed`);
}

async function isInBook({ handle, clock }: OperationDeps, { ordered }: Operation): Promise<void> {
  const { chainId, receiver: address, receiverMemo } = ordered;
  const book = await currentState(handle, addressBook, addressBookInstance);
  if (isUsable(book, { chainId, address, memo: receiverMemo }, clock.now())) return;
  const message = `${address} was taken out of the address book, or added again and not usable yet: npm run treasury -- addresses, or call-off`;
  throw new PayoutBlocked('addressNotInBook', message);
}

// Money that no payment takes up owns its way back.

interface UnmatchedDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** Looks once more whether the money has come. @throws PayoutBlocked */
  readonly proveMoney: (transfers: readonly Transfer[], needed: bigint, signal: AbortSignal) => Promise<StillFunded>;
}

export function unmatchedRefundOwner({ handle, clock, proveMoney }: UnmatchedDeps): TransferOwner {
  const load = (key: TransferKey) => currentState(handle, unmatched, key.id);
  const record = (key: TransferKey, about: string, decide: (state: UnmatchedState) => Decision<UnmatchedEvent>) =>
    handle(unmatched, key.id, decide, { cause: `worker:refunds${about}`, appId: null });

  return {
    async load(key) {
      const state = await load(key);
      const owed = unmatchedRefundsOwed(state).find((each) => each.key.part === key.part);
      if (!owed || !state) return undefined;
      const { leg, purpose } = owed;
      const { verdict, seenAt } = state;
      const asked = verdict.kind === 'refundRequested' ? verdict : undefined;
      const order = {
        ...leg.order,
        reference: purpose.reference,
        referenceOrdinal: failedAttempts(leg) + 1,
        ...(asked?.opensAccount !== undefined && { opensAccount: asked.opensAccount }),
      };
      const owedSince = asked?.requestedAt ?? seenAt;
      return { ...owed, order, mayOutbid: true, owedSince };
    },
    async proveFunding(key, signal) {
      const state = await load(key);
      const order = unmatchedRefundsOwed(state).find((each) => each.key.part === key.part)?.leg.order;
      if (!order) return nothingToProve;
      const backing = unmatchedBacking(state, key.id, order);
      if (isRefusal(backing)) throw new PayoutBlocked('fundingUnproven', backing.message);
      const { transfer } = backing;
      return proveMoney([transfer], BigInt(transfer.amount), signal);
    },
    sign: (key, attempt) => record(key, '', (state) => signUnmatchedRefund(state, key.part, attempt)),
    conclude: (key, outcome) =>
      record(key, ` ${outcome.kind}`, (state) => concludeUnmatchedRefund(state, key.part, outcome, clock.now())),
    orphan: (key, seen) =>
      record(key, ` orphaned ${seen.blockHash}`, (state) => orphanUnmatchedRefund(state, key.part, seen)),
  };
}
