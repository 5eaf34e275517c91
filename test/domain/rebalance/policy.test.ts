import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ChainId, chainIds } from '../../../domain/chains.ts';
import { type CctpChainId, cctpChainIds, fast, feeLimit, standard } from '../../../domain/rebalance/cctp.ts';
import {
  decideMoves,
  demandPerDay,
  type FloatView,
  type PolicyQuestion,
  type PolicySettings,
  policyVersion,
} from '../../../domain/rebalance/policy.ts';
import { hour_ms } from '../../../domain/time.ts';
import { minute } from '../../support/payments.ts';

const usd = (dollars: number): bigint => BigInt(dollars) * 1_000_000n;
const limits = { minimum: usd(1_000), target: usd(5_000), maximum: usd(20_000) };

const settings: PolicySettings = {
  mode: 'automatic',
  floats: new Map(chainIds.map((id) => [id, limits])),
  dailyCap: usd(50_000),
  coolDown_ms: hour_ms,
  smallestMove: usd(100),
  largestMove: usd(50_000),
  automaticBelow: usd(10_000),
  fastFeeMax_bps: 14,
};

const view = (chainId: ChainId, dollars: number, more: Partial<FloatView> = {}): FloatView => ({
  chainId,
  float: usd(dollars),
  ...{ reserved: 0n, inTransit: 0n, outflow_day: 0n, outflow_week: 0n },
  ...more,
});

const question = (views: readonly FloatView[], more: Partial<PolicyQuestion> = {}): PolicyQuestion => ({
  symbol: 'USDC',
  now: minute(600),
  views,
  past: [],
  feeOf: (_, __, finality) => (finality === fast ? 1.3 : 0),
  ...more,
});

const decide = (
  views: readonly FloatView[],
  change: Partial<PolicySettings> = {},
  more: Partial<PolicyQuestion> = {},
) => decideMoves({ ...settings, ...change }, question(views, more));
const moves = (...args: Parameters<typeof decide>) =>
  decide(...args).moves.map(({ from, to, amount, way }) => [from, to, amount / 1_000_000n, way]);
const shortages = (...args: Parameters<typeof decide>) =>
  decide(...args).shortages.map(({ chainId, missing, why }) => [chainId, missing / 1_000_000n, why]);

describe('the policy of floats', () => {
  it('moves nothing while it is off, or while each float is above its minimum', () => {
    assert.deepEqual(decide([view(1, 0), view(8453, 90_000)], { mode: 'off' }), { moves: [], shortages: [] });
    assert.deepEqual(decide([view(1, 2_000), view(8453, 20_000)]), { moves: [], shortages: [] });
  });

  it('fills a low float to its target from another’s money above its target', () => {
    assert.deepEqual(moves([view(1, 500), view(8453, 20_000)]), [[8453, 1, 4_500n, standard]]);
    assert.deepEqual(moves([view(1, 500), view(8453, 7_000, { outflow_day: usd(6_500) })]), [
      [8453, 1, 2_000n, standard],
    ]);
  });

  it('counts money in transit, and never reserved money', () => {
    assert.deepEqual(moves([view(1, 500, { inTransit: usd(4_500) }), view(8453, 20_000)]), []);
    assert.deepEqual(moves([view(1, 4_000, { reserved: usd(3_500) }), view(8453, 20_000)]), [
      [8453, 1, 4_500n, standard],
    ]);
    assert.deepEqual(shortages([view(1, 500), view(8453, 20_000, { reserved: usd(19_000) })]), [
      [1, 4_500n, 'noSource'],
    ]);
  });

  it('moves money out of a float above its maximum, to the one that lacks most', () => {
    const views = [view(1, 4_000), view(137, 2_000), view(8453, 30_000)];
    assert.deepEqual(moves(views), [
      [8453, 137, 3_000n, standard],
      [8453, 1, 1_000n, standard],
    ]);
  });

  it('takes the standard route if it arrives in time, else a fast one', () => {
    const busy = { outflow_day: usd(48_000) };
    assert.deepEqual(moves([view(1, 900, busy), view(8453, 20_000)]), [[8453, 1, 4_100n, standard]]);
    assert.deepEqual(moves([view(1, 300, busy), view(8453, 20_000)]), [[8453, 1, 4_700n, fast]]);
    // Polygon has no fast burns, and its standard ones take seconds.
    assert.deepEqual(moves([view(1, 300, busy), view(137, 20_000)]), [[137, 1, 4_700n, standard]]);
    assert.deepEqual(moves([view(1, 300, busy), view(8453, 20_000)], { fastFeeMax_bps: 1 }), [
      [8453, 1, 4_700n, standard],
    ]);
  });

  it('expects the busier of a day and an average day of the week', () => {
    assert.equal(demandPerDay({ outflow_day: 5n, outflow_week: 70n }), 10n);
    assert.equal(demandPerDay({ outflow_day: 15n, outflow_week: 70n }), 15n);
    // 1,500 is above the minimum now, and below it after the move from Base arrives.
    assert.deepEqual(
      moves([view(1, 1_500, { outflow_week: usd(280_000) }), view(8453, 20_000)])[0]?.slice(0, 2),
      [8453, 1],
    );
  });

  it('limits the fee by the route’s cost and by the protocol’s limit', () => {
    const [free] = decide([view(1, 500), view(8453, 20_000)]).moves;
    assert.equal(free?.feeMax, 0n);
    const [paid] = decide([view(1, 0, { outflow_day: usd(48_000) }), view(8453, 20_000)]).moves;
    assert.equal(paid?.feeMax, (usd(5_000) * 143n) / 1_000_000n);
    assert.ok((paid?.feeMax ?? 0n) <= feeLimit(usd(5_000)));
    const unknown = { feeOf: () => undefined };
    assert.deepEqual(shortages([view(1, 500), view(8453, 20_000)], {}, unknown), [[1, 4_500n, 'noFee']]);
  });

  it('keeps the daily cap and the cool-down', () => {
    const views = [view(1, 500), view(8453, 20_000)];
    const past = (to: ChainId, dollars: number, minutes: number) => ({
      past: [{ to, amount: usd(dollars), orderedAt: minute(600 - minutes) }],
    });
    assert.deepEqual(moves(views, {}, past(137, 48_000, 90)), [[8453, 1, 2_000n, standard]]);
    assert.deepEqual(shortages(views, {}, past(137, 50_000, 90)), [[1, 4_500n, 'dailyCap']]);
    assert.deepEqual(moves(views, {}, past(137, 50_000, 24 * 60)), [[8453, 1, 4_500n, standard]]);
    assert.deepEqual(shortages(views, {}, past(1, 10, 59)), [[1, 4_500n, 'coolDown']]);
    assert.deepEqual(moves(views, {}, past(1, 10, 60)), [[8453, 1, 4_500n, standard]]);
  });

  it('asks an operator for all moves, or for large ones', () => {
    const approvals = (change: Partial<PolicySettings>) =>
      decide([view(1, 500), view(8453, 20_000)], change).moves.map((move) => move.approvals);
    assert.deepEqual(approvals({}), [0]);
    assert.deepEqual(approvals({ mode: 'propose' }), [1]);
    assert.deepEqual(approvals({ automaticBelow: usd(4_500) }), [1]);
  });

  it('reports a float that no route reaches, with the missing amount and its time', () => {
    const { moves: none, shortages: found } = decide([view(56, 500, { outflow_day: usd(1_000) }), view(8453, 20_000)]);
    assert.deepEqual(none, []);
    assert.deepEqual(found, [{ chainId: 56, missing: usd(4_500), emptyIn_ms: 12 * hour_ms, why: 'noRoute' }]);
  });

  describe('over USDT0', () => {
    const fees = new Map([
      ['1 42161', 900_000],
      ['137 1', 4_000_000],
      ['42161 1', 3_000_000],
    ]);
    const usdt = {
      symbol: 'USDT',
      feeOf: (from: ChainId, to: ChainId) => fees.get(`${from} ${to}`) ?? 1_000_000,
    } as const;

    it('moves by one message of USDT0, without a fee in tokens, whatever the fee of fast burns may be', () => {
      const { moves: found } = decide([view(1, 500), view(42161, 20_000)], { fastFeeMax_bps: 0 }, usdt);
      assert.deepEqual(
        found.map(({ from, to, amount, way, feeMax }) => [from, to, amount, way, feeMax]),
        [[42161, 1, usd(4_500), 'message', 0n]],
      );
    });

    it('takes the source whose message costs least, and the next one if that has no known fee', () => {
      const views = [view(1, 500), view(137, 30_000), view(42161, 20_000)];
      assert.deepEqual(moves(views, {}, usdt), [[42161, 1, 4_500n, 'message']]);
      const feeOf = (from: ChainId) => (from === 42161 ? undefined : 1);
      assert.deepEqual(moves(views, {}, { ...usdt, feeOf }), [[137, 1, 4_500n, 'message']]);
      assert.deepEqual(shortages(views, {}, { ...usdt, feeOf: () => undefined }), [[1, 4_500n, 'noFee']]);
    });

    it('takes a dearer source that arrives before the float is empty', () => {
      // 500 dollars last for 12 minutes: a message of Arbitrum takes 5 minutes, one of Polygon 30.
      const views = [view(1, 500, { outflow_day: usd(60_000) }), view(137, 90_000), view(42161, 90_000)];
      const feeOf = (from: ChainId) => (from === 137 ? 1 : 2);
      assert.equal(decide(views, {}, { ...usdt, feeOf }).moves[0]?.from, 42161);
      const calm = [view(1, 500), view(137, 90_000), view(42161, 90_000)];
      assert.equal(decide(calm, {}, { ...usdt, feeOf }).moves[0]?.from, 137);
    });

    it('reports the chains of CCTP that USDT0 does not serve', () => {
      const views = [view(8453, 100), view(56, 100), view(1, 90_000)];
      assert.deepEqual(
        decide(views, {}, usdt).shortages.map(({ chainId, why }) => [chainId, why]),
        [
          [56, 'noRoute'],
          [8453, 'noRoute'],
        ],
      );
    });

    it('counts a float as low if it will be before the slowest message arrives', () => {
      // With 48,000 dollars a day, 1,000 leave within the 30 minutes of a message from Polygon.
      const views = (dollars: number) => [view(1, dollars, { outflow_day: usd(48_000) }), view(42161, 90_000)];
      assert.match(decide(views(1_999), {}, usdt).moves[0]?.reason ?? '', /below its minimum/);
      assert.match(decide(views(2_000), {}, usdt).moves[0]?.reason ?? '', /above its maximum/);
    });
  });

  it('names settings by a version that changes with each of them', () => {
    const versions = [
      settings,
      { ...settings, dailyCap: 1n },
      { ...settings, mode: 'propose' as const },
      { ...settings, floats: new Map([[1 as const, limits]]) },
    ].map(policyVersion);
    assert.equal(new Set(versions).size, versions.length);
    assert.equal(policyVersion({ ...settings, floats: new Map([...settings.floats].toReversed()) }), versions[0]);
  });

  it('keeps sources, caps and reserved money for any floats, and moves at most once to a chain', () => {
    const amount = fc.integer({ min: 0, max: 60_000 }).map(usd);
    const views = fc.tuple(
      ...cctpChainIds.map((chainId) =>
        fc.record({
          chainId: fc.constant<ChainId>(chainId),
          ...{ float: amount, reserved: amount, inTransit: amount, outflow_day: amount, outflow_week: amount },
        }),
      ),
    );
    let moved = 0;
    fc.assert(
      fc.property(views, amount, (all, dailyCap) => {
        const answer = decide(all, { dailyCap });
        const total = answer.moves.reduce((sum, move) => sum + move.amount, 0n);
        assert.ok(total <= dailyCap);
        const to = answer.moves.map((move) => move.to);
        assert.equal(new Set(to).size, to.length);
        const leaving = (chainId: ChainId) =>
          answer.moves.filter(({ from }) => from === chainId).reduce((sum, move) => sum + move.amount, 0n);
        for (const { chainId, float, reserved } of all) {
          const left = leaving(chainId);
          if (left > 0n) assert.ok(float - reserved - left >= limits.minimum, `${chainId} keeps its minimum`);
        }
        for (const move of answer.moves) {
          moved += 1;
          assert.ok(move.amount >= settings.smallestMove && move.feeMax <= feeLimit(move.amount));
          assert.notEqual(move.from, move.to as CctpChainId);
          const there = all.find(({ chainId }) => chainId === move.to);
          // A float can fill a lower one and be filled by a higher one.
          const before = there && there.float - there.reserved - leaving(move.to) + there.inTransit;
          assert.ok(before !== undefined && before + move.amount <= limits.target);
        }
        assert.deepEqual(decide(all, { dailyCap }), answer, 'equal inputs give equal moves');
      }),
      { numRuns: 1_000 },
    );
    assert.ok(moved > 200);
  });
});
