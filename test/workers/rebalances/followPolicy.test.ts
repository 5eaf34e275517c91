/** The policy's rounds over one log: two instances, crashes between the steps, a wrong clock, a flood, an outage. */
import assert from 'node:assert/strict';
import { currentState, type Handle } from '../../../commands/handle.ts';
import { Unavailable } from '../../../commands/ports.ts';
import { chainIds } from '../../../domain/chains.ts';
import { type Refusal, refuse } from '../../../domain/decider.ts';
import { burnableOn } from '../../../domain/rebalance/cctp.ts';
import {
  endMove,
  type FloatPlanState,
  floatPlan,
  floatPlanOf,
  openMoves,
} from '../../../domain/rebalance/floatPlan.ts';
import type { FloatView, PolicySettings } from '../../../domain/rebalance/policy.ts';
import {
  approveRebalance,
  callOffRebalance,
  rebalance,
  rebalanceStanding,
} from '../../../domain/rebalance/rebalance.ts';
import { sendableOn } from '../../../domain/rebalance/usdt0.ts';
import { day_ms, hour_ms, plus } from '../../../domain/time.ts';
import { AttestationsUnavailable } from '../../../src/chains/attestations.ts';
import { cctpFees } from '../../../src/workers/rebalances/fees.ts';
import { followPolicy, type PolicyDeps } from '../../../src/workers/rebalances/followPolicy.ts';
import { minute, treasuryAccount } from '../../support/payments.ts';
import { accepted, Crashed, crashAt, noting, processes } from '../../support/processes.ts';
import { messageFee_wei } from '../../support/usdt0.ts';

const usd = (dollars: number): bigint => BigInt(dollars) * 1_000_000n;
const limits = { minimum: usd(1_000), target: usd(5_000), maximum: usd(20_000) };
const settings: PolicySettings = {
  mode: 'automatic',
  floats: new Map(chainIds.map((id) => [id, limits])),
  dailyCap: usd(50_000),
  coolDown_ms: hour_ms,
  smallestMove: usd(100),
  largestMove: usd(9_000),
  automaticBelow: usd(10_000),
  fastFeeMax_bps: 14,
};
const view = (chainId: FloatView['chainId'], dollars: number): FloatView => ({
  chainId,
  float: usd(dollars),
  ...{ reserved: 0n, inTransit: 0n, outflow_day: 0n, outflow_week: 0n },
});
const { signal } = new AbortController();
const by = { cause: 'operator:ada', appId: null } as const;

/** Floats that only open rebalances change, as the read models would show them after the log was read. */
function world(change: Partial<PolicySettings> = {}) {
  const log = processes();
  const held = new Map([
    [1, usd(100)],
    [8453, usd(50_000)],
  ]);
  const calls = { fees: 0 };
  const state = { fees: 'known' as 'known' | 'away', clock: undefined as string | undefined };
  async function views(handle: Handle): Promise<readonly FloatView[]> {
    const moves = openMoves(await currentState(handle, floatPlan, floatPlanOf('USDC')));
    const sum = (side: 'from' | 'to', chainId: number) =>
      moves.reduce((all, { order }) => (order[side].chainId === chainId ? all + BigInt(order.amount) : all), 0n);
    return [...held].map(([chainId, float]) => ({
      chainId: chainId as FloatView['chainId'],
      float,
      ...{ reserved: sum('from', chainId), inTransit: sum('to', chainId), outflow_day: 0n, outflow_week: 0n },
    }));
  }
  const deps = (handle: Handle = log.start()): PolicyDeps => ({
    handle,
    clock: log.clock,
    symbol: 'USDC',
    settings: { ...settings, ...change },
    fees: cctpFees({
      async fees() {
        calls.fees += 1;
        if (state.fees === 'away') throw new AttestationsUnavailable('no answer');
        return [{ finality: 2000, fee_bps: 0 }];
      },
    }),
    caughtUp: async () => {},
    views: () => views(log.start()),
    endOf(chainId) {
      const token = burnableOn(chainId);
      return token && { chainId, account: treasuryAccount, token };
    },
    clockTrouble: () => state.clock,
  });
  const round = (handle?: Handle) => followPolicy(deps(handle), signal);
  const moveOf = (id: string) => currentState(log.start(), rebalance, id);
  const plan = () => currentState(log.start(), floatPlan, floatPlanOf('USDC'));
  return { ...log, held, calls, state, deps, round, moveOf, plan };
}

describe('the policy of floats, round by round', () => {
  it('orders a move once, and ends it when its money has arrived or was called off', async () => {
    const { round, moveOf, plan, start, time } = world();
    const first = await round();
    assert.ok(first.kind === 'decided');
    assert.deepEqual(first.ordered, ['usdc-1']);
    assert.equal((await moveOf('usdc-1'))?.ordered.amount, '4900000000');
    assert.deepEqual(await round(), { kind: 'decided', ordered: [], shortages: [] });
    const asked = { reason: 'not now', by: 'ada', now: minute(2) };
    await accepted(start()(rebalance, 'usdc-1', (state) => callOffRebalance(state, asked), by));
    time.now = minute(3);
    await round();
    assert.equal((await plan()).moves[0]?.outcome, 'calledOff');
    // The next one after the cool-down, under the next number.
    time.now = minute(63);
    const next = await round();
    assert.ok(next.kind === 'decided');
    assert.deepEqual(next.ordered, ['usdc-2']);
  });

  it('plans nothing for an account that cannot receive, and states the shortage', async () => {
    const { deps, plan } = world();
    const noTrustline: Refusal = refuse('illegalStep', 'the account has no trustline');
    let receives: () => Promise<Refusal | undefined> = async () => noTrustline;
    const follow = () => followPolicy({ ...deps(), receiverChecks: { evm: () => receives() } }, signal);
    const closed = [{ chainId: 1, missing: usd(4_900), emptyIn_ms: null, why: 'closed' }];
    assert.deepEqual(await follow(), { kind: 'decided', ordered: [], shortages: closed });
    receives = () => Promise.reject(new Unavailable('no node answers'));
    assert.deepEqual(await follow(), { kind: 'decided', ordered: [], shortages: closed });
    assert.equal((await plan()).last, 0);
    receives = async () => undefined;
    const open = await follow();
    assert.ok(open.kind === 'decided');
    assert.deepEqual(open.ordered, ['usdc-1']);
  });

  it('orders it once although two instances decide at the same moment, many times', async () => {
    for (let tries = 0; tries < 10; tries += 1) {
      const { round, plan, store } = world();
      await Promise.all([round(), round(), round()]);
      assert.equal((await plan()).last, 1);
      assert.equal((await store.read('rebalance-usdc-1')).length, 1);
    }
  });

  it('continues after a crash at each point with the same move', async () => {
    const points: string[] = [];
    const whole = world();
    await whole.round(whole.start({ crash: noting(points) }));
    assert.deepEqual(points, [
      'MovePlanned.beforeAppend',
      'MovePlanned.afterAppend',
      'RebalanceOrdered.beforeAppend',
      'RebalanceOrdered.afterAppend',
    ]);
    const expected = await whole.store.read('rebalance-usdc-1');
    for (const point of points) {
      const { round, start, store, plan } = world();
      await assert.rejects(round(start({ crash: crashAt(point) })), Crashed);
      await round();
      await round();
      assert.equal((await plan()).last, 1, point);
      const events = await store.read('rebalance-usdc-1');
      assert.deepEqual(
        events.map(({ data }) => data),
        expected.map(({ data }) => data),
        point,
      );
    }
  });

  it('waits for an operator in the mode propose, and replaces a proposal after a day', async () => {
    const { round, moveOf, start, time } = world({ mode: 'propose' });
    await round();
    const state = await moveOf('usdc-1');
    assert.equal(state && rebalanceStanding(state), 'waitsForApproval');
    time.now = plus(minute(0), day_ms - 1);
    await round();
    assert.equal((await moveOf('usdc-1'))?.calledOff, null);
    time.now = plus(minute(0), day_ms);
    await round();
    assert.match((await moveOf('usdc-1'))?.calledOff?.reason ?? '', /nobody approved it/);
    await round();
    time.now = plus(time.now, hour_ms);
    const next = await round();
    assert.ok(next.kind === 'decided');
    assert.deepEqual(next.ordered, ['usdc-2']);
    await accepted(start()(rebalance, 'usdc-2', (each) => approveRebalance(each, 'ada', time.now), by));
    time.now = plus(time.now, 2 * day_ms);
    await round();
    assert.equal((await moveOf('usdc-2'))?.calledOff, null, 'an approved move is not called off');
  });

  it('keeps a plan of USDT beside that of USDC: each with its own number, cap and cool-down', async () => {
    const { deps, round, plan, start, moveOf } = world();
    const usdt: PolicyDeps = {
      ...deps(),
      symbol: 'USDT',
      fees: async () => ({ feeOf: () => 1, messageFeeOf: () => messageFee_wei }),
      async views() {
        return [view(1, 100), view(42161, 50_000)];
      },
      endOf(chainId) {
        const token = sendableOn(chainId);
        return token && { chainId, account: treasuryAccount, token };
      },
    };
    await round();
    const followed = await followPolicy(usdt, signal);
    assert.deepEqual(followed, { kind: 'decided', ordered: ['usdt-1'], shortages: [] });
    assert.equal((await moveOf('usdt-1'))?.ordered.route.kind, 'oft');
    assert.equal((await moveOf('usdc-1'))?.ordered.route.kind, 'cctp');
    assert.equal((await plan()).last, 1);
    const own = await currentState(start(), floatPlan, floatPlanOf('USDT'));
    assert.deepEqual(
      own.moves.map(({ rebalance: id }) => id),
      ['usdt-1'],
    );
    const away = { ...usdt, handle: processes().start(), fees: async () => ({ feeOf: () => undefined }) };
    const during = await followPolicy(away, signal);
    assert.ok(during.kind === 'decided');
    assert.deepEqual([during.ordered, during.shortages.map(({ why }) => why)], [[], ['noFee']]);
  });

  it('decides nothing while the clock is wrong, or is off', async () => {
    const wrong = world();
    wrong.state.clock = 'the clock is 3600 s ahead';
    assert.deepEqual(await wrong.round(), { kind: 'waits', why: 'the clock is 3600 s ahead' });
    assert.equal((await wrong.plan()).last, 0);
    const off = world({ mode: 'off' });
    assert.deepEqual(await off.round(), { kind: 'decided', ordered: [], shortages: [] });
    assert.equal((await off.plan()).last, 0);
    assert.equal(off.calls.fees, 0);
  });

  it('orders nothing while the attestation service is away, says so, and continues when it answers', async () => {
    const { round, state, plan } = world();
    state.fees = 'away';
    const during = await round();
    assert.ok(during.kind === 'decided');
    assert.deepEqual(
      during.shortages.map(({ chainId, why }) => [chainId, why]),
      [[1, 'noFee']],
    );
    assert.equal((await plan()).last, 0);
    state.fees = 'known';
    await round();
    assert.equal((await plan()).last, 1);
  });

  it('stays below its cap in a flood of demand, and reports the chain that stays too low', async () => {
    const { round, held, plan, start, time } = world({ dailyCap: usd(10_000) });
    let moved = 0n;
    let capped = 0;
    for (let hours = 0; hours < 24; hours += 1) {
      time.now = plus(minute(0), hours * hour_ms);
      const followed = await round();
      assert.ok(followed.kind === 'decided');
      capped += followed.shortages.filter(({ why }) => why === 'dailyCap').length;
      for (const move of openMoves(await plan())) {
        moved += BigInt(move.order.amount);
        held.set(8453, (held.get(8453) ?? 0n) - BigInt(move.order.amount));
        const end = (state: FloatPlanState) => endMove(state, move.number, 'done', time.now);
        await accepted(start()(floatPlan, floatPlanOf('USDC'), end, by));
      }
      // Each move is paid out at once.
      held.set(1, usd(100));
    }
    assert.equal(moved, usd(10_000));
    assert.ok(capped > 0);
  });

  it('names a float that only a person can fill, also while the policy is off', async () => {
    for (const mode of ['off', 'propose', 'automatic'] as const) {
      const { round, held } = world({ mode });
      held.set(1, usd(5_000));
      held.set(56, usd(10));
      const followed = await round();
      assert.ok(followed.kind === 'decided');
      assert.deepEqual(
        followed.shortages.map(({ chainId, why, missing }) => [chainId, why, missing]),
        [[56, 'noRoute', usd(4_990)]],
      );
    }
  });
});
