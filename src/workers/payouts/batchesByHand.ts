/** Ends a stuck batch for an operator: its members are paid alone. */
import { type By, currentState, type Handle, type Handled } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import { begin, lookAfter, type NumberedDeps, nameIn, newestRun } from '../../../commands/sweeps/numbered.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import { type BatchState, batchLeg, dissolveBatch, payoutBatch } from '../../../domain/batch/batch.ts';
import { type ChainId, chainOf, type Token } from '../../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { coinOf, parseAmount } from '../../../domain/money.ts';
import { burnableOn, contractsOn, isCctpChain } from '../../../domain/rebalance/cctp.ts';
import { isLocking, isUsdt0Chain, oftOn, sendableOn } from '../../../domain/rebalance/usdt0.ts';
import { ourContracts } from '../../../domain/transfer/shapes.ts';
import type { OperationOrdered } from '../../../domain/treasury/operationEvents.ts';
import { buriable } from './impossible.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly rail: Pick<PayoutRail, 'canLand' | 'fate'>;
}

interface ByHand {
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
  { handle, clock, rail }: Deps,
  { id, reason }: ByHand,
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
