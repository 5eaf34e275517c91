/** Payouts are put together: a batch of them gets the next number, and with it a stream. Its own worker does all the rest. */

import { currentState, type Handle } from '../../../commands/handle.ts';
import type { Clock, CrashPoint } from '../../../commands/ports.ts';
import { newestNumber } from '../../../commands/sweeps/numbered.ts';
import type { Batching } from '../../../commands/transferPorts.ts';
import { type BatchState, openBatch, payoutBatch } from '../../../domain/batch/batch.ts';
import type { BatchOpened } from '../../../domain/batch/events.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal, refuse } from '../../../domain/decider.ts';
import { asMember, mayJoin } from '../../../domain/payment/batched.ts';
import { type Payment, paymentDecider } from '../../../domain/payment/state.ts';

export interface BatchDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly crash: CrashPoint;
  readonly rail: { readonly chainId: ChainId; readonly account: string };
  readonly batching: Batching;
}

export interface PutTogether {
  /** Null where none was opened. */
  readonly batch: string | null;
  /** Payments in it, and those that are to be paid by themselves. */
  readonly together: readonly string[];
  readonly alone: readonly string[];
  /** Why not all of them are in it. */
  readonly why?: string;
  /** Estimated for all of them together, and by themselves. */
  readonly gas?: bigint;
  readonly apart?: bigint;
}

export const batchIdOf = (chainId: ChainId, account: string, number: number): string =>
  `${chainId}-${account}-${number}`;

/**
 * Opens a batch of those that can be paid together and more cheaply than by themselves. Nobody is in it before his own payment says so.
 *
 * Crash after BatchOpened: the worker of transfers finds it in its list. Two at once: each takes a number, and a payment joins one of them.
 */
export async function putTogether(
  deps: BatchDeps,
  paymentIds: readonly string[],
  signal: AbortSignal,
): Promise<PutTogether> {
  const { handle, rail, batching } = deps;
  const found = await Promise.all(paymentIds.map((id) => currentState(handle, paymentDecider, id)));
  const may = found.filter(mayJoin).filter(({ terms: { destination } }) => destination.chainId === rail.chainId);
  const [first] = may;
  const same = may.filter(({ terms }) => terms.destination.token.address === first?.terms.destination.token.address);
  if (!first || same.length < 2) return { batch: null, together: [], alone: paymentIds };
  const orders = same.map((payment) => ({ ...asMember(payment), amount: BigInt(asMember(payment).amount) }));
  const { token } = first.terms.destination;
  const { together, ...chosen } = await batching.choose(token, orders, signal);
  const members = same.filter(({ terms }) => together.includes(terms.paymentId));
  const alone = paymentIds.filter((id) => !together.includes(id));
  if (members.length < 2) return { batch: null, together: [], alone: paymentIds, ...chosen };
  return { batch: await open(deps, members), together, alone, ...chosen };
}

async function open(deps: BatchDeps, members: readonly Payment[]): Promise<string | null> {
  const { handle, clock, crash, rail, batching } = deps;
  const [first] = members;
  if (!first) return null;
  const nameOf = (number: number) => batchIdOf(rail.chainId, rail.account, number);
  const isOpen = async (number: number) => (await currentState(handle, payoutBatch, nameOf(number))) !== null;
  const id = nameOf((await newestNumber(isOpen)) + 1);
  const { symbol, address, decimals } = first.terms.destination.token;
  const order: BatchOpened = {
    chainId: rail.chainId,
    account: rail.account,
    token: { symbol, address, decimals },
    contract: batching.contract,
    members: members.map(asMember),
    openedAt: clock.now(),
  };
  const decide = (state: BatchState) =>
    state ? refuse('conflict', `${id} is another one's`) : openBatch(state, order);
  const opened = await handle(payoutBatch, id, decide, { cause: 'worker:payouts', appId: null, expectNew: true });
  // Where somebody else was faster, the next look puts them together again.
  if (isRefusal(opened)) return null;
  await crash('batch.opened');
  return id;
}
