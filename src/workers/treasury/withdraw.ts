/** An operator sends money of the treasury to an address of the book, or to another account of the treasury by way of one. */

import { hash } from 'node:crypto';
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { AddressBook, Clock } from '../../../commands/ports.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import { type Chain, chainOf, findChain, findToken } from '../../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import {
  coinAddress,
  coinOf,
  formatAmount,
  microUsdDecimals,
  parseAmount,
  rescaleUp,
  unitsText,
} from '../../../domain/money.ts';
import { type CoinPrice, coinInMicroUsd } from '../../../domain/payment/fees.ts';
import { day_ms, epochMs, type Instant } from '../../../domain/time.ts';
import type { AssetRef } from '../../../domain/transfer/shapes.ts';
import { addressBook, addressBookInstance, type Entry, usableAddress } from '../../../domain/treasury/addressBook.ts';
import { allowance, allowanceInstance, takeAllowance } from '../../../domain/treasury/allowance.ts';
import { type Operation, operation, orderOperation } from '../../../domain/treasury/operation.ts';
import type { OperationOrdered } from '../../../domain/treasury/operationEvents.ts';
import { type OwedOn, takesWhatIsOwed } from '../payouts/unsettledAmounts.ts';
import { type OperatorBy, operatorName } from './operations.ts';

// A withdrawal as an operator types it, made into an order: what is not there, not allowed or not meant is refused here.

export interface OrderDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly addresses: AddressBook;
  /** Of the chains that are configured here. */
  readonly rails: ReadonlyMap<Chain['id'], PayoutRail>;
  readonly priceOf: (chainId: Chain['id']) => CoinPrice;
  readonly limits: WithdrawalLimits;
}

export interface WithdrawalLimits {
  /** What may leave within a day on one operator's word, in millionths of a dollar. */
  readonly approval_microUsd: bigint;
  /** What the signer lets go in one transfer, in millionths of a dollar. */
  readonly perTransfer_microUsd: bigint;
}

/** As an operator types it. */
export interface AskedWithdrawal {
  readonly chain: string;
  /** A token's symbol, or `coin`. */
  readonly asset: string;
  readonly amount: string;
  readonly to: string;
  readonly memo?: string | undefined;
  readonly reason: string;
  /** It may take what payouts are owed. */
  readonly evenOwed?: boolean;
  /** Though the same was ordered lately. */
  readonly again?: boolean;
  /** Of a rebalance: the chain on which our account is to be topped up in the end. */
  readonly towards?: string | undefined;
}

/** All but who has to approve it, which is decided last. */
export type Asking = Omit<OperationOrdered, 'approvals'>;

/** What an operator asked for, as it will stand in the log. Nothing is recorded yet. */
export async function orderOf(deps: OrderDeps, asked: AskedWithdrawal, by: OperatorBy): Promise<Asking | Refusal> {
  const { clock, limits } = deps;
  const rail = railOf(deps, asked.chain);
  if (isRefusal(rail)) return rail;
  const chain = chainOf(rail.chainId);
  const token = assetOf(chain, asked.asset);
  if (isRefusal(token)) return token;
  const amount = parseAmount(asked.amount, token.decimals);
  if (typeof amount !== 'bigint' || amount === 0n) {
    const message = `${asked.amount} is not an amount of ${token.symbol}: use a number such as 250.00, with at most ${token.decimals} decimals`;
    return refuse('invalidRequest', message);
  }
  const to = await receiverOf(deps, chain, asked);
  if (isRefusal(to)) return to;
  if (to.address === rail.account) return refuse('invalidRequest', 'that is the treasury itself: nothing would move');
  const expects = expectedBy(deps, asked, token, chain);
  if (isRefusal(expects)) return expects;
  const value = worthOf(deps, chain, token, amount);
  if (value > limits.perTransfer_microUsd) {
    const most = formatAmount(limits.perTransfer_microUsd, microUsdDecimals);
    return refuse('invalidRequest', `the signer lets at most ${most} go at once (SIGNER_MAX_TRANSFER_USD): split it`);
  }
  return {
    kind: expects ? 'rebalance' : 'withdrawal',
    chainId: chain.id,
    account: rail.account,
    token,
    ...(token.address === coinAddress && { form: { kind: 'coin' as const } }),
    receiver: to.address,
    receiverMemo: to.memo,
    amount: unitsText(amount),
    value_microUsd: unitsText(value),
    ...(asked.evenOwed && { evenOwed: true as const }),
    ...(expects && { expects }),
    reason: asked.reason,
    by: operatorName(by),
    orderedAt: clock.now(),
  };
}

/** @param chain its id, or what an operator typed */
export function railOf({ rails }: Pick<OrderDeps, 'rails'>, chain: string | number): PayoutRail | Refusal {
  const id = findChain(chain)?.id;
  return (
    (id && rails.get(id)) ?? refuse('invalidRequest', `${chain} is not a configured chain: set RPC_URLS_<chainId>`)
  );
}

function assetOf(chain: Chain, stated: string): AssetRef | Refusal {
  const token = stated === coinAddress ? coinOf(chain.id) : findToken(chain, stated.toUpperCase());
  if (token) return token;
  const known = chain.tokens.map(({ symbol }) => symbol).join(', ');
  return refuse('invalidRequest', `${stated} is nothing that the treasury has on ${chain.name}: say ${known} or coin`);
}

async function receiverOf(
  { handle, clock, addresses }: OrderDeps,
  chain: Chain,
  asked: AskedWithdrawal,
): Promise<Entry | Refusal> {
  const address = addresses.canonical(chain, asked.to);
  if (address === null) return refuse('invalidRequest', `${asked.to} is not an address of ${chain.name}`);
  const book = await currentState(handle, addressBook, addressBookInstance);
  return usableAddress(book, { chainId: chain.id, address, memo: asked.memo }, clock.now());
}

/** Our account at the other end of a rebalance; undefined for a withdrawal. */
function expectedBy(
  deps: OrderDeps,
  { towards, asset }: AskedWithdrawal,
  { symbol }: AssetRef,
  from: Chain,
): OperationOrdered['expects'] | Refusal {
  if (towards === undefined) return undefined;
  const rail = railOf(deps, towards);
  if (isRefusal(rail)) return rail;
  const chain = chainOf(rail.chainId);
  if (chain.id === from.id) return refuse('invalidRequest', 'a rebalance goes from one chain to another');
  const token = findToken(chain, symbol);
  if (asset === coinAddress || !token)
    return refuse(
      'invalidRequest',
      `${symbol} is no token on ${chain.name}: only a token that both chains have is rebalanced`,
    );
  return { chainId: chain.id, account: rail.account, token };
}

function worthOf({ priceOf }: OrderDeps, chain: Chain, token: AssetRef, amount: bigint): bigint {
  return token.address === coinAddress
    ? coinInMicroUsd(amount, priceOf(chain.id))
    : rescaleUp(amount, token.decimals, microUsdDecimals);
}

export interface WithdrawDeps extends OrderDeps {
  readonly owedOn: OwedOn;
}

export interface Ordered {
  readonly id: string;
  readonly operation: Operation;
  /** False when the same was ordered lately: nothing was done. */
  readonly isNew: boolean;
}

/** Equal withdrawals that are told apart, of all time. */
const equalsMost = 1_000;

/**
 * Orders a withdrawal. Everything is checked before: nothing is ever half done.
 *
 * Its id follows from what is asked and from how many equal ones there were: whoever repeats himself after a lost answer meets his own
 * order. Of two who ask at once for the same, one orders it and the other is told so.
 */
export async function withdraw(
  deps: WithdrawDeps,
  asked: AskedWithdrawal,
  by: OperatorBy,
  signal: AbortSignal,
): Promise<Ordered | Refusal> {
  const order = await orderOf(deps, asked, by);
  if (isRefusal(order)) return order;
  const last = await lastEqual(deps.handle, order);
  if (isRefusal(last)) return last;
  if (last.operation && !asked.again && isRecent(last.operation, deps.clock.now()))
    return { id: last.id, operation: last.operation, isNew: false };
  const amount = BigInt(order.amount);
  const rail = railOf(deps, order.chainId);
  if (isRefusal(rail)) return rail;
  const refusal = asked.evenOwed
    ? undefined
    : await takesWhatIsOwed({ rail, owedOn: deps.owedOn }, { token: order.token, amount }, signal);
  if (refusal) return refuse('illegalStep', `${refusal.message}; --even-owed takes it all the same`);
  const { handle } = deps;
  const id = last.operation ? last.nextId : last.id;
  const approvals = await approvalsFor(deps, id, order, by);
  if (isRefusal(approvals)) return approvals;
  const ordered = { ...order, approvals };
  const handled = await handle(operation, id, (state) => orderOperation(state, ordered), { ...by, appId: null });
  if (isRefusal(handled)) return handled;
  if (!handled.state) return refuse('conflict', 'the order was not recorded: order it again');
  return { id, operation: handled.state, isNew: handled.appended > 0 };
}

/**
 * Others may be ordered at the same time: the share of a day is taken before the order is recorded. A crash in between leaves the share
 * taken, which the same order, asked again, has already.
 */
async function approvalsFor(
  { handle, clock, limits }: WithdrawDeps,
  operationId: string,
  order: Asking,
  by: OperatorBy,
): Promise<0 | 1 | Refusal> {
  const taking = { operationId, value: BigInt(order.value_microUsd), by: order.by, now: clock.now() };
  const taken = await handle(
    allowance,
    allowanceInstance,
    (state) => takeAllowance(state, taking, limits.approval_microUsd),
    { ...by, appId: null },
  );
  if (!isRefusal(taken)) return 0;
  return taken.refused === 'forbidden' ? 1 : taken;
}

/** Not over yet, or ordered within a day. */
const isRecent = ({ leg, calledOff, ordered }: Operation, now: Instant): boolean =>
  calledOff === null && (leg.settled === null || epochMs(now) - epochMs(ordered.orderedAt) < day_ms);

interface LastEqual {
  /** Of the latest equal one; without one, the id that the first gets. */
  readonly id: string;
  readonly operation: Operation | null;
  readonly nextId: string;
}

async function lastEqual(handle: Handle, order: Asking): Promise<LastEqual | Refusal> {
  let last: LastEqual = { id: idOf(order, 1), operation: null, nextId: idOf(order, 1) };
  for (let n = 1; n <= equalsMost; n += 1) {
    const id = idOf(order, n);
    const found = await currentState(handle, operation, id);
    if (!found) return last;
    last = { id, operation: found, nextId: idOf(order, n + 1) };
  }
  return refuse('conflict', `${equalsMost} equal withdrawals were ordered: say another amount`);
}

/** Short, for people type it. */
function idOf({ kind, chainId, account, token, receiver, receiverMemo, amount }: Asking, n: number): string {
  const parts = [kind, chainId, account, token.address, receiver, receiverMemo, amount, n];
  return hash('sha256', JSON.stringify(parts)).slice(0, 12);
}
