/**
 * Days of payments over floats of one token. The product's policy and its worker decide over one log, and their processes die. Burns, mints
 * and messages happen in a world with faults of its own (`floatMoves.ts`).
 */
import assert from 'node:assert/strict';
import { currentState } from '../../commands/handle.ts';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { cctpChainIds, fast } from '../../domain/rebalance/cctp.ts';
import { floatPlan, floatPlanOf, openMoves } from '../../domain/rebalance/floatPlan.ts';
import { transitOf } from '../../domain/rebalance/inTransit.ts';
import type { FloatView, PolicySettings } from '../../domain/rebalance/policy.ts';
import { type FloatSymbol, protocolOf } from '../../domain/rebalance/protocols.ts';
import { type Rebalance, rebalance } from '../../domain/rebalance/rebalance.ts';
import { usdt0ChainIds } from '../../domain/rebalance/usdt0.ts';
import { day_ms, epochMs, hour_ms, minute_ms, plus } from '../../domain/time.ts';
import { arrivingAt } from '../../queries/floatViews.ts';
import { AttestationsUnavailable } from '../../src/chains/attestations.ts';
import { cctpFees } from '../../src/workers/rebalances/fees.ts';
import { followPolicy } from '../../src/workers/rebalances/followPolicy.ts';
import { createFloatMoves } from './floatMoves.ts';
import { minute, treasuryAccount } from './payments.ts';
import { Crashed, processes } from './processes.ts';
import { sequence } from './sequence.ts';
import { messageFee_wei } from './usdt0.ts';

/** Their tokens have 6 decimals, as the policy counts. */
const onEvm = (chainId: ChainId): boolean => chainOf(chainId).family === 'evm';
const evmChainIds = cctpChainIds.filter(onEvm);

const usd = (dollars: number): bigint => BigInt(dollars) * 1_000_000n;
const opening = usd(10_000);
export const settings: PolicySettings = {
  mode: 'automatic',
  floats: new Map(
    evmChainIds.map((id) => [id, { minimum: usd(4_000), target: usd(10_000), maximum: usd(20_000) }] as const),
  ),
  dailyCap: usd(60_000),
  coolDown_ms: hour_ms,
  smallestMove: usd(200),
  largestMove: usd(50_000),
  automaticBelow: usd(50_000),
  fastFeeMax_bps: 14,
};
const round_ms = 10 * minute_ms;
export const roundsPerDay = day_ms / round_ms;
const { signal } = new AbortController();
/** 80 % of payouts leave from two chains, which change. */
const busyShare = 0.8;
const busyDays = 30;

interface Payment {
  readonly to: ChainId;
  readonly amount: bigint;
  readonly at_ms: number;
}

/** @param withPolicy false: nothing moves */
export function createDays(seed: number, { withPolicy = true, symbol = 'USDC' as FloatSymbol } = {}) {
  const chainIds = symbol === 'USDC' ? evmChainIds : usdt0ChainIds.filter(onEvm);
  const random = sequence(seed);
  // Demand has its own source, so that it is equal with and without the policy.
  const demand = sequence(seed + 1);
  const below = (max: number, source = random) => Math.floor(source() * max);
  const log = processes({ now: minute(0) });
  const start_ms = epochMs(minute(0));
  const floats = new Map<ChainId, bigint>(chainIds.map((id) => [id, opening]));
  const paid: Payment[] = [];
  let promised: Payment[] = [];
  /** Last move to each chain, for the cool-down. */
  const orders: { readonly at_ms: number; readonly amount: bigint; readonly to: ChainId }[] = [];
  const ordered = new Set<string>();
  const seen = {
    ...{ payments: 0, refused: 0, moves: 0, fastMoves: 0, expired: 0, byOthers: 0, crashes: 0, moved: 0n },
    /** Decisions while the attestation service was away. */
    awayRounds: 0,
  };
  const points = new Set<string>();
  /** Number of crash points that the process passes before it dies. It dies the first time at each point, too. */
  let pointsLeft = Number.POSITIVE_INFINITY;
  const crash = (point: string) => {
    pointsLeft -= 1;
    if (pointsLeft >= 0 && points.has(point)) return;
    points.add(point);
    seen.crashes += 1;
    throw new Crashed(point);
  };
  let handle = log.start({ crash });

  const now_ms = () => epochMs(log.time.now);
  const day = () => Math.floor((now_ms() - start_ms) / day_ms);
  const hour = () => Math.floor(((now_ms() - start_ms) % day_ms) / hour_ms);
  const add = (chainId: ChainId, amount: bigint) => floats.set(chainId, (floats.get(chainId) ?? 0n) + amount);
  const held = (chainId: ChainId) => floats.get(chainId) ?? 0n;
  /** Two hours of each week, while most payments are made. */
  const isAway = () => day() % 7 === 0 && hour() >= 12 && hour() < 14;
  const promisedOn = (chainId: ChainId) =>
    promised.reduce((sum, { to, amount }) => (to === chainId ? sum + amount : sum), 0n);

  const moves = createFloatMoves({
    ...{ symbol, clock: log.clock, start_ms, handle: () => handle, below, isAway, add },
    burned: (chainId) => assert.ok(held(chainId) >= promisedOn(chainId), 'a burn takes money that payments need'),
  });
  const { fateOf } = moves;

  /** Moves of the plan, and those that it has ended and a block that left its chain has opened again. */
  async function openNow(): Promise<readonly { readonly id: string; readonly state: Rebalance }[]> {
    const planned = openMoves(await currentState(handle, floatPlan, floatPlanOf(symbol)));
    const ids = new Set([...ordered, ...planned.map(({ rebalance: id }) => id)]);
    const states = await Promise.all(
      [...ids].map(async (id) => ({ id, state: await currentState(handle, rebalance, id) })),
    );
    const found = states.flatMap(({ id, state }) => (state ? [{ id, state }] : []));
    for (const { id, state } of found) if (!ordered.has(id)) count(id, state);
    return found;
  }

  /** Floats as the log has them: a burn or mint counts when it is recorded. */
  async function views(): Promise<readonly FloatView[]> {
    const open = await openNow();
    const [week, today] = [new Map<ChainId, bigint>(), new Map<ChainId, bigint>()];
    const dayAgo_ms = now_ms() - day_ms;
    for (const { to, at_ms, amount } of paid) {
      week.set(to, (week.get(to) ?? 0n) + amount);
      if (at_ms > dayAgo_ms) today.set(to, (today.get(to) ?? 0n) + amount);
    }
    return chainIds.map((chainId) => {
      const unrecorded = open.reduce((sum, { id, state: { ordered: order, burn, minted } }) => {
        const { burnedAt, minted: mint } = fateOf(id);
        const burned = order.from.chainId === chainId && burnedAt && !burn.settled ? BigInt(order.amount) : 0n;
        return sum + burned - (order.to.chainId === chainId && mint && !minted ? mint.received : 0n);
      }, 0n);
      return {
        chainId,
        float: held(chainId) + unrecorded,
        reserved: open.reduce(
          (sum, { state: { ordered: order, burn } }) =>
            order.from.chainId === chainId && !burn.settled ? sum + BigInt(order.amount) : sum,
          promisedOn(chainId),
        ),
        inTransit: open.reduce((sum, { state }) => sum + arrivingAt(chainId, symbol, state), 0n),
        outflow_day: today.get(chainId) ?? 0n,
        outflow_week: week.get(chainId) ?? 0n,
      };
    });
  }

  async function follow(): Promise<void> {
    const attestations = {
      async fees() {
        if (isAway()) throw new AttestationsUnavailable('weather');
        return [
          { finality: fast, fee_bps: 1 },
          { finality: 2_000, fee_bps: 0 },
        ];
      },
    };
    const endOf = (chainId: ChainId) => {
      const token = protocolOf[symbol].tokenOn(chainId);
      return token && { chainId, account: treasuryAccount, token };
    };
    const reads = { views, endOf, caughtUp: async () => {}, clockTrouble: () => undefined };
    // A message costs least from Polygon, which is the slowest source. Contracts state the fee while the executor is away, too.
    const messages = async () => ({
      feeOf: (from: ChainId) => from,
      messageFeeOf: () => messageFee_wei,
    });
    const fees = symbol === 'USDC' ? cctpFees(attestations) : messages;
    await followPolicy({ handle, clock: log.clock, symbol, settings, fees, ...reads }, signal);
  }

  /** Checks the policy's limits against the orders themselves. */
  function count(id: string, { ordered: { to, amount, route, orderedAt } }: Rebalance): void {
    ordered.add(id);
    const at_ms = epochMs(orderedAt);
    const last = orders.findLast((each) => each.to === to.chainId);
    assert.ok(!last || at_ms - last.at_ms >= settings.coolDown_ms, 'a chain cools down');
    orders.push({ at_ms, amount: BigInt(amount), to: to.chainId });
    const today = orders.reduce((sum, each) => (each.at_ms > at_ms - day_ms ? sum + each.amount : sum), 0n);
    assert.ok(today <= settings.dailyCap, 'the daily cap holds');
    seen.moves += 1;
    seen.moved += BigInt(amount);
    if (route.kind === 'cctp' && route.finality === fast) seen.fastMoves += 1;
    assert.ok(BigInt(route.feeMax) * 10_000n <= BigInt(amount) * BigInt(settings.fastFeeMax_bps));
  }

  /** No payments at night, most at noon. */
  const paymentsNow = () => (hour() < 4 ? 0 : hour() >= 10 && hour() < 14 ? 6 : 2);

  function pay(): void {
    for (const { to, amount } of promised) {
      assert.ok(held(to) >= amount, 'a promised payout has its money');
      add(to, -amount);
      paid.push({ to, amount, at_ms: now_ms() });
    }
    promised = [];
    const first = Math.floor(day() / busyDays) % 2 === 0 ? 0 : 2;
    for (let n = 0; n < paymentsNow(); n += 1) {
      const from = chainIds[below(chainIds.length, demand)] as ChainId;
      const isBusy = demand() < busyShare;
      const to = chainIds[(below(2, demand) + first + (isBusy ? 0 : 2)) % chainIds.length] as ChainId;
      const amount = usd(20 + below(200, demand));
      seen.payments += 1;
      // A refused payment is not made: its payer keeps the money. Money in transit is not counted on.
      if (held(to) - promisedOn(to) < amount + owedBurns(to)) seen.refused += 1;
      else {
        promised.push({ to, amount, at_ms: now_ms() });
        add(from, amount);
      }
    }
  }

  /** Burns that are ordered and not on their chain yet. */
  let owed: ReadonlyMap<ChainId, bigint> = new Map();
  const owedBurns = (chainId: ChainId) => owed.get(chainId) ?? 0n;
  async function countOwed(): Promise<void> {
    const sums = new Map<ChainId, bigint>();
    for (const { id, state } of await openNow()) {
      const { from, amount } = state.ordered;
      if (!fateOf(id).burnedAt) sums.set(from.chainId, (sums.get(from.chainId) ?? 0n) + BigInt(amount));
    }
    owed = sums;
  }

  /** Once a week at night an operator moves nearly all of two floats to a third one by hand: only a fast move of CCTP brings money soon. */
  function withdraw(): void {
    if (day() % 7 !== 3 || hour() !== 1 || (now_ms() - start_ms) % hour_ms !== 0) return;
    for (const chainId of [1, 137] as const) {
      const left = usd(50) + owedBurns(chainId);
      if (held(chainId) <= left) continue;
      add(symbol === 'USDC' ? 8453 : 42161, held(chainId) - left);
      floats.set(chainId, left);
    }
  }

  async function live(): Promise<void> {
    await follow();
    for (const { id } of await openNow()) await moves.travel(id);
  }

  return {
    seen,
    /** Sums and faults of the chains. */
    chains: moves.seen,
    /** Crash points at which a process has died. */
    points,
    async round(): Promise<void> {
      log.time.now = plus(log.time.now, round_ms);
      while (paid[0] && paid[0].at_ms < now_ms() - 7 * day_ms) paid.shift();
      pay();
      if (!withPolicy) return;
      withdraw();
      if (isAway()) seen.awayRounds += 1;
      pointsLeft = below(2) === 0 ? below(9) : Number.POSITIVE_INFINITY;
      // A process that dies is replaced at once; the next one dies at new points only.
      for (let alive = false; !alive; ) {
        alive = await live().then(
          () => true,
          (error: unknown) => {
            if (!(error instanceof Crashed)) throw error;
            pointsLeft = Number.POSITIVE_INFINITY;
            handle = log.start({ crash });
            return false;
          },
        );
      }
      await countOwed();
    },
    /** Checks the books: floats, money in transit and fees are the opening, and each move that is over has closed. */
    async close(): Promise<void> {
      const total = [...floats.values()].reduce((sum, each) => sum + each, 0n);
      assert.equal(total + moves.seen.inTransit + moves.seen.fees, BigInt(chainIds.length) * opening);
      let transit = 0n;
      for (const id of ordered) {
        const state = await currentState(handle, rebalance, id);
        assert.ok(state);
        const books = transitOf(state);
        assert.equal(books.burned, books.minted + books.fee + books.inTransit);
        transit += books.inTransit;
        if (!state.minted) continue;
        if (state.attested?.expirationBlock === 0n && fateOf(id).isRenewed) seen.expired += 1;
        if (state.minted.byOther) seen.byOthers += 1;
        ordered.delete(id);
      }
      assert.equal(transit, moves.seen.inTransit, 'the log and the chains agree on what is in transit');
    },
  };
}
