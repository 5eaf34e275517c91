/**
 * Days of payments over floats of one token. The product's policy and its worker decide over one log; burns, mints and attestations happen in a world
 * with faults: processes die, a block leaves its chain, messages expire, others mint, and the attestation service is away.
 */
import assert from 'node:assert/strict';
import { currentState } from '../../commands/handle.ts';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { parseBurnMessage } from '../../domain/rebalance/burnMessage.ts';
import { type CctpChainId, cctpChainIds, fast, travelTime_ms } from '../../domain/rebalance/cctp.ts';
import { isCctp } from '../../domain/rebalance/events.ts';
import { floatPlan, floatPlanOf, openMoves } from '../../domain/rebalance/floatPlan.ts';
import { transitOf } from '../../domain/rebalance/inTransit.ts';
import type { FloatView, PolicySettings } from '../../domain/rebalance/policy.ts';
import { type FloatSymbol, protocolOf } from '../../domain/rebalance/protocols.ts';
import {
  burnPart,
  mintPart,
  nextRebalanceStep,
  orphanMintByOther,
  type Rebalance,
  type RebalanceState,
  rebalance,
  rebalanceLegs,
} from '../../domain/rebalance/rebalance.ts';
import { usdt0ChainIds } from '../../domain/rebalance/usdt0.ts';
import { day_ms, epochMs, hour_ms, type Instant, minute_ms, plus } from '../../domain/time.ts';
import { arrivingAt } from '../../queries/floatViews.ts';
import { AttestationsUnavailable } from '../../src/chains/attestations.ts';
import type { MintFound } from '../../src/chains/mints.ts';
import { attend } from '../../src/workers/rebalances/attend.ts';
import { cctpFees } from '../../src/workers/rebalances/fees.ts';
import { followPolicy } from '../../src/workers/rebalances/followPolicy.ts';
import { hashOf, minute, treasuryAccount } from './payments.ts';
import { Crashed, processes } from './processes.ts';
import { attestation, burnAttempt, messageOf, mintAttempt, proof } from './rebalances.ts';
import { sequence } from './sequence.ts';
import { guid, messageFee_wei } from './usdt0.ts';

/** Their tokens have 6 decimals, as the policy counts. */
const evmChainIds = cctpChainIds.filter((chainId) => chainOf(chainId).family === 'evm');

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
const facts = { cause: 'worker:test', appId: null } as const;
const { signal } = new AbortController();
/** 80 % of payouts leave from two chains, which change. */
const busyShare = 0.8;
const busyDays = 30;
const block_ms = 12_000;
const expiresAfter_blocks = 25n;

/** Facts of a move that only its chains and the attestation service know. */
interface Fate {
  readonly isReordered: boolean;
  readonly expires: boolean;
  readonly minter: 'treasury' | 'strangerFirst' | 'strangerRaces';
  burnedAt: Instant | null;
  burnBlock: number;
  mintBlock: number;
  /** Parts whose block has left its chain. */
  readonly gone: Set<number>;
  minted: (MintFound & { readonly byOther: boolean }) | null;
  isRenewed: boolean;
  expirationBlock: bigint | null;
}

interface Payment {
  readonly to: ChainId;
  readonly amount: bigint;
  readonly at_ms: number;
}

/** @param withPolicy false: nothing moves */
export function createDays(seed: number, { withPolicy = true, symbol = 'USDC' as FloatSymbol } = {}) {
  const chainIds = symbol === 'USDC' ? evmChainIds : usdt0ChainIds;
  const random = sequence(seed);
  // Demand has its own source, so that it is equal with and without the policy.
  const demand = sequence(seed + 1);
  const below = (max: number, source = random) => Math.floor(source() * max);
  const log = processes({ now: minute(0) });
  const start_ms = epochMs(minute(0));
  const floats = new Map<ChainId, bigint>(chainIds.map((id) => [id, opening]));
  const fates = new Map<string, Fate>();
  const paid: Payment[] = [];
  let promised: Payment[] = [];
  /** Last move to each chain, for the cool-down. */
  const orders: { readonly at_ms: number; readonly amount: bigint; readonly to: ChainId }[] = [];
  const ordered = new Set<string>();
  const seen = {
    ...{ payments: 0, refused: 0, moves: 0, fastMoves: 0, expired: 0, reordered: 0, byOthers: 0, crashes: 0 },
    /** Decisions while the attestation service was away. */
    awayRounds: 0,
    ...{ moved: 0n, fees: 0n },
  };
  const points = new Set<string>();
  let inTransit = 0n;
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
  const block = () => BigInt(Math.floor((now_ms() - start_ms) / block_ms));
  const add = (chainId: ChainId, amount: bigint) => floats.set(chainId, (floats.get(chainId) ?? 0n) + amount);
  const held = (chainId: ChainId) => floats.get(chainId) ?? 0n;
  /** Two hours of each week, while most payments are made. */
  const isAway = () => day() % 7 === 0 && hour() >= 12 && hour() < 14;

  function fateOf(id: string): Fate {
    const known = fates.get(id);
    if (known) return known;
    const minters = ['treasury', 'treasury', 'strangerFirst', 'strangerRaces'] as const;
    const fate: Fate = {
      ...{
        isReordered: below(symbol === 'USDC' ? 4 : 2) === 0,
        expires: below(2) === 0,
        minter: minters[below(4)] ?? 'treasury',
      },
      ...{ burnedAt: null, burnBlock: 1, mintBlock: 1, gone: new Set(), minted: null },
      ...{ isRenewed: false, expirationBlock: null },
    };
    fates.set(id, fate);
    return fate;
  }

  /** Moves of the plan, and those that it has ended and a block that left its chain has opened again. */
  async function open(): Promise<readonly { readonly id: string; readonly state: Rebalance }[]> {
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
    const moves = await open();
    const [week, today] = [new Map<ChainId, bigint>(), new Map<ChainId, bigint>()];
    for (const { to, at_ms, amount } of paid) {
      week.set(to, (week.get(to) ?? 0n) + amount);
      if (at_ms > now_ms() - day_ms) today.set(to, (today.get(to) ?? 0n) + amount);
    }
    return chainIds.map((chainId) => {
      const unrecorded = moves.reduce((sum, { id, state: { ordered: order, burn, minted } }) => {
        const { burnedAt, minted: mint } = fateOf(id);
        const burned = order.from.chainId === chainId && burnedAt && !burn.settled ? BigInt(order.amount) : 0n;
        return sum + burned - (order.to.chainId === chainId && mint && !minted ? mint.received : 0n);
      }, 0n);
      return {
        chainId,
        float: held(chainId) + unrecorded,
        reserved: moves.reduce(
          (sum, { state: { ordered: order, burn } }) =>
            order.from.chainId === chainId && !burn.settled ? sum + BigInt(order.amount) : sum,
          promisedOn(chainId),
        ),
        inTransit: moves.reduce((sum, { state }) => sum + arrivingAt(chainId, symbol, state), 0n),
        outflow_day: today.get(chainId) ?? 0n,
        outflow_week: week.get(chainId) ?? 0n,
      };
    });
  }

  const promisedOn = (chainId: ChainId) =>
    promised.reduce((sum, { to, amount }) => (to === chainId ? sum + amount : sum), 0n);

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
    // A message costs least from Polygon, which is the slowest source.
    const messages = async () => ({
      feeOf: (from: ChainId) => (isAway() ? undefined : from),
      messageFeeOf: () => messageFee_wei,
    });
    const fees = symbol === 'USDC' ? cctpFees(attestations) : messages;
    await followPolicy({ handle, clock: log.clock, symbol, settings, fees, ...reads }, signal);
  }

  const write = async (id: string, decide: (state: RebalanceState) => unknown): Promise<void> => {
    const outcome = await handle(rebalance, id, decide as never, facts);
    assert.ok(!isRefusal(outcome), isRefusal(outcome) ? outcome.message : '');
  };
  const burnHash = (id: string) => hashOf('burn', id);
  const nonceOf = (id: string) => hashOf('nonce', id).slice(2);
  const place = (hash: string, blockNumber: number) => {
    const blockHash = hashOf('block', hash, blockNumber);
    return { attempt: 1, hash, blockNumber: BigInt(blockNumber), blockHash };
  };

  /** The attestation service and the destination chain, as the worker of one move reads them. */
  function partsOf(id: string, state: Rebalance) {
    const fate = fateOf(id);
    const { ordered: stated } = state;
    if (!isCctp(stated)) return messagesOf(fate);
    const order = stated;
    const isFast = order.route.finality === fast;
    function message(): string {
      const isExpiring = isFast && fate.expires && !fate.isRenewed;
      fate.expirationBlock ??= block() + expiresAfter_blocks;
      const feeExecuted = isFast && !fate.isRenewed ? (BigInt(order.amount) + 9_999n) / 10_000n : 0n;
      const expirationBlock = isExpiring ? fate.expirationBlock : 0n;
      return messageOf(order, { feeExecuted, expirationBlock, nonce: nonceOf(id) });
    }
    const attestations = {
      fees: async () => [],
      async messagesOf(_: number, hash: string) {
        if (isAway()) throw new AttestationsUnavailable('weather');
        assert.equal(hash, burnHash(id));
        const time_ms = travelTime_ms(order.from.chainId as CctpChainId, order.route.finality) ?? 0;
        const isReady = fate.burnedAt !== null && now_ms() >= epochMs(fate.burnedAt) + time_ms;
        return { attested: isReady ? [{ message: message(), attestation }] : [], delay: null };
      },
      async reattest(nonce: string) {
        if (isAway()) throw new AttestationsUnavailable('weather');
        assert.equal(nonce, `0x${nonceOf(id)}`);
        fate.isRenewed = true;
      },
    };
    const mints = { finalBlock: async () => block(), mintOf: async () => fate.minted };
    return { handle, clock: log.clock, attestations, mintsOn: () => mints };
  }

  /** LayerZero and the destination chain, as the worker of one move reads them. */
  const messagesOf = ({ minted }: Fate) => ({
    ...{ handle, clock: log.clock, attestations: null, mintsOn: () => undefined },
    oftOn: () => ({
      sentBy: async () => ({ guid, nonce: 1n }),
      arrivalOf: async () => minted,
      stateOf: async () => 'unverified' as const,
      quote: async () => messageFee_wei,
    }),
  });

  /** The executor delivers a message once, after the time of its source. */
  function deliver(id: string, { ordered: { from, to, amount } }: Rebalance): void {
    const fate = fateOf(id);
    const time_ms = protocolOf[symbol].time_ms(from.chainId, 'message') ?? 0;
    if (fate.minted || !fate.burnedAt || isAway() || now_ms() < epochMs(fate.burnedAt) + time_ms) return;
    const { hash, blockNumber, blockHash } = place(hashOf('delivery', id, fate.mintBlock), fate.mintBlock);
    fate.minted = { hash, blockNumber, blockHash, received: BigInt(amount), byOther: true };
    add(to.chainId, BigInt(amount));
    inTransit -= BigInt(amount);
  }

  /** The destination chain mints a message once, and refuses an expired one. */
  function mint(id: string, state: Rebalance, hash: string, byOther: boolean): boolean {
    const fate = fateOf(id);
    const parsed = parseBurnMessage(state.attested?.message ?? '');
    assert.ok(parsed);
    const { expirationBlock, feeExecuted } = parsed;
    if (fate.minted || (expirationBlock !== 0n && block() >= expirationBlock)) return fate.minted?.hash === hash;
    const amount = BigInt(state.ordered.amount);
    const { blockNumber, blockHash } = place(hash, fate.mintBlock);
    fate.minted = { hash, blockNumber, blockHash, received: amount - feeExecuted, byOther };
    add(state.ordered.to.chainId, amount - feeExecuted);
    inTransit -= amount;
    seen.fees += feeExecuted;
    assert.ok(feeExecuted <= BigInt(state.ordered.route.feeMax));
    return true;
  }

  function burn(id: string, { ordered: { from, amount } }: Rebalance): void {
    const fate = fateOf(id);
    if (fate.burnedAt) return;
    fate.burnedAt = log.time.now;
    add(from.chainId, -BigInt(amount));
    inTransit += BigInt(amount);
    assert.ok(held(from.chainId) >= promisedOn(from.chainId), 'a burn takes money that payments need');
  }

  /** The block of a recorded burn or mint leaves its chain, once each. @returns true if it was recorded now */
  async function reorder(id: string, state: Rebalance): Promise<boolean> {
    const fate = fateOf(id);
    const { ordered: order, burn: burned, mint: mintLeg, attested, minted } = state;
    if (!fate.isReordered) return false;
    if (burned.settled && !attested && !fate.minted && !fate.gone.has(burnPart)) {
      fate.gone.add(burnPart);
      fate.burnedAt = null;
      fate.burnBlock += 1;
      add(order.from.chainId, BigInt(order.amount));
      inTransit -= BigInt(order.amount);
    }
    if ((mintLeg?.settled || !isCctp(order)) && minted && fate.minted && !fate.gone.has(mintPart)) {
      fate.gone.add(mintPart);
      add(order.to.chainId, -fate.minted.received);
      inTransit += BigInt(order.amount);
      seen.fees -= BigInt(order.amount) - fate.minted.received;
      fate.minted = null;
      fate.mintBlock += 1;
    }
    if (!isCctp(order) && minted && !fate.minted) {
      await write(id, (each) => orphanMintByOther(each, { ...minted, now: log.time.now }));
      seen.reordered += 1;
      return true;
    }
    const isStale = (settled: { readonly blockNumber: string } | null | undefined, now: number) =>
      settled !== null && settled !== undefined && settled.blockNumber !== String(now);
    const part = isStale(burned.settled, fate.burnBlock) ? burnPart : mintPart;
    const { settled } = part === burnPart ? burned : { settled: mintLeg?.settled };
    if (!settled || !isStale(settled, part === burnPart ? fate.burnBlock : fate.mintBlock)) return false;
    await write(id, (each) => rebalanceLegs.orphan(each, part, settled));
    seen.reordered += 1;
    return true;
  }

  /** One step of a move. @returns false if it waits */
  async function step(id: string, state: Rebalance): Promise<boolean> {
    const fate = fateOf(id);
    const { ordered: order } = state;
    if (await reorder(id, state)) return true;
    const next = nextRebalanceStep(state);
    if (next.do === 'done') return false;
    if (next.do === 'receive') deliver(id, state);
    if (next.do !== 'transfer') return attended(id, state);
    if (next.part === burnPart) {
      if (next.step.do === 'sign') {
        await write(id, (each) => rebalanceLegs.sign(each, burnPart, { ...burnAttempt(order), hash: burnHash(id) }));
        return true;
      }
      burn(id, state);
      const landed = { kind: 'final', ...place(burnHash(id), fate.burnBlock) } as const;
      await write(id, (each) => rebalanceLegs.conclude(each, burnPart, landed, log.time.now));
      return true;
    }
    const own = hashOf('mint', id, state.mint?.attempts.length ?? 0);
    if (next.step.do === 'sign') {
      // The message expires while its mint waits for gas.
      const waits = state.attested !== null && state.attested.expirationBlock !== 0n;
      if (fate.minter === 'strangerFirst' && !waits) mint(id, state, hashOf('stranger', id), true);
      if (waits || fate.minted) return attended(id, state);
      const amount = String(state.mint?.order.amount);
      const attempt = (state.mint?.attempts.length ?? 0) + 1;
      const signed = { ...mintAttempt(order, attempt, amount), hash: hashOf('mint', id, attempt) };
      await write(id, (each) => rebalanceLegs.sign(each, mintPart, signed));
      return true;
    }
    if (fate.minter === 'strangerRaces') mint(id, state, hashOf('stranger', id), true);
    const attempt = state.mint?.attempts.length ?? 0;
    const outcome = mint(id, state, own, false)
      ? ({ kind: 'final', ...place(own, fate.mintBlock), attempt, arrived: state.mint?.order.amount ?? 0n } as const)
      : ({ kind: 'dead', attempts: [attempt], proof } as const);
    await write(id, (each) => rebalanceLegs.conclude(each, mintPart, outcome, log.time.now));
    return true;
  }

  async function attended(id: string, state: Rebalance): Promise<boolean> {
    const outcome = await attend(partsOf(id, state), id, signal).catch((error: unknown) => {
      if (error instanceof AttestationsUnavailable) return null;
      throw error;
    });
    return outcome?.kind === 'recorded';
  }

  async function travel(): Promise<void> {
    for (const { id } of await open()) {
      for (let steps = 0, more = true; more; steps += 1) {
        assert.ok(steps < 20, 'a move repeats its steps');
        const now = await currentState(handle, rebalance, id);
        assert.ok(now);
        more = await step(id, now);
      }
    }
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
    for (const { id, state } of await open()) {
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
    await travel();
  }

  return {
    seen,
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
      assert.equal(total + inTransit + seen.fees, BigInt(chainIds.length) * opening);
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
      assert.equal(transit, inTransit, 'the log and the chains agree on what is in transit');
    },
  };
}
