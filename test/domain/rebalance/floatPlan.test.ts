import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ChainId, chainIds } from '../../../domain/chains.ts';
import { fold, isRefusal } from '../../../domain/decider.ts';
import { burnableOn, cctpChainIds, fast, inMessageUnits, isCctpChain } from '../../../domain/rebalance/cctp.ts';
import { isCctp } from '../../../domain/rebalance/events.ts';
import {
  coolDownMax_ms,
  endMove,
  type FloatPlanEvent,
  floatPlan,
  openMoves,
  type Planning,
  pastMoves,
  planMoves,
  plannedPerDayMax,
} from '../../../domain/rebalance/floatPlan.ts';
import type { FloatView, PolicySettings } from '../../../domain/rebalance/policy.ts';
import { orderRebalance } from '../../../domain/rebalance/rebalance.ts';
import { sendableOn, usdt0Route } from '../../../domain/rebalance/usdt0.ts';
import { day_ms, epochMs, hour_ms, type Instant, minute_ms, plus } from '../../../domain/time.ts';
import { minute, treasuryAccount } from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';
import { messageFee_wei } from '../../support/usdt0.ts';

const { given } = specification(floatPlan);
const usd = (dollars: number): bigint => BigInt(dollars) * 1_000_000n;
const limits = { minimum: usd(1_000), target: usd(5_000), maximum: usd(20_000) };
const settings: PolicySettings = {
  mode: 'automatic',
  floats: new Map(chainIds.map((id) => [id, limits])),
  dailyCap: usd(10_000),
  coolDown_ms: hour_ms,
  smallestMove: usd(100),
  largestMove: usd(9_000),
  automaticBelow: usd(2_000),
  fastFeeMax_bps: 14,
};
const view = (chainId: ChainId, dollars: number): FloatView => ({
  chainId,
  float: usd(dollars),
  ...{ reserved: 0n, inTransit: 0n, outflow_day: 0n, outflow_week: 0n },
});
const endOf: Planning['endOf'] = (chainId) => {
  const token = burnableOn(chainId);
  return token && { chainId, account: treasuryAccount, token };
};
const planning = (
  views: readonly FloatView[],
  { now = minute(0), seen = 0, ...change }: Partial<PolicySettings> & { now?: Instant; seen?: number } = {},
): Planning => ({
  settings: { ...settings, ...change },
  question: { symbol: 'USDC', now, views, feeOf: () => 0 },
  ...{ seen, endOf },
});
const low = [view(1, 100), view(8453, 50_000)];
const planned = (state = floatPlan.initial, plan = planning(low)): readonly FloatPlanEvent[] => {
  const decision = planMoves(state, plan);
  return isRefusal(decision) ? assert.fail(decision.message) : decision;
};
const amountsIn = (events: readonly FloatPlanEvent[]) =>
  events.map((event) =>
    event.type === 'MovePlanned'
      ? [event.data.rebalance, event.data.order.to.chainId, event.data.order.amount]
      : event.type,
  );
const ended = (number: number, outcome: 'done' | 'calledOff', endedAt: Instant): FloatPlanEvent => ({
  type: 'PlannedMoveEnded',
  data: { number, rebalance: `usdc-${number}`, outcome, endedAt },
});

describe('the plan of the policy', () => {
  it('has the whole order of each move, which its own stream accepts', () => {
    const [event] = planned();
    assert.ok(event?.type === 'MovePlanned');
    const { order } = event.data;
    assert.equal(event.data.rebalance, 'usdc-1');
    assert.ok(isCctp(order));
    assert.deepEqual(
      [order.from.chainId, order.to.chainId, order.amount, order.route.finality, order.approvals, order.by],
      [8453, 1, '4900000000', fast, 1, 'worker:floats'],
    );
    assert.deepEqual(orderRebalance(null, order), [{ type: 'RebalanceOrdered', data: order }]);
  });

  it('decides the same for the same inputs, and nothing after another move was planned meanwhile', () => {
    assert.deepEqual(planned(), planned());
    given(planned())
      .when((state) => planMoves(state, planning(low)))
      .thenNothing();
  });

  it('plans one move per destination at a time, however long it takes', () => {
    const later = planning(low, { now: minute(60 * 24 * 6), seen: 1 });
    given(planned())
      .when((state) => planMoves(state, later))
      .thenNothing();
    const then = fold(floatPlan, [...planned(), ended(1, 'done', minute(60 * 24 * 6))]);
    assert.deepEqual(amountsIn(planned(then, later)), [['usdc-2', 1, '4900000000']]);
  });

  it('waits for the cool-down, also after a move that was called off, and while the clock is set back', () => {
    const history = (outcome: 'done' | 'calledOff') => [...planned(), ended(1, outcome, minute(30))];
    const at = (now: Instant) => planning(low, { now, seen: 1 });
    given(history('done'))
      .when((state) => planMoves(state, at(minute(59))))
      .thenNothing();
    given(history('calledOff'))
      .when((state) => planMoves(state, at(minute(89))))
      .thenNothing();
    given(history('done'))
      .when((state) => planMoves(state, at(plus(minute(0), -5 * day_ms))))
      .thenNothing();
    assert.equal(planned(fold(floatPlan, history('done')), at(minute(60))).length, 1);
    assert.equal(planned(fold(floatPlan, history('calledOff')), at(minute(90))).length, 1);
  });

  it('stops at the daily cap, of which a cancelled move uses nothing', () => {
    const three = [view(1, 100), view(137, 100), view(8453, 90_000)];
    const both = planned(floatPlan.initial, planning(three, { dailyCap: usd(8_000) }));
    assert.deepEqual(amountsIn(both), [
      ['usdc-1', 1, '4900000000'],
      ['usdc-2', 137, '3100000000'],
    ]);
    const history = (outcome: 'done' | 'calledOff') => [
      ...both,
      ended(1, outcome, minute(1)),
      ended(2, 'done', minute(1)),
    ];
    const next = planning(low, { dailyCap: usd(8_000), now: minute(120), seen: 2 });
    given(history('done'))
      .when((state) => planMoves(state, next))
      .thenNothing();
    assert.equal(planned(fold(floatPlan, history('calledOff')), next).length, 1);
    const tomorrow = planning(low, { dailyCap: usd(8_000), now: plus(minute(1), day_ms), seen: 2 });
    assert.equal(planned(fold(floatPlan, history('done')), tomorrow).length, 1);
  });

  it('plans at most 48 moves within 24 hours, whatever is set', () => {
    let state = floatPlan.initial;
    const events: FloatPlanEvent[] = [];
    for (let n = 1; n <= 60; n += 1) {
      const now = plus(minute(0), n * 10 * minute_ms);
      const more = planned(state, planning(low, { now, seen: state.last, coolDown_ms: 0, dailyCap: usd(10_000_000) }));
      events.push(...more, ...(more.length > 0 ? [ended(state.last + 1, 'done', now)] : []));
      state = fold(floatPlan, events);
    }
    assert.equal(state.last, plannedPerDayMax);
  });

  describe('over USDT0', () => {
    const usdtEndOf: Planning['endOf'] = (chainId) => {
      const token = sendableOn(chainId);
      return token && { chainId, account: treasuryAccount, token };
    };
    const views = [view(1, 100), view(42161, 50_000)];
    const usdtPlanning = (change: Partial<Planning> = {}): Planning => ({
      ...{ settings, seen: 0, endOf: usdtEndOf, messageFeeOf: () => messageFee_wei },
      question: { symbol: 'USDT', now: minute(0), views, feeOf: () => 1 },
      ...change,
    });

    it('has orders by USDT0 with ids of their own, which their streams accept', () => {
      const [event] = planned(floatPlan.initial, usdtPlanning());
      assert.ok(event?.type === 'MovePlanned');
      const { rebalance: id, order } = event.data;
      assert.equal(id, 'usdt-1');
      assert.deepEqual(order.route, usdt0Route(42161, 1, messageFee_wei));
      assert.deepEqual(
        [order.from.token.symbol, order.amount, order.value_microUsd, order.by],
        ['USDT', '4900000000', '4900000000', 'worker:floats'],
      );
      assert.deepEqual(orderRebalance(null, order), [{ type: 'RebalanceOrdered', data: order }]);
      assert.deepEqual(amountsIn([event]), [['usdt-1', 1, '4900000000']]);
    });

    it('waits for the cool-down and for the end of an open move, as of USDC', () => {
      const first = planned(floatPlan.initial, usdtPlanning());
      const later = (minutes: number) =>
        usdtPlanning({ seen: 1, question: { ...usdtPlanning().question, now: minute(minutes) } });
      given(first)
        .when((state) => planMoves(state, later(600)))
        .thenNothing();
      const over = fold(floatPlan, [...first, { ...ended(1, 'done', minute(9)) }]);
      assert.equal(planned(over, later(59)).length, 0);
      assert.deepEqual(amountsIn(planned(over, later(60))), [['usdt-2', 1, '4900000000']]);
    });

    it('plans nothing without a known message fee or without an account on the chain', () => {
      given([])
        .when((state) => planMoves(state, usdtPlanning({ messageFeeOf: () => undefined })))
        .thenNothing();
      given([])
        .when((state) => planMoves(state, usdtPlanning({ endOf: (id) => (id === 1 ? undefined : usdtEndOf(id)) })))
        .thenNothing();
    });
  });

  it('records an end once', () => {
    given(planned())
      .when((state) => endMove(state, 1, 'done', minute(3)))
      .then([ended(1, 'done', minute(3))]);
    given([])
      .when((state) => endMove(state, 1, 'done', minute(3)))
      .thenNothing();
  });

  it('keeps its rules for any floats, demand and times', () => {
    const anyView = (chainId: ChainId) =>
      fc
        .record({ float: fc.nat(60_000), reserved: fc.nat(20_000), day: fc.nat(20_000) })
        .map(({ float, reserved, day }) => ({
          ...view(chainId, float),
          reserved: usd(reserved),
          outflow_day: usd(day),
        }));
    const round = fc.record({
      views: fc.tuple(...chainIds.map(anyView)),
      // Also backwards.
      passed_ms: fc.integer({ min: -30 * hour_ms, max: 30 * hour_ms }),
      ends: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(round, { minLength: 1, maxLength: 30 }), (rounds) => {
        let now = minute(60 * 24 * 30);
        let state = floatPlan.initial;
        const orders: { at: number; amount: bigint; to: number }[] = [];
        for (const { views, passed_ms, ends } of rounds) {
          now = plus(now, passed_ms);
          const before = state;
          const events = planned(state, planning(views, { now, seen: state.last }));
          state = fold(floatPlan, events, state);
          for (const event of events) {
            assert.ok(event.type === 'MovePlanned');
            const { from, to } = event.data.order;
            const amount = inMessageUnits(BigInt(event.data.order.amount), from.token);
            assert.ok(isCctpChain(from.chainId) && cctpChainIds.includes(to.chainId as never));
            assert.ok(!openMoves(before).some((each) => each.order.to.chainId === to.chainId), 'two to one chain');
            assert.ok(amount <= settings.largestMove);
            const source = views.find((each) => each.chainId === from.chainId);
            assert.ok(source && source.float - source.reserved - amount >= 0n, 'reserved money moves');
            for (const past of orders.filter((each) => each.to === to.chainId))
              assert.ok(epochMs(now) - past.at >= settings.coolDown_ms, 'the cool-down was not kept');
            orders.push({ at: epochMs(now), amount, to: to.chainId });
          }
          const within = orders.filter(({ at }) => at > epochMs(now) - day_ms && at <= epochMs(now));
          if (events.length > 0)
            assert.ok(
              within.reduce((sum, { amount }) => sum + amount, 0n) <= settings.dailyCap,
              'the cap was exceeded',
            );
          if (ends)
            for (const { number } of openMoves(state)) state = fold(floatPlan, [ended(number, 'done', now)], state);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('forgets moves that neither the cap nor a cool-down can concern', () => {
    const first = [...planned(), ended(1, 'done', minute(1))];
    const later = plus(minute(1), coolDownMax_ms);
    const second = planned(fold(floatPlan, first), planning(low, { now: later, seen: 1 }));
    assert.deepEqual(
      pastMoves(fold(floatPlan, [...first, ...second])).map(({ orderedAt }) => orderedAt),
      [later],
    );
  });
});
