/** Facts about chains on payers' pages: a page view calls no node. */
import assert from 'node:assert/strict';
import { chainOf } from '../../domain/chains.ts';
import { instant } from '../../domain/time.ts';
import { createNetworkCosts, usualFinality } from '../../src/api/networks.ts';

const minute = 60_000;

function world(answers: (() => Promise<bigint>)[]) {
  let now_ms = Date.UTC(2026, 10, 21);
  let calls = 0;
  const costOf = createNetworkCosts({
    clock: { now: () => instant(now_ms) },
    rails: new Map([
      [
        1,
        {
          transferCost: () => {
            const answer = answers[Math.min(calls, answers.length - 1)] ?? assert.fail('no answer');
            calls += 1;
            return answer();
          },
        },
      ],
    ]),
    coins: new Map([[1, { price_microUsd: 4_000_000_000n, decimals: 18 }]]),
  });
  return {
    costOf,
    calls: () => calls,
    pass: (length_ms: number) => {
      now_ms += length_ms;
    },
    settled: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

describe('the cost of a network', () => {
  it('is queried once in five minutes, however many pages are viewed, and nobody waits for it', async () => {
    const { costOf, calls, pass, settled } = world([async () => 10n ** 14n, async () => 2n * 10n ** 14n]);
    assert.equal(costOf(1), null);
    await settled();
    for (let views = 0; views < 1_000; views += 1) assert.equal(costOf(1), 400_000n);
    assert.equal(calls(), 1);
    pass(5 * minute);
    assert.equal(costOf(1), 400_000n, 'the last one, while another is computed');
    await settled();
    assert.deepEqual([costOf(1), calls()], [800_000n, 2]);
  });

  it('is unknown for a chain that is not served, and after an hour without an answer', async () => {
    const failing = () => Promise.reject(new Error('no node answers'));
    const { costOf, calls, pass, settled } = world([async () => 10n ** 14n, failing]);
    assert.equal(costOf(137), null);
    costOf(1);
    await settled();
    for (let past = 0; past < 55; past += 5) {
      pass(5 * minute);
      assert.equal(costOf(1), 400_000n, `after ${past} minutes`);
      await settled();
    }
    pass(5 * minute);
    assert.equal(costOf(1), null);
    assert.ok(calls() <= 13, `${calls()} calls in an hour`);
  });
});

describe('the usual time until a payment is final', () => {
  it('follows from the blocks on top, from the chain’s own finality, or from the required age', () => {
    const base = {
      largeFrom: 1_000n,
      blocksOnTop: (pass: string) => (pass === 'final' ? 100 : null),
      leastAge_ms: () => 0,
    };
    const bnb = { largeFrom: null, blocksOnTop: () => null, leastAge_ms: () => 7_000 };
    const of = usualFinality(
      new Map([
        [8453, { ingester: base }],
        [56, { ingester: bnb }],
      ] as const),
    );
    assert.equal(of(8453, '18.50'), chainOf(8453).block_ms * 101);
    assert.equal(of(8453, '1000.00'), chainOf(8453).block_ms + chainOf(8453).finalized_ms);
    assert.equal(of(56, null), chainOf(56).block_ms + 7_000);
    assert.equal(of(501, '5.00'), chainOf(501).block_ms + chainOf(501).finalized_ms);
  });
});
