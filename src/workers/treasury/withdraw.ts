/** An operator sends treasury money to an address of the book, or through one to another treasury account. */

import { hash } from 'node:crypto';
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { AddressSpelling, Clock } from '../../../commands/ports.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import { type Chain, chainOf, findChain, findHeldToken, heldTokens } from '../../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import {
  coinAddress,
  coinOf,
  convertUp,
  formatAmount,
  microUsdDecimals,
  parseAmount,
  tokenIn,
  unitsText,
  usMillionth,
} from '../../../domain/money.ts';
import { type CoinPrice, coinInMicroUsd } from '../../../domain/payment/fees.ts';
import { day_ms, epochMs, type Instant } from '../../../domain/time.ts';
import type { AssetRef } from '../../../domain/transfer/shapes.ts';
import {
  addressBook,
  addressBookInstance,
  type BookEntry,
  usableAddress,
} from '../../../domain/treasury/addressBook.ts';
import { allowance, allowanceInstance, takeAllowance } from '../../../domain/treasury/allowance.ts';
import {
  type Operation,
  type OperationOrdered,
  operation,
  orderOperation,
} from '../../../domain/treasury/operation.ts';
import { type OwedOn, takesWhatIsOwed } from '../payouts/unsettledAmounts.ts';
import { type OperatorBy, operatorName } from './operations.ts';

// Converts an operator's withdrawal into an order: refuses missing, forbidden and inconsistent values.

export interface OrderDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly addresses: AddressSpelling;
  /** Rails of the configured chains. */
  readonly rails: ReadonlyMap<Chain['id'], PayoutRail>;
  readonly priceOf: (chainId: Chain['id']) => CoinPrice;
  readonly limits: WithdrawalLimits;
}

export interface WithdrawalLimits {
  /** Daily limit of a single operator, in millionths of a dollar. */
  readonly approval_microUsd: bigint;
  /** The signer's limit per transfer, in millionths of a dollar. */
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
  /** It may use money that payouts are owed. */
  readonly evenOwed?: boolean;
  /** Orders again although an equal order is recent. */
  readonly again?: boolean;
  /** For a rebalance: chain of our account that finally receives the money. */
  readonly towards?: string | undefined;
}

/** Everything except the approvals, which are decided last. */
export type UnapprovedOrder = Omit<OperationOrdered, 'approvals'>;

/** The operator's request in the form of the log. Nothing is recorded yet. */
export async function orderOf(
  deps: OrderDeps,
  asked: AskedWithdrawal,
  by: OperatorBy,
): Promise<UnapprovedOrder | Refusal> {
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

/** @param chain its id, or an operator's input */
export function railOf({ rails }: Pick<OrderDeps, 'rails'>, chain: string | number): PayoutRail | Refusal {
  const id = findChain(chain)?.id;
  return (
    (id && rails.get(id)) ?? refuse('invalidRequest', `${chain} is not a configured chain: set RPC_URLS_<chainId>`)
  );
}

function assetOf(chain: Chain, stated: string): AssetRef | Refusal {
  const token = stated === coinAddress ? coinOf(chain.id) : findHeldToken(chain, stated.toUpperCase());
  if (token) return token;
  const known = heldTokens(chain)
    .map(({ symbol }) => symbol)
    .join(', ');
  return refuse('invalidRequest', `${stated} is nothing that the treasury has on ${chain.name}: say ${known} or coin`);
}

async function receiverOf(
  { handle, clock, addresses }: OrderDeps,
  chain: Chain,
  asked: AskedWithdrawal,
): Promise<BookEntry | Refusal> {
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
  const token = findHeldToken(chain, symbol);
  if (asset === coinAddress || !token)
    return refuse(
      'invalidRequest',
      `${symbol} is no token on ${chain.name}: only a token that both chains have is rebalanced`,
    );
  return { chainId: chain.id, account: rail.account, token };
}

function worthOf({ priceOf }: OrderDeps, chain: Chain, token: AssetRef, amount: bigint): bigint {
  const dollar = tokenIn(token);
  return dollar ? convertUp(amount, dollar, usMillionth) : coinInMicroUsd(amount, priceOf(chain.id));
}

export interface WithdrawalDeps extends OrderDeps {
  readonly owedOn: OwedOn;
}

export interface WithdrawalOrdered {
  readonly id: string;
  readonly operation: Operation;
  /** False if an equal order is recent: nothing was done. */
  readonly isNew: boolean;
}

/** Maximum equal withdrawals, ever. */
const equalsMost = 1_000;

/**
 * Orders a withdrawal. Everything is checked before, so nothing is ever half done.
 *
 * Its id follows from the request and the number of equal ones: a repetition after a lost answer finds the existing order. Of two equal
 * concurrent requests, one orders it and the other is refused.
 */
export async function orderWithdrawal(
  deps: WithdrawalDeps,
  asked: AskedWithdrawal,
  by: OperatorBy,
  signal: AbortSignal,
): Promise<WithdrawalOrdered | Refusal> {
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
 * Reserves the daily share before the order is recorded, because orders may be concurrent. A crash in between leaves the share reserved,
 * and the repeated order has it already.
 */
async function approvalsFor(
  { handle, clock, limits }: WithdrawalDeps,
  operationId: string,
  order: UnapprovedOrder,
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
  /** Id of the latest equal one; without one, the id of the first. */
  readonly id: string;
  readonly operation: Operation | null;
  readonly nextId: string;
}

async function lastEqual(handle: Handle, order: UnapprovedOrder): Promise<LastEqual | Refusal> {
  let last: LastEqual = { id: idOf(order, 1), operation: null, nextId: idOf(order, 1) };
  for (let n = 1; n <= equalsMost; n += 1) {
    const id = idOf(order, n);
    const found = await currentState(handle, operation, id);
    if (!found) return last;
    last = { id, operation: found, nextId: idOf(order, n + 1) };
  }
  return refuse('conflict', `${equalsMost} equal withdrawals were ordered: say another amount`);
}

/** Short, because people type it. */
function idOf({ kind, chainId, account, token, receiver, receiverMemo, amount }: UnapprovedOrder, n: number): string {
  const parts = [kind, chainId, account, token.address, receiver, receiverMemo, amount, n];
  return hash('sha256', JSON.stringify(parts)).slice(0, 12);
}
