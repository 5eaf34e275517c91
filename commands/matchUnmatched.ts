/** Unmatched money: recorded once, and decided by an operator. */
import { type ChainId, chainOf } from '../domain/chains.ts';
import { assert, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { type Deposit, transferId } from '../domain/payment/events.ts';
import { paysInto, takesUp } from '../domain/payment/payins.ts';
import { paymentDecider } from '../domain/payment/state.ts';
import { assign, requestRefund, type UnmatchedState, unknownTransfer, unmatched } from '../domain/unmatched.ts';
import type { Ingester } from './chainPorts.ts';
import { type By, currentState, type Handle, type Handled } from './handle.ts';
import type { Clock, CrashPoint } from './ports.ts';
import { recordPayin } from './recordPayin.ts';
import { receiverProblem, type SendingDeps, sendingCost } from './refunds.ts';

export interface UnmatchedDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly crash?: CrashPoint;
}

type Outcome = Handled<UnmatchedState> | Refusal;

/**
 * Assigns the money to a payment, which records it as it was seen: it counts, or is held as late, surplus or of another chain.
 *
 * The decision comes first: the money can be given away only once. Crash between it and the payment's own event: the worker of unmatched
 * money, or this command again, finds the decision without the payin and records the payin.
 */
export async function matchUnmatched(deps: UnmatchedDeps, id: string, paymentId: string, by: By): Promise<Outcome> {
  const payment = await currentState(deps.handle, paymentDecider, paymentId);
  if (!payment) return refuse('paymentNotFound', `there is no payment ${paymentId}: check its id`);
  const money = await currentState(deps.handle, unmatched, id);
  if (money && !takesUp(payment, money.transfer)) return full;
  const { appId } = payment.terms;
  const decide = (state: UnmatchedState) => assign(state, { paymentId, appId }, deps.clock.now());
  const assigned = await deps.handle(unmatched, id, decide, { ...by, appId });
  if (isRefusal(assigned)) return assigned;
  await deps.crash?.('unmatched.afterAssigned');
  return (await finish(deps, assigned.state)) ?? assigned;
}

/** A transaction that moved money to a deposit. */
export interface MovingTransaction {
  readonly chainId: ChainId;
  readonly deposit: Deposit;
  readonly txHash: string;
}

/**
 * Gives a payment the unmatched money that a transaction moved to its deposit before the payment existed. Other transfers are unchanged, and
 * repeating it changes nothing. Deposits without a shared address have no unmatched money.
 *
 * @returns the refusal if an operator has decided otherwise about the money
 */
export async function claimUnmatched(
  { ingesters, signal, ...deps }: UnmatchedDeps & ClaimDeps,
  paymentId: string,
  { chainId, deposit, txHash }: MovingTransaction,
  by: By,
): Promise<Refusal | undefined> {
  const ingester = ingesters.get(chainId);
  if (!ingester?.sharedAddresses.includes(deposit.address)) return undefined;
  const moved = await ingester.lookUp(txHash, signal);
  for (const transfer of moved.filter((each) => paysInto({ [chainOf(chainId).family]: deposit }, each))) {
    const id = transferId(transfer);
    if ((await currentState(deps.handle, unmatched, id)) === null) continue;
    const matched = await matchUnmatched(deps, id, paymentId, by);
    if (isRefusal(matched)) return matched;
  }
  return undefined;
}

export interface ClaimDeps {
  readonly ingesters: ReadonlyMap<ChainId, Pick<Ingester, 'lookUp' | 'sharedAddresses'>>;
  readonly signal: AbortSignal;
}

/** Finishes a decided match; repeating it changes nothing. */
export async function finishMatch(deps: UnmatchedDeps, id: string): Promise<Refusal | undefined> {
  return finish(deps, await currentState(deps.handle, unmatched, id));
}

async function finish(deps: UnmatchedDeps, state: UnmatchedState): Promise<Refusal | undefined> {
  assert(state?.verdict.kind === 'assigned', 'only a match that was decided is finished');
  const { transfer, verdict } = state;
  // Records this payin even if the payment has reached its maximum since the decision.
  const recorded = await recordPayin(deps, verdict, { transfer, final: true, assigned: true });
  return isRefusal(recorded) ? recorded : undefined;
}

const full = refuse('paymentNotUpdatable', 'the payment takes up no more payins: order a refund of the money instead');

export interface RefundUnmatched {
  /** Receiver of the refund. Default: the sender, though that may be an exchange's account that credits nobody. */
  readonly to?: string | undefined;
  readonly memo?: string | undefined;
  readonly reason: string;
}

/** Orders a refund, less its network fee, to a receiver that can accept it. The order holds everything that is needed to send it. */
export async function refundUnmatched(
  deps: UnmatchedDeps & SendingDeps,
  id: string,
  { to, memo, reason }: RefundUnmatched,
  by: By,
): Promise<Outcome> {
  const state = await currentState(deps.handle, unmatched, id);
  if (!state) return unknownTransfer;
  const { chainId, token, amount, from } = state.transfer;
  const chain = chainOf(chainId);
  const receiverAddress = to === undefined ? from : deps.addresses.canonical(chain, to);
  if (receiverAddress === null) return refuse('invalidRequest', `${to} is not an address of ${chain.name}`);
  const receiver = { address: receiverAddress, memo: memo ?? null };
  const sending = { chainId, token, amount: BigInt(amount), receiver };
  const cost = (await receiverProblem(deps, sending)) ?? (await sendingCost(deps, sending));
  if (isRefusal(cost)) return cost;
  const order = { receiverAddress, receiverMemo: memo ?? null, reason, ...cost };
  const decide = (now: UnmatchedState) => requestRefund(now, order, deps.clock.now());
  return deps.handle(unmatched, id, decide, { ...by, appId: null });
}
