/** A withdrawal as an operator types it, made into an order: what is not there, not allowed or not meant is refused here. */

import { currentState, type Handle } from '../../../commands/handle.ts';
import type { AddressBook, Clock } from '../../../commands/ports.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import { type Chain, chainOf, findChain, findToken } from '../../../domain/chains.ts';
import { coinAddress, coinOf } from '../../../domain/coins.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { formatAmount, microUsdDecimals, parseAmount, rescaleUp, unitsText } from '../../../domain/money.ts';
import { type CoinPrice, coinInMicroUsd } from '../../../domain/payment/payoutCost.ts';
import type { AssetRef } from '../../../domain/transfer/shapes.ts';
import { addressBook, addressBookInstance, type Entry, usableAddress } from '../../../domain/treasury/addressBook.ts';
import type { OperationOrdered } from '../../../domain/treasury/operationEvents.ts';
import { type OperatorBy, operatorName } from './operator.ts';

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
    const message = `${asked.amount} is no amount of ${token.symbol}: say it like 250.00, with at most ${token.decimals} decimals`;
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
  return (id && rails.get(id)) ?? refuse('invalidRequest', `${chain} is no chain that is configured here`);
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
  if (address === null) return refuse('invalidRequest', `${asked.to} is no address of ${chain.name}`);
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
