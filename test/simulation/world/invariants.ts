/** Permanent invariants (docs/explain/safety.md): checked after every step, where something has changed. */
import { eventCodec } from '../../../commands/codec.ts';
import { type BatchState, nextBatchStep, payoutBatch } from '../../../domain/batch/batch.ts';
import { type CashbackState, cashback } from '../../../domain/cashback.ts';
import { type CreditState, credit } from '../../../domain/credit.ts';
import { categoryOf, type StoredEvent } from '../../../domain/decider.ts';
import { nextStep, owedBy } from '../../../domain/payment/backing.ts';
import { isSameAsset } from '../../../domain/payment/sources.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import { type RebalanceState, rebalance } from '../../../domain/rebalance/rebalance.ts';
import type { Instant } from '../../../domain/time.ts';
import {
  nextOperationStep,
  type OperationState,
  operation,
  operationStatus,
} from '../../../domain/treasury/operation.ts';
import { type UnmatchedState, unmatched as unmatchedDecider, unmatchedRefundsOwed } from '../../../domain/unmatched.ts';
import { relayAccount } from '../chains/evm/chain.ts';
import { relayWallet } from '../chains/solana/chain.ts';
import type { SimulatedChain, TrueTransfer } from '../kernel/ports.ts';
import type { Order } from './customers.ts';
import { checkSends } from './moveChecks.ts';
import type { RefundRequest, StrayRefund } from './refundRequest.ts';
import type { WantedWithdrawal } from './treasurers.ts';
import { Violation } from './violation.ts';
import type { WantedRebalance } from './wantedRebalance.ts';

/** Hashes of transactions that events name, at any depth. */
function hashesIn(data: unknown, found: Set<string>): void {
  if (typeof data !== 'object' || data === null) return;
  for (const [name, value] of Object.entries(data)) {
    if (typeof value === 'string' && /hash$/i.test(name)) found.add(value);
    else hashesIn(value, found);
  }
}

/** Streams of relays, and of the numbers of their account. */
const isOfRelay = (stream: string): boolean =>
  stream.startsWith('relay-') ||
  (stream.startsWith('treasury-') &&
    [relayAccount, relayWallet.address].some((account) => stream.endsWith(`-${account}`)));

export interface Watched {
  readonly payments: ReadonlyMap<string, PaymentState>;
  /** By their ids. */
  readonly operations: ReadonlyMap<string, OperationState>;
  /** Moves by burn or message, by their ids. */
  readonly moves: ReadonlyMap<string, RebalanceState>;
  readonly batches: ReadonlyMap<string, BatchState>;
  readonly unmatched: ReadonlyMap<string, UnmatchedState>;
  /** By buyer's address. */
  readonly credits: ReadonlyMap<string, CreditState>;
  /** By app. */
  readonly cashbacks: ReadonlyMap<string, CashbackState>;
  /** Checks an event as it is written. */
  appended(event: StoredEvent): void;
  /** Checks an event of the signer's own log as it is written. */
  signed(event: StoredEvent): void;
  /** A merchant's receiver got a request. */
  delivered(deliveryId: string, isByHand: boolean): void;
  /** A backup was restored: later records are no longer in the log. */
  restored(events: readonly StoredEvent[]): void;
  /** @throws Violation */
  check(): void;
  /** True if every payment has ended, as of now. */
  ended(now: Instant): boolean;
}

/** Requests of people. */
interface Asked {
  readonly orders: readonly Order[];
  readonly refundRequests: readonly RefundRequest[];
  readonly withdrawals: readonly WantedWithdrawal[];
  readonly strayRefunds: readonly StrayRefund[];
  readonly rebalances: readonly WantedRebalance[];
}

/** @param hasSigner whether a signer of its own holds the treasury's keys */
export function watchInvariants(chains: readonly SimulatedChain[], hasSigner: boolean, asked: () => Asked): Watched {
  const revisions = new Map<string, bigint>();
  const payments = new Map<string, PaymentState>();
  const operations = new Map<string, OperationState>();
  const moves = new Map<string, RebalanceState>();
  const batches = new Map<string, BatchState>();
  const unmatched = new Map<string, UnmatchedState>();
  const credits = new Map<string, CreditState>();
  const cashbacks = new Map<string, CashbackState>();
  const credited = new Set<string>();
  const recorded = new Set<string>();
  const signedHashes = new Set<string>();
  /** The service signs these with a key that holds gas only: a separate signer signs no relay. */
  const relayed = new Set<string>();
  const deliveries = new Map<string, number>();
  const seen = chains.map(() => ({ version: -1, received: 0 }));
  const broken: Violation[] = [];
  let isWhole = true;

  function fold(stored: StoredEvent): void {
    const category = categoryOf(stored.stream);
    if (category === 'payment') evolve(stored, payments, paymentDecider);
    if (category === 'operation') evolve(stored, operations, operation);
    if (category === 'rebalance') evolve(stored, moves, rebalance);
    if (category === 'payoutBatch') evolve(stored, batches, payoutBatch);
    if (category === 'unmatched') evolve(stored, unmatched, unmatchedDecider);
    if (category === 'credit') evolve(stored, credits, credit);
    if (category === 'cashback') evolve(stored, cashbacks, cashback);
  }

  function checkPayouts({ chainId, truth }: SimulatedChain): void {
    const paid = new Map<string, number>();
    for (const { to } of truth.transfers()) paid.set(to, (paid.get(to) ?? 0) + 1);
    const { orders, refundRequests, withdrawals, strayRefunds, rebalances } = asked();
    const count = (to: SimulatedChain, receiver: string) => (to.chainId === chainId ? (paid.get(receiver) ?? 0) : 0);
    for (const { destination, receiver, orderId } of orders)
      if (count(destination, receiver) > 1)
        throw new Violation('onePayout', `two payouts of ${orderId} are mined on chain ${chainId}`);
    // An order of all money may be one of two chains.
    for (const { receiver, key } of refundRequests)
      if ((paid.get(receiver) ?? 0) > 1)
        throw new Violation('oneRefund', `two refunds of ${key} are mined on chain ${chainId}`);
    for (const { chain, receiver, transferId } of strayRefunds)
      if (count(chain, receiver) > 1)
        throw new Violation('oneRefund', `two refunds of ${transferId} are mined on chain ${chainId}`);
    for (const { chain, receiver, id } of [...withdrawals, ...rebalances])
      if (count(chain, receiver) > 1)
        throw new Violation('oneWithdrawal', `two transactions of withdrawal ${id} are mined on chain ${chainId}`);
  }

  /** A counted payin stays on its chain for ever. */
  function checkConfirmed({ type, data, stream }: StoredEvent): void {
    if (type !== 'PayinConfirmed') return;
    const { chainId, txHash } = (data as { readonly transfer: Pick<TrueTransfer, 'txHash'> & { chainId: number } })
      .transfer;
    const truth = chains.find((chain) => chain.chainId === chainId)?.truth;
    const there = truth?.transfers().find((each) => each.txHash === txHash);
    if (!truth || !there || there.block > truth.final())
      broken.push(new Violation('creditedWhenFinal', `${stream} counts ${txHash}, which chain ${chainId} may lose`));
  }

  /** A recorded arrival of a message stays on its chain for ever. */
  function checkArrived({ type, data, stream }: StoredEvent): void {
    if (type !== 'MintedByOther') return;
    const chainId = moves.get(stream.slice('rebalance-'.length))?.ordered.to.chainId;
    const { hash } = data as { readonly hash: string };
    const truth = chains.find((chain) => chain.chainId === chainId)?.truth;
    const there = truth?.transfers().find(({ txHash }) => txHash === hash);
    if (!truth || !there || there.block > truth.final())
      broken.push(new Violation('arrivedWhenFinal', `${stream} counts ${hash}, which chain ${chainId} may lose`));
  }

  /** Refunds including their fees never exceed the money that is neither paid out nor kept. */
  function checkHeld({ type, stream }: StoredEvent): void {
    const payment = payments.get(stream.slice('payment-'.length));
    if (type !== 'RefundRequested' || !payment) return;
    const { payins, funded, refunds, terms } = payment;
    const asset = refunds.at(-1)?.order ?? terms.source;
    const came = payins.reduce(
      (sum, { phase, amount, transfer }) => sum + (phase === 'confirmed' && isSameAsset(transfer, asset) ? amount : 0n),
      0n,
    );
    const held = came - (funded !== null && isSameAsset(terms.source, asset) ? funded.received - funded.excess : 0n);
    const standing = refunds.filter(({ calledOff, order }) => calledOff === null && isSameAsset(order, asset));
    const back = standing.reduce((sum, { order, networkFee }) => sum + order.amount + networkFee, 0n);
    if (back > held)
      broken.push(new Violation('refundsWithinHeld', `${stream} sends ${back} back of the ${held} it holds`));
  }

  /** A payment earns once for each payer, a message and an order pay once, and a merchant is paid once for each. */
  function checkCredited({ type, data, stream }: StoredEvent): void {
    const { paymentId, account, digest, after, cents } = data as Partial<Record<string, string>> & {
      readonly after?: { readonly balance_cents?: string };
    };
    const keys: Partial<Record<string, string>> = {
      CreditEarned: `${paymentId} ${account}`,
      CreditSpent: digest,
      CashbackReceived: digest,
      CashbackWithdrawn: paymentId,
      WithdrawalReturned: paymentId,
    };
    const key = keys[type];
    if (key === undefined) return;
    if (credited.has(`${type} ${key}`))
      broken.push(new Violation('creditedOnce', `${stream} has ${type} twice: ${key}`));
    credited.add(`${type} ${key}`);
    if (BigInt(after?.balance_cents ?? 0) < 0n || BigInt(cents ?? 0) <= 0n)
      broken.push(new Violation('creditAboveZero', `${stream} ${type} of ${cents} leaves ${after?.balance_cents}`));
  }

  /** Nobody else has the treasury's keys in these worlds: our own transaction stops no account, except after a restored log has lost it. */
  function checkStopped({ type, data, stream }: StoredEvent): void {
    const stops = type === 'OutflowSeen' || (type === 'NonceTaken' && (data as { readonly proven: boolean }).proven);
    if (!stops || !isWhole) return;
    const detail = `${stream} signs nothing, for a transaction of its own: ${JSON.stringify(data)}`;
    broken.push(new Violation('stoppedByStrangers', detail));
  }

  function checkSent({ chainId, truth }: SimulatedChain, from: number): number {
    const received = truth.received();
    for (const hash of received.slice(from)) {
      if (!recorded.has(hash)) throw new Violation('recordedFirst', `${hash} was sent to chain ${chainId} unrecorded`);
      if (hasSigner && !signedHashes.has(hash) && !relayed.has(hash))
        throw new Violation('recordedFirst', `${hash} was sent to chain ${chainId}, and its signer did not record it`);
    }
    return received.length;
  }

  return {
    payments,
    operations,
    moves,
    batches,
    unmatched,
    credits,
    cashbacks,
    appended(stored) {
      const expected = (revisions.get(stored.stream) ?? -1n) + 1n;
      if (stored.revision !== expected)
        broken.push(new Violation('gapless', `${stored.stream} goes on at ${stored.revision}, not ${expected}`));
      revisions.set(stored.stream, stored.revision);
      hashesIn(stored.data, recorded);
      if (isOfRelay(stored.stream)) hashesIn(stored.data, relayed);
      checkConfirmed(stored);
      fold(stored);
      checkArrived(stored);
      checkHeld(stored);
      checkCredited(stored);
      checkStopped(stored);
    },
    signed: ({ data }) => hashesIn(data, signedHashes),
    delivered(deliveryId, isByHand) {
      const count = (deliveries.get(deliveryId) ?? 0) + 1;
      deliveries.set(deliveryId, count);
      if (count > 1 && !isByHand)
        broken.push(new Violation('oneWebhook', `delivery ${deliveryId} was posted ${count} times`));
    },
    restored(events) {
      isWhole = false;
      revisions.clear();
      payments.clear();
      operations.clear();
      moves.clear();
      batches.clear();
      unmatched.clear();
      credits.clear();
      cashbacks.clear();
      credited.clear();
      // Merchants are notified again of events that the log lost.
      deliveries.clear();
      for (const event of events) {
        revisions.set(event.stream, event.revision);
        fold(event);
      }
    },
    check() {
      const [first] = broken;
      if (first) throw first;
      for (const [at, chain] of chains.entries()) {
        const known = seen[at];
        const version = chain.truth.version();
        if (!known || known.version === version) continue;
        known.version = version;
        checkPayouts(chain);
        checkSends(chain, { moves });
        known.received = checkSent(chain, known.received);
      }
    },
    ended: (now) =>
      asked().orders.every(({ payment }) => {
        const state = payment && payments.get(payment.terms.paymentId);
        return state ? isOver(state, now) : false;
      }) &&
      // Nobody ordered them: they pay out a merchant's credit.
      [...payments.values()].every((state) => state === null || state.terms.orderId !== null || isOver(state, now)) &&
      [...operations.values()].every((state) => state === null || isOperationOver(state)) &&
      [...unmatched.values()].every((state) => unmatchedRefundsOwed(state).every(({ step }) => step.do === 'done')) &&
      [...batches.values()].every((state) => state === null || nextBatchStep(state).do === 'done'),
  };
}

interface Evolving<S> {
  readonly category: string;
  readonly initial: S;
  evolve(state: S, event: never): S;
}

function evolve<S>(stored: StoredEvent, states: Map<string, S>, decider: Evolving<S>): void {
  const event = eventCodec.read(stored);
  const id = stored.stream.slice(decider.category.length + 1);
  if (event) states.set(id, decider.evolve(states.get(id) ?? decider.initial, event as never));
}

/** An operation that nobody approves is over: its operators have decided. */
const isOperationOver = (state: NonNullable<OperationState>): boolean =>
  operationStatus(state) === 'waitsForApproval' || nextOperationStep(state).do === 'done';

/** A held payout continues only through its operator. */
const isOver = (payment: Payment, now: Instant): boolean =>
  (payment.payoutHeld !== null || nextStep(payment, now).do === 'done') &&
  owedBy(payment).every(({ key, step }) => key.kind === 'payout' || step.do === 'done');
