/** Groups payouts of one token into a batch if that is cheaper: once there are enough, or the oldest has waited long enough. */
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { Clock, CrashPoint } from '../../../commands/ports.ts';
import { newestNumber } from '../../../commands/sweeps/numbered.ts';
import type { Batching } from '../../../commands/transferPorts.ts';
import { type BatchOpened, type BatchState, openBatch, payoutBatch } from '../../../domain/batch/batch.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal, refuse } from '../../../domain/decider.ts';
import { asMember, mayJoin } from '../../../domain/payment/payout.ts';
import { type Payment, paymentDecider } from '../../../domain/payment/state.ts';
import { epochMs, type Instant, instant, plus } from '../../../domain/time.ts';
import type { WaitingPayout } from '../../../queries/transfers.ts';
import type { Worker } from '../engine.ts';

// Opens batches: a batch gets the next number, and with it a stream. Its own worker does the rest.

export interface BatchDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly crash: CrashPoint;
  readonly rail: { readonly chainId: ChainId; readonly account: string };
  readonly batching: Batching;
}

export interface PutTogether {
  /** Null if none was opened. */
  readonly batch: string | null;
  /** Payments in it, and payments to pay alone. */
  readonly together: readonly string[];
  readonly alone: readonly string[];
  /** Reason why not all of them are in it. */
  readonly why?: string;
  /** Estimated for the batch, and for single payouts. */
  readonly gas?: bigint;
  readonly apart?: bigint;
}

export const batchIdOf = (chainId: ChainId, account: string, number: number): string =>
  `${chainId}-${account}-${number}`;

/**
 * Opens a batch of payouts that are cheaper together than alone. No payment is in it before its own stream says so.
 *
 * Crash after BatchOpened: the payout worker finds it in its list. Two concurrent calls: each gets a number, and a payment joins one of
 * them.
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
  // If another process was faster, the next round groups them again.
  if (isRefusal(opened)) return null;
  await crash('batch.opened');
  return id;
}

export interface BatchesDeps extends BatchDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** Maximum payouts of one batch. */
  readonly most: number;
  readonly together: Together;
  /** Unsigned payouts on the chain, oldest first. */
  readonly waiting: (max: number, now: Instant) => Promise<readonly WaitingPayout[]>;
  readonly tell: (told: { batch: string | null; together: number; alone: number; why?: string }) => void;
}

/**
 * Shared state of the payout worker and the batch worker of one process. Only speed depends on it: a payment's stream decides whether it is
 * paid alone.
 */
export interface Together {
  readonly wait_ms: number;
  /** Payouts that the payout worker skips: those due after this time, except these. */
  left(now: Instant): { readonly since: Instant; readonly but: readonly string[] };
  /** True on the first call for a payment. */
  isNew(paymentId: string): boolean;
  looked(paymentIds: readonly string[], isAlone: boolean, now: Instant): void;
}

/** Additional time that the payout worker skips payouts: by then they are in a batch, or never will be. */
const grace_ms = 10_000;
const rememberedMax = 10_000;
const look_ms = 1_000;

export function createTogether(wait_ms: number): Together {
  const known = new Map<string, { readonly isAlone: boolean; readonly at_ms: number }>();
  return {
    wait_ms,
    left(now) {
      const since = plus(now, -(wait_ms + grace_ms));
      const late = [...known].filter(([, { isAlone, at_ms }]) => isAlone && at_ms > epochMs(since));
      return { since, but: late.map(([paymentId]) => paymentId) };
    },
    isNew: (paymentId) => !known.has(paymentId),
    looked(paymentIds, isAlone, now) {
      for (const each of paymentIds) known.set(each, { isAlone, at_ms: epochMs(now) });
      for (const [oldest] of known) {
        if (known.size <= rememberedMax) break;
        known.delete(oldest);
      }
    },
  };
}

export const batchesWorkerName = (chainId: ChainId): string => `batches:${chainId}`;

export function batchesWorker(deps: BatchesDeps): Worker<ChainId> {
  const { clock, rail, most, together, waiting, tell } = deps;
  let next_ms = 0;

  return {
    name: batchesWorkerName(rail.chainId),
    concurrency: 1,
    due: async (_, now) => (epochMs(now) < next_ms ? [] : [rail.chainId]),
    nextDue: (now) => (next_ms > epochMs(now) ? instant(next_ms) : null),
    keyOf: String,
    async act(_, signal) {
      next_ms = epochMs(clock.now()) + look_ms;
      for (let full = true; full && !signal.aborted; ) {
        const groups = await groupsNow();
        for (const group of groups) await form(group, signal);
        full = groups.some(({ length }) => length === most);
      }
    },
  };

  /** Payouts that are due, grouped by token. */
  async function groupsNow(): Promise<readonly (readonly WaitingPayout[])[]> {
    const now = clock.now();
    const fresh = (await waiting(rememberedMax, now)).filter(({ paymentId }) => together.isNew(paymentId));
    const groups = [...Map.groupBy(fresh, ({ tokenAddress }) => tokenAddress).values()];
    return groups.filter((group) => group.length >= most || isLate(group[0], now)).map((group) => group.slice(0, most));
  }

  function isLate(oldest: WaitingPayout | undefined, now: Instant): boolean {
    return oldest !== undefined && epochMs(now) - epochMs(oldest.dueAt) >= together.wait_ms;
  }

  async function form(group: readonly WaitingPayout[], signal: AbortSignal): Promise<void> {
    const ids = group.map(({ paymentId }) => paymentId);
    const put = await putTogether(deps, ids, signal).catch((error: unknown): PutTogether => {
      signal.throwIfAborted();
      // After any error none of them waits longer for it.
      return { batch: null, together: [], alone: ids, why: error instanceof Error ? error.message : String(error) };
    });
    const { batch, why } = put;
    together.looked(put.together, false, clock.now());
    together.looked(batch === null ? ids : put.alone, true, clock.now());
    tell({ batch, together: put.together.length, alone: put.alone.length, ...(why !== undefined && { why }) });
  }
}
