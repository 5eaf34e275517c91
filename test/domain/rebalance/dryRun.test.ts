import assert from 'node:assert/strict';
import type { ChainId } from '../../../domain/chains.ts';
import { fast } from '../../../domain/rebalance/cctp.ts';
import { type DryRun, dryRun, type FloatFlow, sparkline } from '../../../domain/rebalance/dryRun.ts';
import type { PolicySettings } from '../../../domain/rebalance/policy.ts';
import { day_ms, epochMs, hour_ms, instant, minute_ms, plus } from '../../../domain/time.ts';
import { minute } from '../../support/payments.ts';
import { sequence } from '../../support/sequence.ts';

const usd = (dollars: number): bigint => BigInt(dollars) * 1_000_000n;
const begin = minute(0);
const limits = { minimum: usd(4_000), target: usd(10_000), maximum: usd(20_000) };
const served: readonly ChainId[] = [1, 42161, 8453, 137];

const settings: PolicySettings = {
  mode: 'automatic',
  floats: new Map(served.map((id) => [id, limits])),
  dailyCap: usd(60_000),
  coolDown_ms: hour_ms,
  smallestMove: usd(200),
  largestMove: usd(50_000),
  automaticBelow: usd(20_000),
  fastFeeMax_bps: 14,
};

/** Payments of 20 to 220 dollars from any chain; two chains get 80 % of the payouts. */
function skewed(days: number, perDay: number): readonly FloatFlow[] {
  const random = sequence(46);
  return Array.from({ length: days * perDay }, (_, at) => {
    const paidIn = served[Math.floor(random() * 4)] ?? 1;
    const busy = random() < 0.8;
    const paidOut = served[Math.floor(random() * 2) + (busy ? 0 : 2)] ?? 1;
    const amount = usd(20 + Math.floor(random() * 200));
    const when = plus(begin, Math.floor((at * day_ms) / perDay));
    return [
      { at: when, chainId: paidIn, amount, isDemand: false },
      { at: plus(when, minute_ms), chainId: paidOut, amount: -amount, isDemand: true },
    ];
  }).flat();
}

const run = (change: Partial<DryRun> = {}): DryRun => ({
  symbol: 'USDC',
  flows: [],
  opening: new Map(served.map((id) => [id, usd(10_000)])),
  from: begin,
  to: plus(begin, day_ms),
  settings,
  feeOf: (_, __, finality) => (finality === fast ? 1 : 0),
  ...change,
});

const refused = (hours: ReadonlyMap<ChainId, number>): number =>
  [...hours.values()].reduce((sum, each) => sum + each, 0);

describe('the dry run of the policy', () => {
  it('over 90 days with 80 % of the payouts on two chains: none is refused with the policy, many are without', () => {
    const flows = skewed(90, 200);
    const { without, with: moved } = dryRun(run({ flows, to: plus(begin, 90 * day_ms) }));
    assert.ok(without.refusedPayments > 1_000, `${without.refusedPayments} were refused without`);
    assert.ok(refused(without.refusedHours) > 500);
    assert.equal(moved.refusedPayments, 0);
    assert.equal(refused(moved.refusedHours), 0);
    assert.ok(moved.moves.length > 50);
    assert.equal(moved.hourly.get(1)?.length, 90 * 24);
    const volume = moved.moves.reduce((sum, { amount }) => sum + amount, 0n);
    assert.ok(moved.fees <= volume / 10_000n, 'the fees are at most those of fast moves');
  });

  it('conserves all money: the end is the opening plus receipts less payouts and fees', () => {
    const flows = skewed(20, 200);
    const { with: moved } = dryRun(run({ flows, to: plus(begin, 20 * day_ms) }));
    const opening = usd(40_000);
    const net = flows.reduce((sum, { amount }) => sum + amount, 0n);
    const held = served.reduce((sum, id) => sum + (moved.hourly.get(id)?.at(-1) ?? 0n), 0n);
    assert.equal(held + moved.inTransit + moved.fees, opening + net);
  });

  it('orders no more than the daily cap, and no two moves to a chain within the cool-down', () => {
    const capped = { ...settings, dailyCap: usd(3_000) };
    const { with: moved } = dryRun(run({ flows: skewed(10, 200), to: plus(begin, 10 * day_ms), settings: capped }));
    assert.ok(moved.moves.length > 5);
    for (const { at, to } of moved.moves) {
      const [since, until] = [epochMs(at) - day_ms, epochMs(at)];
      const within = moved.moves.filter((each) => epochMs(each.at) > since && epochMs(each.at) <= until);
      assert.ok(within.reduce((sum, { amount }) => sum + amount, 0n) <= usd(3_000));
      const same = moved.moves.filter((each) => each.to === to && each.at < at);
      assert.ok(same.every((each) => epochMs(each.at) + hour_ms <= until));
    }
  });

  it('counts a payment as refused in the hour in which its float lacks the money', () => {
    const out = (minutes: number, dollars: number): FloatFlow => ({
      at: minute(minutes),
      chainId: 56,
      amount: -usd(dollars),
      isDemand: true,
    });
    const opening = new Map<ChainId, bigint>([[56, usd(100)]]);
    const floats = new Map<ChainId, typeof limits>([[56, limits]]);
    const flows = [out(10, 60), out(20, 60), out(30, 60), out(70, 50), out(80, 40)];
    const { without, with: moved } = dryRun(run({ flows, opening, settings: { ...settings, floats } }));
    for (const course of [without, moved]) {
      assert.equal(course.refusedPayments, 3);
      assert.equal(course.refusedAmount, usd(170));
      assert.equal(course.refusedHours.get(56), 2);
    }
    assert.equal(without.hourly.get(56)?.[0], usd(40));
    assert.equal(without.hourly.get(56)?.at(-1), 0n);
    assert.deepEqual(moved.moves, [], 'no route leads to BNB Chain');
  });

  it('lets money arrive after the time of its route, in that very minute', () => {
    const opening = new Map<ChainId, bigint>([
      [1, usd(1_000)],
      [8453, usd(30_000)],
    ]);
    const floats = new Map<ChainId, typeof limits>([
      [1, limits],
      [8453, limits],
    ]);
    const out = (at: number): FloatFlow => ({ at: minute(at), chainId: 1, amount: -usd(5_000), isDemand: true });
    const refusedAt = (at: number) =>
      dryRun(run({ flows: [out(at)], opening, settings: { ...settings, floats } })).with.refusedPayments;
    assert.equal(refusedAt(18), 1);
    assert.equal(refusedAt(19), 0);
  });

  it('moves USDT by messages that cost no tokens, each within the time of its source', () => {
    const opening = new Map<ChainId, bigint>([
      [1, usd(1_000)],
      [42161, usd(30_000)],
      [137, usd(30_000)],
    ]);
    const floats = new Map(([1, 42161, 137] as const).map((id) => [id, limits] as const));
    const out = (at: number): FloatFlow => ({ at: minute(at), chainId: 1, amount: -usd(5_000), isDemand: true });
    const replay = (cheapest: ChainId, at: number) =>
      dryRun(
        run({
          ...{ symbol: 'USDT', flows: [out(at)], opening, settings: { ...settings, floats } },
          feeOf: (from) => (from === cheapest ? 1 : 2),
        }),
      ).with;
    const moved = replay(42161, 5);
    assert.deepEqual([moved.refusedPayments, moved.fees, moved.moves[0]?.way], [0, 0n, 'message']);
    assert.equal(replay(42161, 4).refusedPayments, 1);
    assert.deepEqual([replay(137, 29).refusedPayments, replay(137, 30).refusedPayments], [1, 0]);
  });

  it('begins at its own time: earlier records are in the opening', () => {
    const flows: readonly FloatFlow[] = [
      { at: instant(epochMs(begin) - 1), chainId: 1, amount: usd(7), isDemand: false },
    ];
    assert.equal(dryRun(run({ flows })).without.hourly.get(1)?.at(-1), usd(10_000));
  });
});

describe('a sparkline', () => {
  it('shows the lowest value of each column, and an empty float as a point', () => {
    assert.equal(sparkline([8n, 8n, 4n, 8n, 0n, 8n], 3), '█▄·');
    assert.equal(sparkline([1n, 7n], 60), '▂█');
    assert.equal(sparkline([], 60), '');
  });
});
