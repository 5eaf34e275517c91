/**
 * Days of skewed demand over one log: the policy decides, its moves burn and mint as the domain records them, processes die, the attestation
 * service is away for two hours each week, and strangers mint.
 */
import assert from 'node:assert/strict';
import { currentState } from '../../../commands/handle.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { burnableOn, type CctpChainId, cctpChainIds, fast, travelTime_ms } from '../../../domain/rebalance/cctp.ts';
import type { RebalanceEvent } from '../../../domain/rebalance/events.ts';
import { floatPlan, floatPlanInstance, openMoves } from '../../../domain/rebalance/floatPlan.ts';
import { transitOf } from '../../../domain/rebalance/inTransit.ts';
import type { FloatView, PolicySettings } from '../../../domain/rebalance/policy.ts';
import {
  burnPart,
  mintPart,
  type Rebalance,
  rebalance,
  rebalanceLegs,
  rebalanceStanding,
  recordAttestation,
  recordMintByOther,
} from '../../../domain/rebalance/rebalance.ts';
import { day_ms, epochMs, hour_ms, type Instant, minute_ms, plus } from '../../../domain/time.ts';
import { AttestationsUnavailable } from '../../../src/chains/attestations.ts';
import { followPolicy } from '../../../src/workers/rebalances/followPolicy.ts';
import { hashOf, minute, treasuryAccount } from '../../support/payments.ts';
import { Crashed, processes } from '../../support/processes.ts';
import { attestation, burnAttempt, messageOf, mintAttempt } from '../../support/rebalances.ts';
import { isFull } from '../../support/suite.ts';

const usd = (dollars: number): bigint => BigInt(dollars) * 1_000_000n;
const settings: PolicySettings = {
  mode: 'automatic',
  floats: new Map(
    cctpChainIds.map((id) => [id, { minimum: usd(4_000), target: usd(10_000), maximum: usd(20_000) }] as const),
  ),
  dailyCap: usd(60_000),
  coolDown_ms: hour_ms,
  smallestMove: usd(200),
  largestMove: usd(50_000),
  automaticBelow: usd(50_000),
  fastFeeMax_bps: 14,
};
const days = isFull ? 30 : 5;
const round_ms = 10 * minute_ms;
/** Payments of a round; 80 % of them leave from two chains. */
const perRound = 2;
const facts = { cause: 'worker:test', appId: null } as const;
const { signal } = new AbortController();

/** A deterministic sequence of numbers from 0 to below 1 (a linear congruential generator). */
function sequence(seed: number) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function createDays(seed: number) {
  const random = sequence(seed);
  const below = (most: number) => Math.floor(random() * most);
  const log = processes({ now: minute(0) });
  const floats = new Map<ChainId, bigint>(cctpChainIds.map((id) => [id, usd(10_000)]));
  const paid: { at_ms: number; chainId: ChainId; amount: bigint }[] = [];
  const seen = { refused: 0, moves: 0, crashes: 0, fees: 0n, byOthers: 0, moved: 0n };
  /** Money that is in no account. */
  let inTransit = 0n;
  let handle = log.start();
  const burnedAt = new Map<string, Instant>();
  const add = (chainId: ChainId, amount: bigint) => floats.set(chainId, (floats.get(chainId) ?? 0n) + amount);
  /** Two hours of each week. */
  const isAway = () => (epochMs(log.time.now) - epochMs(minute(0))) % (7 * day_ms) < 2 * hour_ms;

  async function open(): Promise<readonly { id: string; state: Rebalance }[]> {
    const moves = openMoves(await currentState(handle, floatPlan, floatPlanInstance));
    const states = await Promise.all(
      moves.map(async ({ rebalance: id }) => ({ id, state: await currentState(handle, rebalance, id) })),
    );
    return states.flatMap(({ id, state }) => (state && rebalanceStanding(state) !== 'done' ? [{ id, state }] : []));
  }

  async function views(): Promise<readonly FloatView[]> {
    const moves = await open();
    const since = (age_ms: number, chainId: ChainId) =>
      paid.reduce(
        (sum, each) =>
          each.chainId === chainId && each.at_ms > epochMs(log.time.now) - age_ms ? sum + each.amount : sum,
        0n,
      );
    return cctpChainIds.map((chainId) => ({
      chainId,
      float: floats.get(chainId) ?? 0n,
      reserved: moves.reduce(
        (sum, { state: { ordered, burn } }) =>
          ordered.from.chainId === chainId && !burn.settled ? sum + BigInt(ordered.amount) : sum,
        0n,
      ),
      inTransit: moves.reduce(
        (sum, { state: { ordered } }) => (ordered.to.chainId === chainId ? sum + BigInt(ordered.amount) : sum),
        0n,
      ),
      outflow_day: since(day_ms, chainId),
      outflow_week: since(7 * day_ms, chainId),
    }));
  }

  async function follow(): Promise<void> {
    const deps = {
      ...{ handle, clock: log.clock, settings, views },
      attestations: {
        async fees() {
          if (isAway()) throw new AttestationsUnavailable('weather');
          return [
            { finality: fast, fee_bps: 1 },
            { finality: 2_000, fee_bps: 0 },
          ];
        },
      },
      caughtUp: async () => {},
      endOf(chainId: ChainId) {
        const token = burnableOn(chainId);
        return token && { chainId, account: treasuryAccount, token };
      },
      clockTrouble: () => undefined,
    };
    await followPolicy(deps, signal);
  }

  const write = async (id: string, decide: (state: Rebalance | null) => readonly RebalanceEvent[] | object) => {
    const outcome = await handle(rebalance, id, decide as never, facts);
    assert.ok(!isRefusal(outcome), isRefusal(outcome) ? outcome.message : '');
  };
  const place = (kind: 'burn' | 'mint') => ({
    ...{ attempt: 1, hash: hashOf(kind, 1) },
    ...{ blockNumber: '9', blockHash: hashOf('block', 9) },
  });

  /** Each open move takes its next step, when the route's time for it has passed. */
  async function travel(): Promise<void> {
    const now = log.time.now;
    for (const { id, state } of await open()) {
      const { ordered } = state;
      const amount = BigInt(ordered.amount);
      if (rebalanceStanding(state) === 'ordered') {
        await write(id, (each) => rebalanceLegs.sign(each, burnPart, burnAttempt(ordered)));
        await write(id, (each) =>
          rebalanceLegs.conclude(each, burnPart, { kind: 'final', ...place('burn') } as never, now),
        );
        add(ordered.from.chainId, -amount);
        inTransit += amount;
        burnedAt.set(id, now);
        seen.moves += 1;
        seen.moved += amount;
        assert.ok((floats.get(ordered.from.chainId) ?? 0n) >= 0n, 'a burn takes money that is not there');
        continue;
      }
      const time_ms = travelTime_ms(ordered.from.chainId as CctpChainId, ordered.route.finality) ?? 0;
      if (isAway() || epochMs(now) < epochMs(burnedAt.get(id) ?? now) + time_ms) continue;
      const feeExecuted = ordered.route.finality === fast ? BigInt(ordered.route.feeMax) / 2n : 0n;
      const message = messageOf(ordered, { feeExecuted });
      await write(id, (each) => recordAttestation(each, { burnHash: hashOf('burn', 1), message, attestation, now }));
      const received = amount - feeExecuted;
      if (below(3) === 0) {
        seen.byOthers += 1;
        const found = { hash: hashOf('stranger', 1), blockNumber: 9n, blockHash: hashOf('block', 9), received, now };
        await write(id, (each) => recordMintByOther(each, found));
      } else {
        await write(id, (each) => rebalanceLegs.sign(each, mintPart, mintAttempt(ordered, 1, received.toString())));
        const landed = { kind: 'final', ...place('mint'), arrived: received };
        await write(id, (each) => rebalanceLegs.conclude(each, mintPart, landed as never, now));
      }
      add(ordered.to.chainId, received);
      inTransit -= amount;
      seen.fees += feeExecuted;
      const done = await currentState(handle, rebalance, id);
      assert.ok(done && rebalanceStanding(done) === 'done');
      const { burned, minted, fee, inTransit: rest } = transitOf(done);
      assert.deepEqual([burned, rest], [minted + fee, 0n]);
    }
  }

  function pay(): void {
    for (let n = 0; n < perRound; n += 1) {
      const from = cctpChainIds[below(4)] as ChainId;
      const to = cctpChainIds[below(2) + (random() < 0.8 ? 0 : 2)] as ChainId;
      const amount = usd(20 + below(200));
      add(from, amount);
      // A refused payment is not made: its payer keeps the money.
      if ((floats.get(to) ?? 0n) < amount) {
        seen.refused += 1;
        add(from, -amount);
        continue;
      }
      add(to, -amount);
      paid.push({ at_ms: epochMs(log.time.now), chainId: to, amount });
    }
  }

  return {
    seen,
    async round(): Promise<void> {
      log.time.now = plus(log.time.now, round_ms);
      while (paid[0] && paid[0].at_ms < epochMs(log.time.now) - 7 * day_ms) paid.shift();
      pay();
      // Every other process dies at one of its appends, before it or after it.
      const dies = below(2) === 0;
      let left = below(4);
      const crash = (point: string) => {
        if (left === 0) {
          seen.crashes += 1;
          throw new Crashed(point);
        }
        left -= 1;
      };
      if (dies) handle = log.start({ crash });
      await follow().catch((error: unknown) => {
        if (!(error instanceof Crashed)) throw error;
      });
      if (dies) handle = log.start();
      await travel();
    },
    /** Floats and what is in transit are the opening without the fees. */
    closes(): void {
      const total = [...floats.values()].reduce((sum, each) => sum + each, 0n);
      assert.equal(total + inTransit + seen.fees, usd(40_000));
    },
  };
}

describe(`the policy over ${days} days of skewed demand`, () => {
  it('refuses no payment for missing float, closes the books each day, and pays fees within its bound', async () => {
    const { round, closes, seen } = createDays(46);
    for (let day = 0; day < days; day += 1) {
      for (let n = 0; n < day_ms / round_ms; n += 1) await round();
      closes();
    }
    assert.equal(seen.refused, 0);
    assert.ok(
      seen.moves >= days && seen.crashes >= days / 2 && seen.byOthers > 0,
      JSON.stringify(seen, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    );
    assert.ok(seen.fees <= seen.moved / 1_000n);
  });
});
