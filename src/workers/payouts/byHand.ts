/** An operator's decision about a stuck payout. Each decision is recorded with its reason and actor. */

import { type By, currentState, type Handle, type Handled } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import { begin, lookAfter, type NumberedDeps, nameIn, newestRun } from '../../../commands/sweeps/numbered.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import { type BatchState, batchLeg, dissolveBatch, payoutBatch } from '../../../domain/batch/batch.ts';
import { type ChainId, chainOf, type Token } from '../../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { coinOf, parseAmount } from '../../../domain/money.ts';
import { bounceImpossible } from '../../../domain/payment/close.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import * as payout from '../../../domain/payment/payout.ts';
import { copyBatch } from '../../../domain/payment/payout.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import { burnableOn, contractsOn, isCctpChain } from '../../../domain/rebalance/cctp.ts';
import { isLocking, isUsdt0Chain, oftOn, sendableOn } from '../../../domain/rebalance/usdt0.ts';
import type { Instant } from '../../../domain/time.ts';
import type { TransferLeg } from '../../../domain/transfer/leg.ts';
import type { LegOwner } from '../../../domain/transfer/owner.ts';
import { ourContracts, type TransferKey } from '../../../domain/transfer/shapes.ts';
import type { OperationOrdered } from '../../../domain/treasury/operation.ts';
import {
  callOffUnmatchedRefund,
  type UnmatchedEvent,
  type UnmatchedState,
  unmatched,
  unmatchedRefundLeg,
  unmatchedRefundsOwed,
} from '../../../domain/unmatched.ts';
import { buriable } from './fate.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
}

export interface ByHand {
  readonly paymentId: string;
  /** At most 400 characters, for merchants and support. */
  readonly reason: string;
}

type Outcome = Promise<Handled<PaymentState> | Refusal>;

const paymentNotFound = refuse('paymentNotFound', 'there is no such payment');

/**
 * Nothing more is signed for the payout until it is retried. Signed attempts can still land, and are in the payment's stream when this
 * returns: an operator who finds none there may pay by hand.
 *
 * Crash after PayoutHeld: its batch may still be signed, and nobody knows that it is held. Holding it again removes it from the batch.
 */
export async function holdPayout(deps: Deps, byHand: ByHand, by: By): Outcome {
  const held = await decide(deps, byHand, by, holding);
  if (isRefusal(held) || !held.state?.batch) return held;
  const { batch, terms } = held.state;
  const out = await outOfBatch(deps, batch.id, terms, by);
  return isRefusal(out) ? out : { ...out, appended: held.appended + out.appended };
}

/** Dissolves the batch; if it is signed already, the payment gets the attempt. */
async function outOfBatch(
  { handle, clock }: Deps,
  id: string,
  { paymentId, appId }: Pick<Payment['terms'], 'paymentId' | 'appId'>,
  by: By,
): Outcome {
  const why = `an operator holds the payout of ${paymentId}`;
  const dissolve = (state: BatchState) => dissolveBatch(state, why, clock.now());
  const dissolved = await handle(payoutBatch, id, dissolve, { ...by, appId: null });
  if (isRefusal(dissolved) && dissolved.refused !== 'illegalStep') return dissolved;
  const batch = await currentState(handle, payoutBatch, id);
  const copy = (p: PaymentState) => (batch ? copyBatch(p, id, batch, clock.now()) : []);
  return handle(paymentDecider, paymentId, copy, { ...by, appId });
}

const holding = (p: PaymentState, _: number, reason: string, now: Instant) => payout.holdPayout(p, reason, now);
const bouncing = (p: PaymentState, _: number, reason: string, now: Instant) => bounceImpossible(p, reason, now);

/** Resumes the payout after a hold, after its last attempt, or after a transfer that brought nothing. */
export const retryPayout = (deps: Deps, byHand: ByHand, by: By): Outcome =>
  decide(deps, byHand, by, payout.payoutLeg.retry);

/** Counts a short payout as settled: the receiver has the full amount. */
export const acceptPayout = (deps: Deps, byHand: ByHand, by: By): Outcome =>
  decide(deps, byHand, by, payout.payoutLeg.accept);

/** Bounces a payment whose receiver cannot be paid, so its money is refundable. Refused while an attempt can land. */
export const bouncePayout = (deps: Deps, byHand: ByHand, by: By): Outcome => decide(deps, byHand, by, bouncing);

/** @param verb of a payout, or of the refund with the number `part` */
async function decide(
  { handle, clock }: Deps,
  { paymentId, reason, part = 1 }: ByHand & { readonly part?: number },
  by: By,
  verb: Verb<PaymentState, PaymentEvent>,
): Outcome {
  const payment = await currentState(handle, paymentDecider, paymentId);
  if (!payment) return paymentNotFound;
  const facts = { ...by, appId: payment.terms.appId };
  return handle(paymentDecider, paymentId, (state) => verb(state, part, reason, clock.now()), facts);
}

/** An operator's decision as a stream's verb. */
type Verb<S, E> = LegOwner<S, E>['retry'];

/** Declares the payout's attempts dead: none can land any more, and the operator verified that none did. */
export async function buryPayout(
  { handle, rail }: Pick<Deps, 'handle'> & { readonly rail: Pick<PayoutRail, 'canLand' | 'fate'> },
  { paymentId, reason }: ByHand,
  by: By,
  signal: AbortSignal,
): Outcome {
  const payment = await currentState(handle, paymentDecider, paymentId);
  if (!payment) return paymentNotFound;
  const buried = await buriable(rail, payment.payout, signal);
  if (isRefusal(buried)) return buried;
  const facts = { ...by, appId: payment.terms.appId };
  return handle(paymentDecider, paymentId, (p) => payout.payoutLeg.bury(p, 1, buried, declared(reason)), facts);
}

const declared = (reason: string) => ({ reason: 'declared', detail: reason }) as const;

// An operator's decision about a stuck refund, of a payment or of unmatched money. Each decision is recorded with its reason and actor.

export interface RefundKey extends TransferKey {
  readonly kind: 'refund' | 'unmatchedRefund';
}

export interface RefundByHand {
  readonly key: RefundKey;
  /** At most 400 characters, for merchants and support. */
  readonly reason: string;
}

export type RefundDecided = Promise<{ readonly appended: number } | Refusal>;

/** A decision as the verb of either kind of stream. */
interface RefundVerb {
  readonly ofPayment: Verb<PaymentState, PaymentEvent>;
  readonly ofUnmatched: Verb<UnmatchedState, UnmatchedEvent>;
}

const callOff: RefundVerb = { ofPayment: payout.callOffRefund, ofUnmatched: callOffUnmatchedRefund };
const retry: RefundVerb = { ofPayment: payout.refundLeg.retry, ofUnmatched: unmatchedRefundLeg.retry };
const accept: RefundVerb = { ofPayment: payout.refundLeg.accept, ofUnmatched: unmatchedRefundLeg.accept };

/** Calls the refund off: its money is held again, and can be refunded to another address. */
export const callOffRefund = (deps: Deps, byHand: RefundByHand, by: By): RefundDecided =>
  decideRefund(deps, byHand, by, callOff);

/** Resumes the refund after its last attempt, or after a transfer that brought nothing. */
export const retryRefund = (deps: Deps, byHand: RefundByHand, by: By): RefundDecided =>
  decideRefund(deps, byHand, by, retry);

/** Counts a short refund as settled: the receiver has the full amount. */
export const acceptRefund = (deps: Deps, byHand: RefundByHand, by: By): RefundDecided =>
  decideRefund(deps, byHand, by, accept);

/** Declares its attempts dead: none can land any more, and the operator verified that none did. It is signed again. */
export async function buryRefund(
  deps: Deps & { readonly railOf: (chainId: ChainId) => Pick<PayoutRail, 'canLand' | 'fate'> | undefined },
  byHand: RefundByHand,
  by: By,
  signal: AbortSignal,
): RefundDecided {
  const leg = await loadRefundLeg(deps.handle, byHand.key);
  if (isRefusal(leg)) return leg;
  const rail = deps.railOf(leg.order.chainId);
  if (!rail) return refuse('invalidRequest', `chain ${leg.order.chainId} is not configured here: nobody can be asked`);
  const buried = await buriable(rail, leg, signal);
  if (isRefusal(buried)) return buried;
  return decideRefund(deps, byHand, by, {
    ofPayment: (state, part, reason) => payout.refundLeg.bury(state, part, buried, declared(reason)),
    ofUnmatched: (state, part, reason) => unmatchedRefundLeg.bury(state, part, buried, declared(reason)),
  });
}

/** Leg of the refund; refused if there is none. */
export async function loadRefundLeg(handle: Handle, { kind, id, part }: RefundKey): Promise<TransferLeg | Refusal> {
  const leg =
    kind === 'refund'
      ? (await currentState(handle, paymentDecider, id))?.refunds.find(({ refund }) => refund === part)
      : unmatchedRefundsOwed(await currentState(handle, unmatched, id)).find(({ key }) => key.part === part)?.leg;
  return leg ?? noSuch;
}

const noSuch = refuse('notFound', 'there is no such refund: npm run refunds -- list');

function decideRefund(deps: Deps, { key, reason }: RefundByHand, by: By, verb: RefundVerb): RefundDecided {
  const { kind, id, part } = key;
  if (kind === 'refund') return decide(deps, { paymentId: id, part, reason }, by, verb.ofPayment);
  const { handle, clock } = deps;
  return handle(unmatched, id, (state) => verb.ofUnmatched(state, part, reason, clock.now()), { ...by, appId: null });
}

// Ends a stuck batch for an operator: its members are paid alone.

interface BatchDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly rail: Pick<PayoutRail, 'canLand' | 'fate'>;
}

interface BatchByHand {
  /** Id of the batch's stream. */
  readonly id: string;
  /** At most 400 characters, for merchants and support. */
  readonly reason: string;
}

/**
 * Ends it if nothing was signed; otherwise declares its attempts dead, with the same proof as for one payout: none of them can land, and no
 * node knows that any did.
 *
 * Crash before the append: nothing happened. After it: the batch is over, and the next worker notifies its members, which releases them.
 *
 * @returns number of appended events; 0 if it was over before. @throws ChainUnavailable, Unavailable
 */
export async function buryBatch(
  { handle, clock, rail }: BatchDeps,
  { id, reason }: BatchByHand,
  by: By,
  signal: AbortSignal,
): Promise<Handled<BatchState> | Refusal> {
  const facts = { ...by, appId: null };
  const batch = await currentState(handle, payoutBatch, id);
  if (!batch) return refuse('notFound', 'there is no such batch: npm run treasury -- batches');
  if (batch.dissolved !== null || batch.leg.attempts.length === 0)
    return handle(payoutBatch, id, (state) => dissolveBatch(state, reason, clock.now()), facts);
  const attempts = await buriable(rail, batch.leg, signal);
  if (isRefusal(attempts)) return attempts;
  const outcome = { kind: 'dead', attempts, proof: { reason: 'declared', detail: reason } } as const;
  return handle(payoutBatch, id, (state) => batchLeg.conclude(state, 1, outcome, clock.now()), facts);
}

// Requirements of batches on a chain, ordered as treasury operations: the engine signs and sends them.

export interface ContractDeps extends NumberedDeps {
  readonly rail: Pick<PayoutRail, 'chainId' | 'account' | 'batching'>;
}

const [, payMany] = ourContracts;

/** Tokens of these chains count in 256 bits. */
const countedMost = 2n ** 256n - 1n;

const noBatches = (chainId: ChainId): Refusal =>
  refuse(
    'invalidRequest',
    `each payout on ${chainOf(chainId).name} is a transaction of its own: there is nothing to set up`,
  );

/** Deploys the batch contract on the chain. @returns the operation; a pending one is returned */
export function orderPayMany({ rail, ...deps }: ContractDeps): Promise<string | Refusal> {
  const { chainId, account, batching } = rail;
  if (!batching) return Promise.resolve(noBatches(chainId));
  const order = {
    token: coinOf(chainId),
    form: { kind: 'deploy', contract: payMany } as const,
    receiver: batching.contract,
    reason: 'payouts cannot be put together without it',
  };
  return orderOnce({ rail, ...deps }, `payMany-${chainId}-${account}`, order);
}

/**
 * Sets that contract's allowance of a token, in place of the current one. It spends only on the treasury's own order.
 * @param amount in whole tokens; 0 revokes the allowance
 */
export async function orderAllowance(
  { rail, ...deps }: ContractDeps,
  asked: { readonly token: string; readonly amount: string },
): Promise<string | Refusal> {
  const { chainId, account, batching } = rail;
  if (!batching) return noBatches(chainId);
  const token = chainOf(chainId).tokens.find(({ symbol }) => symbol === asked.token.toUpperCase());
  if (!token) return refuse('invalidRequest', `${asked.token} is no token of ${chainOf(chainId).name}`);
  const most = parseAmount(asked.amount, token.decimals);
  if (typeof most !== 'bigint' || most > countedMost)
    return refuse(
      'invalidRequest',
      `${asked.amount} is not an amount of ${token.symbol}: use digits, such as 25000 or 0.50`,
    );
  return orderOnce(
    { rail, ...deps },
    `allow-${chainId}-${account}-${token.symbol}`,
    allowanceOrder(token, most, batching.contract),
  );
}

/** An allowance as an operator types it. Amount in whole tokens; 0 revokes it. */
export interface AskedAllowance {
  readonly amount: string;
  readonly asset?: string;
}

/** Allows the contract that burns USDC, or locks USDT, for rebalances to take this much of the treasury, in place of its allowance now. */
export const orderBurnAllowance = (deps: ContractDeps, { amount, asset = 'USDC' }: AskedAllowance) =>
  asset.toUpperCase() === 'USDT' ? orderLockAllowance(deps, amount) : orderCctpAllowance(deps, amount);

async function orderLockAllowance({ rail, ...deps }: ContractDeps, amount: string): Promise<string | Refusal> {
  const { chainId, account } = rail;
  const token = sendableOn(chainId);
  if (!token || !isUsdt0Chain(chainId) || !isLocking(chainId))
    return refuse(
      'invalidRequest',
      `USDT0 needs no allowance on ${chainOf(chainId).name}: it needs one on Ethereum alone`,
    );
  const most = parseAmount(amount, token.decimals);
  if (typeof most !== 'bigint' || most > countedMost)
    return refuse('invalidRequest', `${amount} is no amount of ${token.symbol} like 25000 or 0.50`);
  const { symbol, address, decimals } = token;
  return orderOnce({ rail, ...deps }, `allowLocks-${chainId}-${account}`, {
    token: { symbol, address, decimals },
    form: { kind: 'allow', contract: 'usdt0Adapter', most: most.toString() },
    receiver: oftOn(chainId),
    reason: most === 0n ? 'no USDT is rebalanced from here any more' : 'rebalances by USDT0 are locked out of it',
  });
}

async function orderCctpAllowance({ rail, ...deps }: ContractDeps, amount: string): Promise<string | Refusal> {
  const { chainId, account } = rail;
  const token = burnableOn(chainId);
  if (!token || !isCctpChain(chainId))
    return refuse('invalidRequest', `CCTP burns nothing on ${chainOf(chainId).name}`);
  if (chainOf(chainId).family === 'solana')
    return refuse('invalidRequest', 'a burn on Solana needs no allowance: the treasury signs for its own tokens');
  const most = parseAmount(amount, token.decimals);
  if (typeof most !== 'bigint' || most > countedMost)
    return refuse('invalidRequest', `${amount} is no amount of ${token.symbol} like 25000 or 0.50`);
  const { symbol, address, decimals } = token;
  return orderOnce({ rail, ...deps }, `allowBurns-${chainId}-${account}`, {
    token: { symbol, address, decimals },
    form: { kind: 'allow', contract: 'tokenMessenger', most: most.toString() },
    receiver: contractsOn(chainId).messenger,
    reason: most === 0n ? 'nothing is rebalanced from here any more' : 'rebalances are burned out of it',
  });
}

const allowanceOrder = ({ symbol, address, decimals }: Token, most: bigint, contract: string) => ({
  token: { symbol, address, decimals },
  form: { kind: 'allow', contract: payMany, most: most.toString() } as const,
  receiver: contract,
  reason: most === 0n ? 'payouts are no longer put together' : 'payouts that are put together are paid out of it',
});

type What = Pick<OperationOrdered, 'token' | 'form' | 'receiver' | 'reason'>;

/** Orders the next operation of its name; returns a pending equal one. */
async function orderOnce({ rail, ...deps }: ContractDeps, name: string, what: What): Promise<string | Refusal> {
  const nameOf = (run: number) => `${name}-${run}`;
  const newest = await newestRun(deps, nameOf);
  const known = newest > 0 ? await lookAfter(deps, nameOf(newest)) : undefined;
  if (known && !known.over) {
    const same = JSON.stringify(known.operation.ordered.form) === JSON.stringify(what.form);
    return same ? nameOf(newest) : refuse('conflict', `${nameOf(newest)} is under way: wait until it is done`);
  }
  const order: OperationOrdered = {
    kind: 'deployment',
    chainId: rail.chainId,
    account: rail.account,
    ...what,
    receiverMemo: null,
    amount: '0',
    value_microUsd: '0',
    approvals: 0,
    by: nameIn(deps.by),
    orderedAt: deps.clock.now(),
  };
  const begun = await begin(deps, nameOf(newest + 1), order);
  return isRefusal(begun) ? begun : nameOf(newest + 1);
}
