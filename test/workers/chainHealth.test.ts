import assert from 'node:assert/strict';
import type { Clock } from '../../commands/ports.ts';
import { instant } from '../../domain/time.ts';
import type { WatchedNode } from '../../src/chains/health.ts';
import { type NodeResult, watchChainHealth } from '../../src/workers/health/chainHealth.ts';

const noon_ms = Date.parse('2026-11-22T12:00:00.000Z');
const head = { blockNumber: 7n, time: instant(noon_ms) };

/** This number of rounds, one every 20 seconds. */
async function rounds(count: number, nodes: readonly Partial<WatchedNode>[], broken = false) {
  const stop = new AbortController();
  let now_ms = noon_ms;
  const seen = { looks: [] as (readonly NodeResult[])[], differences: [] as string[], failures: [] as unknown[] };
  const clock: Clock = {
    now: () => instant(now_ms),
    async sleep(duration_ms) {
      now_ms += duration_ms;
      if (now_ms - noon_ms >= count * 20_000) stop.abort();
    },
  };
  const whole = nodes.map((node, at) => ({
    name: `node ${at + 1}`,
    refuse: () => {},
    refused: () => null,
    identity: async () => 'main',
    look: async () => ({ head, final: null }),
    differences: async () => [],
    features: async () => [],
    ...node,
  }));
  await watchChainHealth(
    {
      clock,
      health: { nodes: whole, finalSteps_ms: 1_000 },
      compared: { pace: true },
      stands: (all) => seen.looks.push(all),
      foreign: {
        async judge() {
          if (broken) throw new Error('Postgres is away');
        },
      },
      differs: (message) => seen.differences.push(message),
      failed: (error) => seen.failures.push(error),
    },
    stop.signal,
  );
  return seen;
}

describe('checking the nodes of a chain', () => {
  it('shows each node’s own report: one that fails hides no other', async () => {
    const failing = { look: () => Promise.reject(new Error('refused: limited')) };
    const { looks } = await rounds(1, [failing, {}]);
    assert.deepEqual(looks, [
      [
        { node: 'node 1', look: { failure: 'refused: limited' } },
        { node: 'node 2', look: { head, final: null } },
      ],
    ]);
  });

  it('compares the chain with this release’s facts at start and daily, by the first node that can report', async () => {
    let asked = 0;
    const differences = async () => {
      asked += 1;
      return ['blocks come faster'];
    };
    const away = { differences: () => Promise.reject(new Error('away')) };
    const day = (24 * 3_600) / 20;
    const found = await rounds(day + 1, [away, { differences }, { differences }]);
    assert.equal(asked, 2);
    assert.deepEqual(found.differences, ['blocks come faster', 'blocks come faster']);
  });

  it('repeats in the next round while no node can report', async () => {
    let asked = 0;
    const differences = async () => {
      asked += 1;
      if (asked < 3) throw new Error('away');
      return [];
    };
    await rounds(9, [{ differences }]);
    assert.equal(asked, 3);
  });

  it('continues after a round that could not finish', async () => {
    const { looks, failures } = await rounds(3, [{}], true);
    assert.deepEqual([looks.length, failures.length], [3, 3]);
  });
});
