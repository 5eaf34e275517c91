/**
 * Knows whether each chain's treasury could pay all owed and promised amounts and one more payout: a few seconds old while there are
 * requests.
 */
import type { PayoutCostOf } from '../../../commands/createPayment.ts';
import { type Clock, Unavailable } from '../../../commands/ports.ts';
import { PayoutBlocked, type PayoutRail } from '../../../commands/transferPorts.ts';
import type { Chain, ChainId, Token } from '../../../domain/chains.ts';
import { type Refusal, refuse } from '../../../domain/decider.ts';
import { convert, formatAmount, usDollar } from '../../../domain/money.ts';
import { coinInMicroUsd } from '../../../domain/payment/fees.ts';
import type { Arriving } from '../../../domain/rebalance/inTransit.ts';
import { epochMs, type Instant, isAfter, minute_ms, plus } from '../../../domain/time.ts';
import type { Obligation, Promised } from '../../../queries/payouts.ts';
import type { CoinSettings } from '../../chains/money/coins.ts';
import { ChainUnavailable } from '../../chains/node/nodes.ts';

// Amounts that open payments promise of a treasury's float before they are paid. Promises are free, and anyone can make them: so an app's
// own promises count in full against its next payment, and those of all others up to half of the float.

/** Maximum share of the float for others' promises. */
const othersShare = 2n;

/** Null: callers without a key. */
export type Promisor = string | null;

type Sums = Map<string, Map<Promisor, bigint>>;

export interface Promises {
  /** Adds a new promise that the read models do not contain yet. */
  add(route: string, by: Promisor, amount: bigint): void;
  /** Sets the promises of the read models. */
  known(all: readonly Promised[]): void;
  /** Amount that is not free for one more. @param float in smallest units */
  against(route: string, by: Promisor, float: bigint): bigint;
}

export const routeKey = (chainId: ChainId | number, tokenAddress: string): string => `${chainId}:${tokenAddress}`;

export function createPromises(): Promises {
  let recorded: Sums = new Map();
  // A promise counts until the read models were queried twice: if the first result lacks it, the second contains it.
  let lately: Sums = new Map();
  let before: Sums = new Map();

  const of = (route: string, count: (by: Promisor) => boolean): bigint =>
    [recorded, lately, before]
      .flatMap((sums) => [...(sums.get(route) ?? [])])
      .reduce((sum, [by, amount]) => (count(by) ? sum + amount : sum), 0n);

  return {
    add: (route, by, amount) => put(lately, route, by, amount),
    known(all) {
      recorded = new Map();
      for (const { chainId, tokenAddress, appId, amount } of all)
        put(recorded, routeKey(chainId, tokenAddress), appId, amount);
      before = lately;
      lately = new Map();
    },
    against(route, by, float) {
      const own = by === null ? 0n : of(route, (each) => each === by);
      const others = of(route, (each) => by === null || each !== by);
      const most = float / othersShare;
      return own + (others < most ? others : most);
    },
  };
}

const later = (a: Instant, b: Instant): Instant => (isAfter(a, b) ? a : b);

function put(sums: Sums, route: string, by: Promisor, amount: bigint): void {
  const own = sums.get(route) ?? new Map<Promisor, bigint>();
  own.set(by, (own.get(by) ?? 0n) + amount);
  sums.set(route, own);
}

export interface RouteGuardDeps {
  readonly clock: Clock;
  readonly rails: readonly PayoutRail[];
  /** The signer's limit. A payment whose payout it would not sign is refused. */
  readonly perTransfer_usd: bigint;
  readonly obligations: () => Promise<readonly Obligation[]>;
  readonly promised: () => Promise<readonly Promised[]>;
  /** Changes whenever the results of these two may have changed. */
  readonly changes: () => number;
  readonly alarm: (reason: string, facts: Readonly<Record<string, unknown>>, message: string) => void;
  readonly observeFloat?: (chainId: number, token: Token, amount: bigint) => void;
  /** Money in transit to the treasury's accounts. Default: none is expected. */
  readonly arriving?: () => Promise<readonly Arriving[]>;
}

interface Snapshot {
  readonly at_ms: number;
  readonly gas: bigint;
  readonly tokens: Readonly<Record<string, bigint>>;
}

const refresh_ms = 3_000;
/** Maximum age of a balance without requests and without changes of the owed amounts. */
const unasked_ms = 15_000;
/** An older balance counts as unknown. */
const stale_ms = 60_000;
/** Money in transit changes slowly. */
const arrivals_ms = 15_000;
/** Money that is later than this is not counted on. */
const lateMost_ms = 10 * minute_ms;
/** An attested burn needs a transaction at least. */
const soonest_ms = 30_000;
/** Minimum interval of alarms: anyone can request more than there is, repeatedly. */
const alarmAgain_ms = 60_000;

export function createRouteGuard(deps: RouteGuardDeps) {
  const { clock, rails, perTransfer_usd, obligations, promised, changes, alarm, observeFloat } = deps;
  let arrivals: { readonly at_ms: number; readonly all: readonly Arriving[] } | null = null;
  const promises = createPromises();
  const floats = new Map<ChainId, Snapshot>();
  const alarmedAt = new Map<string, number>();
  let owed: ReadonlyMap<string, bigint> = new Map();
  let refreshed: { readonly at_ms: number; readonly changes: number } | null = null;
  let asked = false;

  async function refresh(signal: AbortSignal): Promise<void> {
    const at_ms = epochMs(clock.now());
    const known = { at_ms, changes: changes() };
    refreshed = null;
    asked = false;
    await Promise.all(
      rails.map(async (rail) => {
        const balances = await rail.balances(signal).catch(() => undefined);
        if (balances) floats.set(rail.chainId, { at_ms, ...balances });
      }),
    );
    const [sums, open] = await Promise.all([obligations(), promised()]);
    if (deps.arriving && (arrivals === null || at_ms - arrivals.at_ms >= arrivals_ms))
      arrivals = { at_ms, all: await deps.arriving() };
    owed = new Map(sums.map(({ chainId, tokenAddress, amount }) => [routeKey(chainId, tokenAddress), amount]));
    promises.known(open);
    // A chain that did not answer is queried again soon.
    if (rails.every(({ chainId }) => floats.get(chainId)?.at_ms === at_ms)) refreshed = known;
  }

  const isDue = () => asked || refreshed?.changes !== changes() || epochMs(clock.now()) - refreshed.at_ms >= unasked_ms;

  function raise(route: string, facts: Readonly<Record<string, unknown>>): void {
    const now_ms = epochMs(clock.now());
    if (now_ms - (alarmedAt.get(route) ?? Number.NEGATIVE_INFINITY) < alarmAgain_ms) return;
    alarmedAt.set(route, now_ms);
    alarm('routeUnavailable', facts, 'a payment was refused because the treasury cannot cover it: add float or gas');
  }

  const freeOf = (route: string, by: Promisor, held: bigint): bigint =>
    held - (owed.get(route) ?? 0n) - promises.against(route, by, held);

  /** Returns when the amount can be paid out with money that is in transit now; null if it can never be with that alone. */
  function coveredAt(chain: Chain, token: Token, amount: bigint | null, by: Promisor): Instant | null {
    const now = clock.now();
    const route = routeKey(chain.id, token.address);
    let held = floats.get(chain.id)?.tokens[token.address] ?? 0n;
    const expected = (arrivals?.all ?? [])
      .filter((each) => each.chainId === chain.id && each.token === token.address)
      .filter(({ expectedAt }) => epochMs(expectedAt) + lateMost_ms > epochMs(now))
      .toSorted((a, b) => epochMs(a.expectedAt) - epochMs(b.expectedAt));
    for (const each of expected) {
      held += each.amount;
      if (freeOf(route, by, held) >= (amount ?? 1n)) return later(each.expectedAt, plus(now, soonest_ms));
    }
    return null;
  }

  const isCovered = (chain: Chain, token: Token, amount: bigint | null, by: Promisor): boolean => {
    const available = freeOf(routeKey(chain.id, token.address), by, floats.get(chain.id)?.tokens[token.address] ?? 0n);
    return available > 0n && (amount === null || amount <= available);
  };

  function look(
    chain: Chain,
    token: Token,
    amount: bigint | null,
    pointer: string,
    by: Promisor,
    life_ms = 0,
  ): Refusal | undefined {
    if (amount !== null && amount > convert(perTransfer_usd, usDollar, token)) {
      const message = `one payment can pay out at most ${perTransfer_usd} ${token.symbol} here: split it`;
      return refuse('invalidRequest', message, pointer);
    }
    asked = true;
    const float = floats.get(chain.id);
    if (!float || epochMs(clock.now()) - float.at_ms > stale_ms) {
      return refuse('routeUnavailable', `${chain.name} cannot be reached at present: try again in a moment`);
    }
    const route = routeKey(chain.id, token.address);
    const held = float.tokens[token.address] ?? 0n;
    const available = freeOf(route, by, held);
    observeFloat?.(chain.id, token, held);
    if (float.gas > 0n && isCovered(chain, token, amount, by)) return undefined;
    const expectedAt = float.gas > 0n ? coveredAt(chain, token, amount, by) : null;
    const wait_ms = expectedAt === null ? null : epochMs(expectedAt) - epochMs(clock.now());
    if (wait_ms !== null && wait_ms <= life_ms) return undefined;
    raise(route, {
      chainId: chain.id,
      token: token.symbol,
      available: formatAmount(available, token.decimals),
      gas: float.gas.toString(),
    });
    if (wait_ms !== null) {
      const message = `${token.symbol} on ${chain.name} can be paid out again at about ${expectedAt}: try again then or choose another route`;
      return { ...refuse('routeUnavailable', message), retryAfter_s: Math.ceil(wait_ms / 1_000) };
    }
    return refuse(
      'routeUnavailable',
      `${token.symbol} on ${chain.name} cannot be paid out at present: try again later or choose another route`,
    );
  }

  return {
    refresh,

    /** Refreshes until the signal aborts. */
    async watch(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        // Without Postgres the last balances are used until they are stale. Readiness reports the outage.
        if (isDue()) await refresh(signal).catch(() => {});
        await clock.sleep(refresh_ms, signal);
      }
    },

    /**
     * Refuses if the payout could not be made.
     *
     * @param amount of the payout; null for a payment that accepts any amount
     * @param pointer of the request's field with the amount
     * @param by app of the key; null without a key
     * @param life_ms of the payment: money that arrives within it counts
     */
    look,

    /** Returns when the payout can be made, if it waits for money in transit; null if it does not wait. */
    expectedAt: (chain: Chain, token: Token, amount: bigint | null, by: Promisor): Instant | null =>
      isCovered(chain, token, amount, by) ? null : coveredAt(chain, token, amount, by),

    /** The same check; an accepted amount counts as promised from now on. */
    check(
      chain: Chain,
      token: Token,
      amount: bigint | null,
      pointer: string,
      by: Promisor,
      life_ms?: number,
    ): Refusal | undefined {
      const refusal = look(chain, token, amount, pointer, by, life_ms);
      if (!refusal) promises.add(routeKey(chain.id, token.address), by, amount ?? 0n);
      return refusal;
    },
  };
}

// Cost of payouts on each chain, in dollars: from its nodes' fees within the last seconds, and the coin's configured price.

export interface PayoutCostsDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly rails: ReadonlyMap<ChainId, Pick<PayoutRail, 'transferCost' | 'receiverCost'>>;
  readonly coins: ReadonlyMap<ChainId, Pick<CoinSettings, 'decimals' | 'price_microUsd' | 'leastPayout_microUsd'>>;
}

/** Life of a price. */
const costFresh_ms = 15_000;
/** Maximum age of a price while the nodes are queried for a new one: it allows for a rise. */
const costStale_ms = 60_000;
const answer_ms = 5_000;
const retryAfter_s = 5;

interface KnownCost {
  readonly coin: bigint;
  readonly at_ms: number;
}

/** Throws Unavailable for a chain that cannot be queried: a cost is never guessed. */
export function createPayoutCosts({ clock, rails, coins }: PayoutCostsDeps): PayoutCostOf {
  const known = new Map<ChainId, KnownCost>();
  const asking = new Map<ChainId, Promise<bigint>>();

  /** One query for any number of waiters. */
  function transferCost(chainId: ChainId, rail: Pick<PayoutRail, 'transferCost'>): Promise<bigint> {
    const last = known.get(chainId);
    const age_ms = last ? epochMs(clock.now()) - last.at_ms : Number.POSITIVE_INFINITY;
    if (last && age_ms < costFresh_ms) return Promise.resolve(last.coin);
    const asked = asking.get(chainId) ?? ask(chainId, rail).finally(() => asking.delete(chainId));
    asking.set(chainId, asked);
    asked.catch(() => {});
    return last && age_ms < costStale_ms ? Promise.resolve(last.coin) : asked;
  }

  async function ask(chainId: ChainId, rail: Pick<PayoutRail, 'transferCost'>): Promise<bigint> {
    const coin = await rail.transferCost(AbortSignal.timeout(answer_ms));
    known.set(chainId, { coin, at_ms: epochMs(clock.now()) });
    return coin;
  }

  return async (chain, token, receiver) => {
    const rail = rails.get(chain.id);
    const coin = coins.get(chain.id);
    if (!rail || !coin) throw new Unavailable(`${chain.name} is not served`, retryAfter_s);
    try {
      const [usual, own] = await Promise.all([
        transferCost(chain.id, rail),
        rail.receiverCost?.({ token, receiver }, AbortSignal.timeout(answer_ms)),
      ]);
      return {
        cost_microUsd: coinInMicroUsd(usual + (own?.coin ?? 0n), coin),
        least_microUsd: coin.leastPayout_microUsd,
        ...(own?.opensAccount !== undefined && { opensAccount: own.opensAccount }),
      };
    } catch (error) {
      if (!(error instanceof ChainUnavailable || error instanceof PayoutBlocked || isTimeout(error))) throw error;
      throw new Unavailable(`what a payout on ${chain.name} costs is not known at present`, retryAfter_s, {
        cause: error,
      });
    }
  };
}

/** Returns true for the reason with which AbortSignal.timeout ends a read: the nodes were slower than a creator waits. */
const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError';
