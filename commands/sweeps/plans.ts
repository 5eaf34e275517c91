/** What a sweep of a chain would take: what deposits of ended payments hold, put together in transactions that are worth their cost. */
import type { DepositSweep, HeldDeposit, LeftDeposit, PaidDeposit, SweepPart } from './ports.ts';
import { type CoinPrice, planWorth, type SweepLimits, worthOf } from './worth.ts';

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
