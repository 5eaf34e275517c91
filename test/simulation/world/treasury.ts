/** Checks that every outgoing amount of the treasury matches the log: payouts, refunds, withdrawals, moves and batches, exactly. */
import { type BatchState, joinedMembers } from '../../../domain/batch/batch.ts';
import { type OperationState, operationStatus } from '../../../domain/treasury/operation.ts';
import { unmatchedRefundsOwed } from '../../../domain/unmatched.ts';
import type { SimulatedChain, TrueTransfer } from '../kernel/ports.ts';
import type { Watched } from './invariants.ts';
import { Violation } from './violation.ts';

type Logged = Pick<Watched, 'payments' | 'operations' | 'moves' | 'batches' | 'unmatched'>;

/** @throws Violation */
export function checkTreasury(chains: readonly SimulatedChain[], logged: Logged): void {
  const said = outflowsOf(logged);
  for (const { chainId, truth, treasury } of chains) {
    const left = sumsOf(truth.transfers().filter(({ from }) => from.toLowerCase() === treasury.toLowerCase()));
    const tokens = new Set([...left.keys(), ...(said.get(chainId)?.keys() ?? [])]);
    for (const token of tokens) {
      const [paid, stated] = [left.get(token) ?? 0n, said.get(chainId)?.get(token) ?? 0n];
      if (paid !== stated)
        throw new Violation(
          'leftAsSaid',
          `${paid} of ${token} left the treasury on chain ${chainId}, the log says ${stated}`,
        );
    }
  }
  for (const [id, state] of logged.operations) {
    if (state && isWithdrawal(state)) checkWithdrawal(chains, id, state);
    if (state?.ordered.kind === 'rebalance') checkArrival(chains, id, state);
    if (state?.ordered.kind === 'sweep') checkSweep(chains, id, state);
  }
  for (const [id, state] of logged.batches) if (state) checkBatch(chains, id, state);
}

function sumsOf(transfers: readonly TrueTransfer[]): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { tokenAddress, amount } of transfers) {
    const token = tokenAddress.toLowerCase();
    sums.set(token, (sums.get(token) ?? 0n) + amount);
  }
  return sums;
}

/** Sums that the log says have left, by chain and token. */
function outflowsOf({
  payments,
  operations,
  moves,
  unmatched,
}: Logged): ReadonlyMap<number, ReadonlyMap<string, bigint>> {
  const sums = new Map<number, Map<string, bigint>>();
  const add = (chainId: number, address: string, amount: bigint): void => {
    const own = sums.get(chainId) ?? new Map<string, bigint>();
    sums.set(chainId, own);
    own.set(address.toLowerCase(), (own.get(address.toLowerCase()) ?? 0n) + amount);
  };
  for (const state of payments.values())
    for (const leg of [state?.payout, ...(state?.refunds ?? [])])
      if (leg?.settled) add(leg.order.chainId, leg.order.token.address, leg.order.amount);
  for (const state of unmatched.values())
    for (const { leg } of unmatchedRefundsOwed(state))
      if (leg.settled) add(leg.order.chainId, leg.order.token.address, leg.order.amount);
  for (const state of operations.values())
    if (state && isWithdrawal(state) && state.leg.settled)
      add(state.ordered.chainId, state.ordered.token.address, BigInt(state.ordered.amount));
  for (const state of moves.values())
    if (state?.burn.settled)
      add(state.ordered.from.chainId, state.ordered.from.token.address, BigInt(state.ordered.amount));
  return sums;
}

/** Coins leave no transfer of a token. */
const isWithdrawal = ({ ordered }: NonNullable<OperationState>): boolean =>
  ['withdrawal', 'rebalance'].includes(ordered.kind) && ordered.form === undefined;

/** A settled withdrawal has arrived, and no other has. */
function checkWithdrawal(chains: readonly SimulatedChain[], id: string, state: NonNullable<OperationState>): void {
  const { ordered, leg } = state;
  const chain = chains.find(({ chainId }) => chainId === ordered.chainId);
  const paid = chain?.truth.transfers().filter(({ to }) => to.toLowerCase() === ordered.receiver.toLowerCase()) ?? [];
  const sum = paid.reduce((total, { amount }) => total + amount, 0n);
  const stated = leg.settled ? BigInt(ordered.amount) : 0n;
  if (sum !== stated)
    throw new Violation(
      'withdrawnAsSaid',
      `operation ${id} (${operationStatus(state)}) says ${stated}, the chain ${sum}`,
    );
}

/** The money of a rebalance is recorded as arrived only if its transaction brought it, and each arrival counts once. */
function checkArrival(chains: readonly SimulatedChain[], id: string, state: NonNullable<OperationState>): void {
  const { ordered, arrived } = state;
  if (!arrived || !ordered.expects) return;
  const { chainId, account, token } = ordered.expects;
  const chain = chains.find((each) => each.chainId === chainId);
  const brought = chain?.truth
    .transfers()
    .filter(({ txHash, to }) => txHash === arrived.hash && to.toLowerCase() === account.toLowerCase())
    .filter(({ tokenAddress }) => tokenAddress.toLowerCase() === token.address.toLowerCase())
    .reduce((sum, { amount }) => sum + amount, 0n);
  if (brought !== arrived.amount)
    throw new Violation('arrivedAsSaid', `rebalance ${id} says ${arrived.amount} arrived, the chain ${brought ?? 0n}`);
}

/** A finished sweep brought the treasury its recorded amount, and no other brought anything. */
function checkSweep(chains: readonly SimulatedChain[], id: string, state: NonNullable<OperationState>): void {
  const chain = chains.find(({ chainId }) => chainId === state.ordered.chainId);
  const hashes = new Set(state.leg.attempts.map(({ signed }) => signed.hash));
  const own = chain?.treasury.toLowerCase();
  const swept =
    chain?.truth.transfers().filter(({ txHash, to }) => hashes.has(txHash) && to.toLowerCase() === own) ?? [];
  const sum = swept.reduce((total, { amount }) => total + amount, 0n);
  const stated = state.leg.settled || state.leg.short ? (state.brought ?? BigInt(state.ordered.amount)) : 0n;
  if (sum !== stated) throw new Violation('sweptAsSaid', `sweep ${id} says it brought ${stated}, the chain ${sum}`);
}

/** The transaction of a finished batch paid its members in order, and nobody else; no other batch paid anybody. */
function checkBatch(chains: readonly SimulatedChain[], id: string, state: NonNullable<BatchState>): void {
  const chain = chains.find(({ chainId }) => chainId === state.opened.chainId);
  const hashes = new Set(state.leg.attempts.map(({ signed }) => signed.hash));
  const paid = chain?.truth.transfers().filter(({ txHash }) => hashes.has(txHash)) ?? [];
  const stated = state.leg.settled ? joinedMembers(state) : [];
  const textOf = (to: string, amount: bigint | string) => `${to.toLowerCase()} ${amount}`;
  const [own, theirs] = [
    paid.map((each) => textOf(each.to, each.amount)),
    stated.map((each) => textOf(each.receiver, each.amount)),
  ];
  if (own.join() !== theirs.join())
    throw new Violation('batchAsSaid', `batch ${id} says it paid ${theirs.join()}, the chain ${own.join()}`);
}
