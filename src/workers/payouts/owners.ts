/**
 * The streams that owe transfers: payments (payouts and refunds), unmatched money (refunds), operations and batches (one transfer each).
 */
import { ChainBroken } from '../../../commands/codec.ts';
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { Clock, ReceiverChecks } from '../../../commands/ports.ts';
import {
  type AppendResult,
  nothingToProve,
  type Outgoing,
  PayoutBlocked,
  type PayoutRail,
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
import type { PaymentEvent, Transfer } from '../../../domain/payment/events.ts';
import {
  copyBatch,
  isMemberOf,
  joinBatch,
  payoutLeg,
  refundLeg,
  requestPayout,
} from '../../../domain/payment/payout.ts';
import { refusalToRelay } from '../../../domain/payment/relayed.ts';
import { lostFunding } from '../../../domain/payment/sources.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import { burnPart, rebalance, rebalanceLegs, rebalanceOwed } from '../../../domain/rebalance/rebalance.ts';
import { endRelay, isRelaySpent, relay, relayLeg, relayOwed, relayRevertsMax } from '../../../domain/relay/relay.ts';
import { payinOf } from '../../../domain/relay/result.ts';
import { epochMs } from '../../../domain/time.ts';
import { failedAttempts, type Owed } from '../../../domain/transfer/leg.ts';
import type { ChainLegOwner } from '../../../domain/transfer/owner.ts';
import { referenceOf, type TransferKey } from '../../../domain/transfer/shapes.ts';
import { addressBook, addressBookInstance, isUsable } from '../../../domain/treasury/addressBook.ts';
import { type Operation, operation, operationLeg, operationOwed } from '../../../domain/treasury/operation.ts';
import {
  type UnmatchedState,
  unmatched,
  unmatchedBacking,
  unmatchedRefundLeg,
  unmatchedRefundsOwed,
} from '../../../domain/unmatched.ts';
import { arrivalObstacle } from '../../chains/money/receiverCheck.ts';
import { type OwedOn, takesWhatIsOwed } from './unsettledAmounts.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
}

/** Facts about one kind of streams for the owner. */
interface Stream<S, E extends DomainEvent> {
  readonly decider: Decider<S, E>;
  readonly leg: ChainLegOwner<S, E>;
  /** Worker that its events name as their cause. */
  readonly cause: 'worker:payouts' | 'worker:refunds' | 'worker:operations' | 'worker:relays' | 'worker:rebalances';
  /** True if a loader may use this process's known state. Default: the stream is read each time. */
  readonly mayBeKnown?: boolean;
  owed(state: S, key: TransferKey): Owed | undefined;
  /** Only called with a state that owes the transfer. */
  terms(state: S, owed: Owed): Terms;
  /** App of the stream. Default: none. */
  appIdOf?(state: S): string | null;
}

interface Terms extends Pick<Outgoing, 'owedSince'>, Partial<Pick<Outgoing, 'mayOutbid'>> {
  readonly opensAccount?: boolean | undefined;
  /** False if the reference on the chain is public, or there is none. */
  readonly isSecret: boolean;
}

interface StreamOwner<S, E> extends TransferOwner {
  /** @param about the chain's answer, recorded in the event's cause */
  record(key: TransferKey, about: string, decide: (state: S) => Decision<E>): AppendResult;
}

/** The one owner of transfers: its appends are the same for every kind of streams. */
function streamOwner<S, E extends DomainEvent>({ handle, clock }: Deps, stream: Stream<S, E>): StreamOwner<S, E> {
  const { decider, leg, cause, mayBeKnown = false, appIdOf } = stream;

  async function record(key: TransferKey, about: string, decide: (state: S) => Decision<E>): AppendResult {
    // A stream's app never changes.
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
  /** Checks again that the funding money of a transfer is on its chain. @throws PayoutBlocked */
  readonly proveFunding: (payment: Payment, owed: Owed, signal: AbortSignal) => Promise<StillFunded>;
}

export function payoutOwner(deps: PaymentDeps): TransferOwner {
  const { clock, handle } = deps;
  const { record, ...owner } = ofPayments(deps, payoutLeg, 'worker:payouts');
  return {
    ...owner,
    order: (key) => record(key, '', (p) => requestPayout(p, clock.now())),
    /** Usually its batch notifies it; a member that joined a closed batch, or was skipped by a crash, checks for itself. */
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
    // Refunds were introduced after secret references.
    isSecret: !isPayout || terms.payoutReference === 'secret',
    mayOutbid: !isPayout || payoutHeld === null,
    owedSince: refund?.requestedAt ?? funded?.fundedAt ?? terms.createdAt,
  };
}

// Batches own the one transaction that pays all their members. A batch's decision is appended to its own stream first, then to each
// member's; only then anything is sent.
//
// Crash after BatchOpened: the next worker asks the members to join. After some PayoutBatched: the same; joined members stay. After
// BatchGathered: it is signed. After BatchSigned, or some PayoutSigned: the others get the same bytes, which nobody has sent. After
// BatchConfirmed, BatchDied, BatchOrphaned or BatchDissolved, or some of the members' events: the others get theirs. A member that joined
// while the batch was closed without it copies the batch's decision itself.

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
      const outcome = await record(key, '', (state) => dissolveBatch(state, why.message.slice(0, 400), clock.now()));
      return !isRefusal(outcome) && outcome.appended > 0;
    },
    proveFunding: ({ id }, signal) => proveMembers(deps, id, signal),
  };
}

const cause = 'worker:payouts';

/**
 * Asks the members to join, or makes every member copy the batch's decision. One after the other: after a crash in between the next worker
 * does the rest.
 */
async function tellMembers({ handle, clock }: Deps, { id }: TransferKey): AppendResult {
  const batch = await currentState(handle, payoutBatch, id);
  if (!batch) return { appended: 0 };
  if (batch.joined === null) return gather({ handle, clock }, id, batch);
  let refusal: Refusal | undefined;
  for (const { paymentId, appId } of joinedMembers(batch)) {
    const copy = (p: PaymentState) => copyBatch(p, id, batch, clock.now());
    const copied = await handle(paymentDecider, paymentId, copy, { cause, appId }).catch(passOver);
    if (isRefusal(copied)) refusal ??= copied;
  }
  // A member that does not match stops sending, but the others still get their copies.
  if (refusal) return refusal;
  return handle(payoutBatch, id, (state) => noteTold(state, batch.changes), { cause, appId: null });
}

/** A payment with foreign events gets no decision: it is not paid, and the other members do not wait for it. */
function passOver(error: unknown): Refusal {
  if (error instanceof ChainBroken) return refuse('illegalStep', error.message);
  throw error;
}

/** A payment that does not join is paid alone. */
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
 * Proves the money of each member, and that its own stream names this batch, its position and its amount: an operator may have held the
 * payout since, its money may have left its chain, and the batch's stream may be forged.
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

// Operations of the treasury own one transfer each.

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
 * Money may only go to an address that is still in the book, and must leave the amount owed to payouts: both may have changed since the
 * order. Right before the signature only the book is checked again: the owed amount was just read.
 */
async function proveLeaving(deps: OperationDeps, id: string, signal: AbortSignal): Promise<StillFunded> {
  const found = await currentState(deps.handle, operation, id);
  if (!found || !['withdrawal', 'rebalance'].includes(found.ordered.kind)) return nothingToProve;
  const { ordered, leg } = found;
  const rail = deps.railOf(ordered.chainId);
  if (!ordered.evenOwed && rail) {
    const { token, amount } = leg.order;
    const refusal = await takesWhatIsOwed({ rail, owedOn: deps.owedOn }, { token, amount, operationId: id }, signal);
    if (refusal)
      throw new PayoutBlocked('owed', `${refusal.message}; top it up, or call it off and order it with --even-owed`);
  }
  return () => isInBook(deps, found);
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
// Crash between the proof and BurnSigned: nothing was sent, and the restart proves again. The top of
// domain/rebalance/rebalance.ts describes the burned money after that.

interface RebalanceDeps extends OperationDeps {
  readonly receiverChecks: ReceiverChecks;
}

export const rebalanceOwner = (deps: RebalanceDeps): TransferOwner => ({
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
    if (key.part === burnPart) await burnsUsefully(deps, key, signal);
    return nothingToProve;
  },
});

/** A burn uses no money that payouts need, and its money can arrive. A mint uses no money. */
async function burnsUsefully(deps: RebalanceDeps, key: TransferKey, signal: AbortSignal): Promise<void> {
  const { handle, railOf, owedOn, receiverChecks } = deps;
  const found = await currentState(handle, rebalance, key.id);
  const rail = found && railOf(found.ordered.from.chainId);
  if (!found || !rail) return;
  const { token, amount } = found.burn.order;
  const wanted = { token, amount, operationId: referenceOf(key) };
  const refusal = await takesWhatIsOwed({ rail, owedOn }, wanted, signal);
  if (refusal) throw new PayoutBlocked('owed', `${refusal.message}; call the rebalance off, or top the float up`);
  const obstacle = await arrivalObstacle(receiverChecks, found.ordered);
  if (obstacle) throw new PayoutBlocked('refusedByToken', `${obstacle.message}; nothing is burned before`);
}

// Relays own the one transaction by which each authorization is sent. No money of ours moves. The proof before a
// signature is that the payment still waits for the payer's money, and that the authorization is still valid.
//
// Crash after RelayOrdered: the worker finds it in its list. After the nonce, or the signature, before RelaySigned: as
// for every transfer. After RelaySigned, or after sending: the recorded bytes are sent until their fate is known.
// Before RelayEnded: the next poll ends it.

export const relayOwner = (deps: Deps): TransferOwner => {
  const { handle, clock } = deps;
  const { record, ...owner } = streamOwner(deps, {
    decider: relay,
    leg: relayLeg,
    cause: 'worker:relays',
    mayBeKnown: true,
    owed: (state, { id }) => (state ? relayOwed(id, state) : undefined),
    terms(state) {
      assert(state !== null, 'what is owed has a relay');
      return { owedSince: state.ordered.orderedAt, isSecret: false };
    },
    appIdOf: (state) => state?.ordered.appId ?? null,
  });
  return {
    ...owner,
    async cannotSign(key, why) {
      if (!(why instanceof PayoutBlocked) || why.ends === null) return false;
      const { ends: reason, message: detail } = why;
      const outcome = await record(key, ` ${reason}`, (state) => endRelay(state, { reason, detail, now: clock.now() }));
      return !isRefusal(outcome) && outcome.appended > 0;
    },
    async proveFunding({ id }) {
      const stillWanted = () => isRelayWanted({ handle, clock }, id);
      await stillWanted();
      return stillWanted;
    },
  };
};

/** @throws PayoutBlocked when a transaction would only cost gas */
async function isRelayWanted({ handle, clock }: Deps, id: string): Promise<void> {
  const state = await currentState(handle, relay, id, { asKnown: true });
  if (!state) return;
  const { paymentId, form } = state.ordered;
  if (isRelaySpent(state))
    throw new PayoutBlocked('refusedByToken', `${relayRevertsMax} of its transactions were reverted`, 'refused');
  // The chain alone knows whether an entry has expired: its preparation compares ledgers.
  const { validBefore = null } = form.kind === 'authorization' ? form : {};
  if (validBefore !== null && BigInt(validBefore) <= BigInt(Math.ceil(epochMs(clock.now()) / 1_000)))
    throw new PayoutBlocked('refusedByToken', `the authorization was valid until ${validBefore}`, 'expired');
  const payment = await currentState(handle, paymentDecider, paymentId);
  const why = payment ? refusalToRelay(payment, clock.now()) : refuse('paymentNotFound', 'there is no such payment');
  if (!why) return;
  const own = payment && payinOf(payment, state.ordered);
  if (own)
    throw new PayoutBlocked('refusedByToken', `the payer’s money arrived with ${own.transfer.txHash}`, 'superseded');
  throw new PayoutBlocked('refusedByToken', why.message, 'paid');
}

// Unmatched money owns its refunds.

interface UnmatchedDeps extends Deps {
  /** Checks again that the money has arrived. @throws PayoutBlocked */
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
