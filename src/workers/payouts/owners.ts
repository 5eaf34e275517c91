/** The streams that owe transfers: payments their payouts and refunds, unmatched money its refunds, operations and batches one transfer each. */
import { ChainBroken } from '../../../commands/codec.ts';
import { currentState, type Handle } from '../../../commands/handle.ts';
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
  batchLeg,
  batchOwed,
  dissolveBatch,
  gatherBatch,
  joinedMembers,
  noteTold,
  payoutBatch,
} from '../../../domain/batch/batch.ts';
import type { ChainId } from '../../../domain/chains.ts';
import {
  assert,
  type Decider,
  type Decision,
  type DomainEvent,
  isRefusal,
  type Refusal,
  refuse,
} from '../../../domain/decider.ts';
import { owedBy, payoutOwed } from '../../../domain/payment/backing.ts';
import { copyBatch, isMemberOf, joinBatch } from '../../../domain/payment/batched.ts';
import type { PaymentEvent, Transfer } from '../../../domain/payment/events.ts';
import { payoutLeg, refundLeg, requestPayout } from '../../../domain/payment/payout.ts';
import { lostFunding } from '../../../domain/payment/sources.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import { burnPart, rebalance, rebalanceLegs, rebalanceOwed } from '../../../domain/rebalance/rebalance.ts';
import { failedAttempts, type Owed } from '../../../domain/transfer/leg.ts';
import type { ChainLegOwner } from '../../../domain/transfer/owner.ts';
import { referenceOf, type TransferKey } from '../../../domain/transfer/shapes.ts';
import { addressBook, addressBookInstance, isUsable } from '../../../domain/treasury/addressBook.ts';
import { type Operation, operation, operationLeg, operationOwed } from '../../../domain/treasury/operation.ts';
import { type UnmatchedState, unmatched } from '../../../domain/unmatched.ts';
import { unmatchedBacking, unmatchedRefundLeg, unmatchedRefundsOwed } from '../../../domain/unmatchedRefund.ts';
import { type OwedOn, takesWhatIsOwed } from './unsettledAmounts.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
}

/** What the owner has to know of one kind of streams. */
interface Stream<S, E extends DomainEvent> {
  readonly decider: Decider<S, E>;
  readonly leg: ChainLegOwner<S, E>;
  /** The worker that its events name as their cause. */
  readonly cause: 'worker:payouts' | 'worker:refunds' | 'worker:operations' | 'worker:rebalances';
  /** Whether a loader may have the state that this process knows. Default: the stream is read each time. */
  readonly mayBeKnown?: boolean;
  owed(state: S, key: TransferKey): Owed | undefined;
  /** Only called with a state that owes the transfer. */
  terms(state: S, owed: Owed): Terms;
  /** App whose stream it is. Default: none. */
  appIdOf?(state: S): string | null;
}

interface Terms extends Pick<Outgoing, 'owedSince'>, Partial<Pick<Outgoing, 'mayOutbid'>> {
  readonly opensAccount?: boolean | undefined;
  /** False where the reference on the chain is the public one, or there is none. */
  readonly isSecret: boolean;
}

interface StreamOwner<S, E> extends TransferOwner {
  /** @param about what the chain said, for whoever reads the event's cause */
  record(key: TransferKey, about: string, decide: (state: S) => Decision<E>): Recorded;
}

/** The one owner of transfers: what it appends, and when, is the same for every kind of streams. */
function streamOwner<S, E extends DomainEvent>({ handle, clock }: Deps, stream: Stream<S, E>): StreamOwner<S, E> {
  const { decider, leg, cause, mayBeKnown = false, appIdOf } = stream;

  async function record(key: TransferKey, about: string, decide: (state: S) => Decision<E>): Recorded {
    // Whose stream it is never changes.
    const appId = appIdOf ? appIdOf(await currentState(handle, decider, key.id, { asKnown: true })) : null;
    return handle(decider, key.id, decide, { cause: `${cause}${about}`, appId });
  }

  return {
    async load(key, how = {}) {
      const state = await currentState(handle, decider, key.id, mayBeKnown ? how : {});
      const owed = stream.owed(state, key);
      return owed && outgoing(owed, stream.terms(state, owed));
    },
    record,
    sign: (key, attempt) => record(key, '', (state) => leg.sign(state, key.part, attempt)),
    conclude: (key, outcome) =>
      record(key, ` ${outcome.kind}`, (state) => leg.conclude(state, key.part, outcome, clock.now())),
    orphan: (key, seen) => record(key, ` orphaned ${seen.blockHash}`, (state) => leg.orphan(state, key.part, seen)),
  };
}

const outgoing = (owed: Owed, { owedSince, mayOutbid = true, opensAccount, isSecret }: Terms): Outgoing => ({
  ...owed,
  order: {
    ...owed.leg.order,
    reference: owed.purpose.reference,
    ...(isSecret && { referenceOrdinal: failedAttempts(owed.leg) + 1 }),
    ...(opensAccount !== undefined && { opensAccount }),
  },
  mayOutbid,
  owedSince,
});

// Payments own their payouts and their refunds.

interface PaymentDeps extends Deps {
  /** Looks once more whether the money is there that a transfer of the payment is made from. @throws PayoutBlocked */
  readonly proveFunding: (payment: Payment, owed: Owed, signal: AbortSignal) => Promise<StillFunded>;
}

export function payoutOwner(deps: PaymentDeps): TransferOwner {
  const { clock, handle } = deps;
  const { record, ...owner } = ofPayments(deps, payoutLeg, 'worker:payouts');
  return {
    ...owner,
    order: (key) => record(key, '', (p) => requestPayout(p, clock.now())),
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

export const refundOwner = (deps: PaymentDeps): TransferOwner => ofPayments(deps, refundLeg, 'worker:refunds');

function ofPayments(
  { handle, clock, proveFunding }: PaymentDeps,
  leg: ChainLegOwner<PaymentState, PaymentEvent>,
  cause: 'worker:payouts' | 'worker:refunds',
): StreamOwner<PaymentState, PaymentEvent> {
  const owed = (payment: PaymentState, key: TransferKey) =>
    payment ? owedBy(payment).find(({ purpose }) => purpose.reference === referenceOf(key)) : undefined;
  const owner = streamOwner(
    { handle, clock },
    {
      decider: paymentDecider,
      leg,
      cause,
      mayBeKnown: true,
      owed,
      terms: termsIn,
      appIdOf: (payment) => payment?.terms.appId ?? null,
    },
  );
  return {
    ...owner,
    async proveFunding(key, signal) {
      // It was just loaded.
      const payment = await currentState(handle, paymentDecider, key.id, { asKnown: true });
      const found = owed(payment, key);
      return payment && found ? proveFunding(payment, found, signal) : nothingToProve;
    },
  };
}

function termsIn(payment: PaymentState, { key }: Owed): Terms {
  assert(payment !== null, 'what is owed has a payment');
  const { terms, funded, payoutHeld, refunds } = payment;
  const isPayout = key.kind === 'payout';
  const refund = isPayout ? undefined : refunds.find((each) => each.refund === key.part);
  return {
    opensAccount: isPayout ? terms.opensAccount : refund?.request?.opensAccount,
    // Refunds are younger than secret references.
    isSecret: !isPayout || terms.payoutReference === 'secret',
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
// left behind, because it joined while the batch was closed without it, copies what the batch decided by itself.

export function batchOwner(deps: PaymentDeps): TransferOwner {
  const { clock } = deps;
  const { record, ...owner } = streamOwner(deps, {
    decider: payoutBatch,
    leg: batchLeg,
    cause,
    owed: (state, { id }) => (state ? batchOwed(id, state) : undefined),
    terms(state) {
      assert(state !== null, 'what is owed has a batch');
      return { owedSince: state.opened.openedAt, isSecret: false };
    },
  });
  return {
    ...owner,
    tell: (key) => tellMembers(deps, key),
    async cannotSign(key, why) {
      const outcome = await record(key, '', (state) => dissolveBatch(state, why.slice(0, 400), clock.now()));
      return !isRefusal(outcome) && outcome.appended > 0;
    },
    proveFunding: ({ id }, signal) => proveMembers(deps, id, signal),
  };
}

const cause = 'worker:payouts';

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
  { handle, clock }: Deps,
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
  { handle, proveFunding }: PaymentDeps,
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

interface OperationDeps extends Deps {
  readonly railOf: (chainId: ChainId) => Pick<PayoutRail, 'chainId' | 'balances' | 'transferCost'> | undefined;
  readonly owedOn: OwedOn;
}

export const operationOwner = (deps: OperationDeps): TransferOwner => ({
  ...streamOwner(deps, {
    decider: operation,
    leg: operationLeg,
    cause: 'worker:operations',
    mayBeKnown: true,
    owed: (state, { id }) => (state ? operationOwed(id, state) : undefined),
    terms(state) {
      assert(state !== null, 'what is owed has an operation');
      return { owedSince: state.ordered.orderedAt, isSecret: true };
    },
  }),
  proveFunding: ({ id }, signal) => proveLeaving(deps, id, signal),
});

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

// Rebalances own two transfers each: the burn on one chain, the mint on another.
//
// Crash between the proof and BurnSigned: nothing was sent, and the restart proves again. What happens to the burn's money behind that is
// written at the top of domain/rebalance/rebalance.ts.

export const rebalanceOwner = (deps: OperationDeps): TransferOwner => ({
  ...streamOwner(deps, {
    decider: rebalance,
    leg: rebalanceLegs,
    cause: 'worker:rebalances',
    owed: (state, { id, part }) => (state ? rebalanceOwed(id, state).find(({ key }) => key.part === part) : undefined),
    terms(state) {
      assert(state !== null, 'what is owed has a rebalance');
      return { owedSince: state.ordered.orderedAt, isSecret: false };
    },
  }),
  async proveFunding(key, signal) {
    if (key.part === burnPart) await burnsEnough(deps, key, signal);
    return nothingToProve;
  },
});

/** A burn takes nothing that payouts are owed, however long ago it was ordered. A mint takes nothing at all. */
async function burnsEnough({ handle, railOf, owedOn }: OperationDeps, key: TransferKey, signal: AbortSignal) {
  const found = await currentState(handle, rebalance, key.id);
  const rail = found && railOf(found.ordered.from.chainId);
  if (!found || !rail) return;
  const { token, amount } = found.burn.order;
  const wanted = { token, amount, operationId: referenceOf(key) };
  const refusal = await takesWhatIsOwed({ rail, owedOn }, wanted, signal);
  if (refusal) throw new PayoutBlocked('owed', `${refusal.message}; call the rebalance off, or top the float up`);
}

// Money that no payment takes up owns its way back.

interface UnmatchedDeps extends Deps {
  /** Looks once more whether the money has come. @throws PayoutBlocked */
  readonly proveMoney: (transfers: readonly Transfer[], needed: bigint, signal: AbortSignal) => Promise<StillFunded>;
}

export function unmatchedRefundOwner({ proveMoney, ...deps }: UnmatchedDeps): TransferOwner {
  const owed = (state: UnmatchedState, { part }: TransferKey) =>
    unmatchedRefundsOwed(state).find(({ key }) => key.part === part);
  return {
    ...streamOwner(deps, {
      decider: unmatched,
      leg: unmatchedRefundLeg,
      cause: 'worker:refunds',
      owed,
      terms(state) {
        assert(state !== null, 'what is owed has money behind it');
        const { verdict, seenAt } = state;
        const asked = verdict.kind === 'refundRequested' ? verdict : undefined;
        return { opensAccount: asked?.opensAccount, isSecret: true, owedSince: asked?.requestedAt ?? seenAt };
      },
    }),
    async proveFunding(key, signal) {
      const state = await currentState(deps.handle, unmatched, key.id);
      const order = owed(state, key)?.leg.order;
      if (!order) return nothingToProve;
      const backing = unmatchedBacking(state, key.id, order);
      if (isRefusal(backing)) throw new PayoutBlocked('fundingUnproven', backing.message);
      const { transfer } = backing;
      return proveMoney([transfer], BigInt(transfer.amount), signal);
    },
  };
}
