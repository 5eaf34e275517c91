/**
 * Sweeps of a chain are ordered as operations in the log; the engine signs and sends them, here nobody has a key. A run is a few
 * transactions, and the next one begins when all of them are over.
 */

import { convert, usMillionth } from '../../domain/dollars.ts';
import { unitsText } from '../../domain/money.ts';
import type { Operation } from '../../domain/treasury/operation.ts';
import type { OperationOrdered } from '../../domain/treasury/operationEvents.ts';
import type { Clock, CrashPoint } from '../ports.ts';
import { begin, lookAfter, type NameOf, type NumberedDeps, nameIn, newestRun, openParts } from './numbered.ts';
import type { DepositSweep, HeldDeposit, LeftDeposit, PaidDeposit, SweepPart, SweepPlan } from './ports.ts';

// Which deposits are worth the network's fee for taking them.

/** What a chain's coin is reckoned at. */
export interface CoinPrice {
  readonly decimals: number;
  /** Of a whole coin, in millionths of a dollar. */
  readonly price_microUsd: bigint;
}

export interface SweepLimits {
  /** What a deposit must hold at least, in millionths of a dollar. */
  readonly least_microUsd: bigint;
  /** Most that is paid for one of gas, in smallest units of the coin; null for the chain's own limit. */
  readonly gasPriceMax: bigint | null;
  /** Also what costs more than it brings. */
  readonly evenAtALoss: boolean;
}

/** A token counts as one dollar. @returns in millionths of one, rounded down */
export const worthOf = ({ amount, token }: Pick<HeldDeposit, 'amount' | 'token'>): bigint =>
  convert(amount, token, usMillionth);

/** @returns in millionths of a dollar, rounded up; negative where more comes back */
export function costOf({ cost }: Pick<SweepPart, 'cost'>, { decimals, price_microUsd }: CoinPrice): bigint {
  const one = 10n ** BigInt(decimals);
  const product = cost * price_microUsd;
  return product > 0n ? (product + one - 1n) / one : product / one;
}

/** All deposits of a transaction have an equal share of what it costs: each uses about the same gas. */
function parted(part: SweepPart, coin: CoinPrice) {
  const count = BigInt(part.deposits.length);
  const cost = costOf(part, coin);
  const pays = (deposit: HeldDeposit) => worthOf(deposit) * count >= cost;
  return { worth: part.deposits.filter(pays), dear: part.deposits.filter((deposit) => !pays(deposit)) };
}

const tooDear = 'holds less than taking it costs';

/**
 * Plans only what pays for itself, unless told otherwise: what does not is taken out, and the others are planned again without it.
 * @param held of one token, those that hold most first
 */
export async function planWorth(
  sweep: DepositSweep,
  held: readonly HeldDeposit[],
  { coin, limits, signal }: { readonly coin: CoinPrice; readonly limits: SweepLimits; readonly signal: AbortSignal },
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

// What a sweep of a chain would take: what deposits of ended payments hold, put together in transactions that are worth their cost.

export interface PlanDeps {
  readonly sweep: DepositSweep;
  readonly coin: CoinPrice;
  /**
   * Deposits that money was recorded at, of payments that are over, a page at a time.
   * @param after the last of the page before; null for the first page
   */
  readonly paid: (after: PaidDeposit | null, max: number) => Promise<readonly PaidDeposit[]>;
  /** Has a deposit's whole history read, because the deposit holds money that its payment has not recorded. */
  readonly readUnrecorded: (address: string) => Promise<void>;
}

export type PlanNews =
  /** So many deposits were asked about so far. */
  | { readonly kind: 'looked'; readonly deposits: number }
  | { readonly kind: 'left'; readonly deposit: LeftDeposit }
  /** Transactions that can be under way together. What is in them is not planned again. */
  | { readonly kind: 'planned'; readonly parts: readonly SweepPart[] };

/** Deposits that one go takes up; what is beyond the next one finds. */
const foundMax = 20_000;

/**
 * Those that hold most first. Each step is planned when it is asked for, by what the chain shows then.
 * @throws PayoutBlocked when nothing can be swept now, ChainUnavailable, Unavailable
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
    // What is neither planned nor left had no room: it is next.
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

/** What they hold by now: since they were found, time has passed. */
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

/** What happens on the way, for whoever watches. */
export type SweepNews =
  | Exclude<PlanNews, { kind: 'planned' }>
  | { readonly kind: 'ordered'; readonly id: string; readonly part: SweepPart }
  | { readonly kind: 'ended'; readonly id: string; readonly operation: Operation }
  /** Somebody else sweeps this chain at the same time. */
  | { readonly kind: 'elsewhere' };

const look_ms = 1_000;

const namesOf =
  ({ chainId, account }: DepositSweep): NameOf =>
  (run, part) =>
    `sweep-${chainId}-${account}-${run}-${part}`;

/**
 * Takes all that is worth it, and waits for each transaction's end. What was begun before, here or elsewhere, is waited for first.
 *
 * Crash at any place: what is ordered is done by the engine, and the next sweep waits for it; what is not ordered is found again.
 * @throws PayoutBlocked when nothing can be swept now, ChainUnavailable, Unavailable; what the signal aborts with
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
