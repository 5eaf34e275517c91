/**
 * Sweeps are ordered as operations in the log; the engine signs and sends them, and this code has no key. A run is a few transactions, and
 * the next run begins when all of them are over.
 */

import { convert, unitsText, usMillionth } from '../../domain/money.ts';
import type { Operation, OperationOrdered } from '../../domain/treasury/operation.ts';
import type { Clock, CrashPoint } from '../ports.ts';
import { begin, lookAfter, type NameOf, type NumberedDeps, nameIn, newestRun, openParts } from './numbered.ts';
import type { DepositSweep, HeldDeposit, LeftDeposit, PaidDeposit, SweepPart, SweepPlan } from './ports.ts';

// Decides which deposits are worth the network's fee.

/** Price of a chain's coin. */
export interface SweepCoin {
  readonly decimals: number;
  /** Per whole coin, in millionths of a dollar. */
  readonly price_microUsd: bigint;
}

export interface SweepLimits {
  /** Minimum balance of a deposit, in millionths of a dollar. */
  readonly least_microUsd: bigint;
  /** Maximum price of a unit of gas, in smallest units of the coin; null for the chain's own limit. */
  readonly gasPriceMax: bigint | null;
  /** Also sweeps deposits that cost more than they hold. */
  readonly evenAtALoss: boolean;
}

/** A token counts as one dollar. @returns millionths of a dollar, rounded down */
export const worthOf = ({ amount, token }: Pick<HeldDeposit, 'amount' | 'token'>): bigint =>
  convert(amount, token, usMillionth);

/** @returns millionths of a dollar, rounded up; negative if more is returned */
export function sweepCost({ cost }: Pick<SweepPart, 'cost'>, { decimals, price_microUsd }: SweepCoin): bigint {
  const one = 10n ** BigInt(decimals);
  const product = cost * price_microUsd;
  return product > 0n ? (product + one - 1n) / one : product / one;
}

/** All deposits of a transaction bear equal shares of its cost: each uses about the same gas. */
function parted(part: SweepPart, coin: SweepCoin) {
  const count = BigInt(part.deposits.length);
  const cost = sweepCost(part, coin);
  const pays = (deposit: HeldDeposit) => worthOf(deposit) * count >= cost;
  return { worth: part.deposits.filter(pays), dear: part.deposits.filter((deposit) => !pays(deposit)) };
}

const tooDear = 'holds less than taking it costs';

/**
 * By default plans only deposits above their cost: others are removed, and the rest is planned again.
 * @param held of one token, largest balance first
 */
export async function planWorth(
  sweep: DepositSweep,
  held: readonly HeldDeposit[],
  { coin, limits, signal }: { readonly coin: SweepCoin; readonly limits: SweepLimits; readonly signal: AbortSignal },
): Promise<SweepPlan> {
  const first = await sweep.plan(held, sweep.partsMax, signal);
  if (limits.evenAtALoss) return first;
  const parts: SweepPart[] = [];
  const left: LeftDeposit[] = [...first.left];
  const leave = (deposits: readonly HeldDeposit[]) => left.push(...deposits.map((each) => ({ ...each, why: tooDear })));
  for (const part of first.parts) {
    const { worth, dear } = parted(part, coin);
    leave(dear);
    if (dear.length === 0) parts.push(part);
    else if (worth.length > 0) {
      const again = await sweep.plan(worth, sweep.partsMax, signal);
      left.push(...again.left);
      for (const each of again.parts) {
        if (parted(each, coin).dear.length > 0) leave(each.deposits);
        else parts.push(each);
      }
    }
  }
  return { parts: parts.slice(0, sweep.partsMax), left };
}

// Plans a chain's sweep: deposits of ended payments, grouped into transactions that are worth their cost.

export interface PlanDeps {
  readonly sweep: DepositSweep;
  readonly coin: SweepCoin;
  /**
   * Deposits with recorded money, of payments that are over, one page at a time.
   * @param after the last of the previous page; null for the first page
   */
  readonly paid: (after: PaidDeposit | null, max: number) => Promise<readonly PaidDeposit[]>;
  /** Reads a deposit's whole history, because the deposit holds money that its payment has not recorded. */
  readonly readUnrecorded: (address: string) => Promise<void>;
}

export type PlanNews =
  /** Number of deposits checked so far. */
  | { readonly kind: 'looked'; readonly deposits: number }
  | { readonly kind: 'left'; readonly deposit: LeftDeposit }
  /** Transactions that can run concurrently. Their deposits are not planned again. */
  | { readonly kind: 'planned'; readonly parts: readonly SweepPart[] };

/** Maximum deposits of one run; the next run finds the others. */
const foundMax = 20_000;

/**
 * Largest balances first. Each step is planned on demand, from the chain's current state.
 * @throws PayoutBlocked if nothing can be swept now, ChainUnavailable, Unavailable
 */
export async function* planAll(deps: PlanDeps, limits: SweepLimits, signal: AbortSignal): AsyncGenerator<PlanNews> {
  const { sweep, coin } = deps;
  await sweep.ready(limits.gasPriceMax, signal);
  let waiting: readonly HeldDeposit[] = [];
  for await (const { deposits, held } of lookAround(deps, signal)) {
    const [enough, little] = apart(held, (each) => worthOf(each) >= limits.least_microUsd);
    waiting = [...waiting, ...enough];
    for (const each of little)
      yield { kind: 'left', deposit: { ...each, why: 'holds less than the least that is swept' } };
    yield { kind: 'looked', deposits };
    if (waiting.length >= foundMax) break;
  }
  waiting = waiting.toSorted(mostFirst);
  while (waiting.length > 0) {
    const token = waiting[0]?.token;
    const chunk = waiting.filter((each) => each.token === token).slice(0, sweep.partsMax * sweep.depositsMax);
    await sweep.ready(limits.gasPriceMax, signal);
    const fresh = (await heldNow(sweep, chunk, signal)).filter((each) => each.token === token).toSorted(mostFirst);
    const { parts, left } = await planWorth(sweep, fresh, { coin, limits, signal });
    for (const deposit of left) {
      if (deposit.unrecorded) await deps.readUnrecorded(deposit.address);
      yield { kind: 'left', deposit };
    }
    if (parts.length > 0) yield { kind: 'planned', parts };
    // Deposits that are neither planned nor excluded wait for the next transaction.
    const settled = addressesOf([...parts.flatMap(({ deposits }) => deposits), ...left]);
    const later =
      parts.length === 0 ? new Set<string>() : addressesOf(fresh.filter(({ address }) => !settled.has(address)));
    const done = new Set(chunk.filter(({ address }) => !later.has(address)));
    waiting = waiting.filter((each) => !done.has(each));
  }
}

async function* lookAround({ sweep, paid }: PlanDeps, signal: AbortSignal) {
  let deposits = 0;
  for (let after: PaidDeposit | null = null; ; ) {
    const page: readonly PaidDeposit[] = await paid(after, sweep.heldMax);
    deposits += page.length;
    yield { deposits, held: page.length === 0 ? [] : await sweep.held(page, signal) };
    const last: PaidDeposit | undefined = page.at(-1);
    if (!last || page.length < sweep.heldMax) return;
    after = last;
  }
}

/** Current balances, because time has passed since the search. */
async function heldNow(sweep: DepositSweep, chunk: readonly HeldDeposit[], signal: AbortSignal) {
  const held: HeldDeposit[] = [];
  for (let from = 0; from < chunk.length; from += sweep.heldMax)
    held.push(...(await sweep.held(chunk.slice(from, from + sweep.heldMax), signal)));
  return held;
}

const mostFirst = (a: HeldDeposit, b: HeldDeposit): number => (a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0);

const addressesOf = (deposits: readonly { readonly address: string }[]): ReadonlySet<string> =>
  new Set(deposits.map(({ address }) => address));

function apart<T>(items: readonly T[], is: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [items.filter(is), items.filter((item) => !is(item))];
}

export interface SweepDeps extends NumberedDeps, PlanDeps {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly crash: CrashPoint;
}

/** Progress events for the caller. */
export type SweepNews =
  | Exclude<PlanNews, { kind: 'planned' }>
  | { readonly kind: 'ordered'; readonly id: string; readonly part: SweepPart }
  | { readonly kind: 'ended'; readonly id: string; readonly operation: Operation }
  /** Another process sweeps this chain at the same time. */
  | { readonly kind: 'elsewhere' };

const look_ms = 1_000;

const namesOf =
  ({ chainId, account }: DepositSweep): NameOf =>
  (run, part) =>
    `sweep-${chainId}-${account}-${run}-${part}`;

/**
 * Sweeps all deposits that are worth it, and waits for each transaction's end. Waits first for operations that were begun before, here or
 * elsewhere.
 *
 * Crash at any point: the engine completes ordered operations, and the next sweep waits for them; deposits without an order are found
 * again.
 * @throws PayoutBlocked if nothing can be swept now, ChainUnavailable, Unavailable; the signal's reason
 */
export async function* sweepAll(deps: SweepDeps, limits: SweepLimits, signal: AbortSignal): AsyncGenerator<SweepNews> {
  const nameOf = namesOf(deps.sweep);
  let run = await newestRun(deps, nameOf);
  yield* untilOver(deps, await openParts(deps, nameOf, run), signal);
  for await (const news of planAll(deps, limits, signal)) {
    if (news.kind !== 'planned') yield news;
    else {
      run += 1;
      const ids: string[] = [];
      for (const [at, part] of news.parts.entries()) {
        const id = nameOf(run, at + 1);
        if (await begin(deps, id, orderFor(deps, part))) return yield { kind: 'elsewhere' };
        await deps.crash('sweep.ordered');
        ids.push(id);
        yield { kind: 'ordered', id, part };
      }
      yield* untilOver(deps, ids, signal);
    }
  }
}

async function* untilOver(deps: SweepDeps, ids: readonly string[], signal: AbortSignal): AsyncGenerator<SweepNews> {
  const open = new Set(ids);
  while (open.size > 0) {
    for (const id of open) {
      const known = await lookAfter(deps, id);
      if (known && !known.over) continue;
      open.delete(id);
      if (known) yield { kind: 'ended', id, operation: known.operation };
    }
    signal.throwIfAborted();
    if (open.size > 0) await deps.clock.sleep(look_ms, signal);
  }
}

function orderFor({ sweep, by, clock }: SweepDeps, { token, deposits }: SweepPart): OperationOrdered {
  const { chainId, account } = sweep;
  return {
    kind: 'sweep',
    chainId,
    account,
    token: { symbol: token.symbol, address: token.address, decimals: token.decimals },
    form: { kind: 'flush', deposits: deposits.map(({ address, salt }) => ({ address, salt })) },
    receiver: account,
    receiverMemo: null,
    amount: unitsText(deposits.reduce((sum, { amount }) => sum + amount, 0n)),
    value_microUsd: '0',
    approvals: 0,
    reason: `${deposits.length} deposits of payments that are over`,
    by: nameIn(by),
    orderedAt: clock.now(),
  };
}
