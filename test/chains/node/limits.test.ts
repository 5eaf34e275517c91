import assert from 'node:assert/strict';
import { createLimits } from '../../../src/chains/node/limiter.ts';
import { fakeTicker } from '../../support/fakeTicker.ts';

const minutes = (count: number) => count * 60_000;

describe('the limit of one call to a node', () => {
  const learning = () => {
    const ticker = fakeTicker();
    return { ticker, limits: createLimits(ticker) };
  };

  it('follows from its refusals, and is never less than one', () => {
    const { limits } = learning();
    assert.equal(limits.most('calls'), undefined);
    for (const [refused, left] of [
      [5, 5],
      [8, 5],
      [0, 1],
    ] as const) {
      limits.learn('calls', refused);
      assert.equal(limits.most('calls'), left);
    }
    assert.equal(limits.most('logBlocks'), undefined);
  });

  it('is tried at twice its size after ten minutes, one step at a time', async () => {
    const { ticker, limits } = learning();
    limits.learn('logBlocks', 100);
    await ticker.pass(minutes(9));
    assert.equal(limits.most('logBlocks'), 100);
    await ticker.pass(minutes(600));
    assert.equal(limits.most('logBlocks'), 200);
    assert.equal(limits.most('logBlocks'), 200);
    await ticker.pass(minutes(10));
    assert.equal(limits.most('logBlocks'), 400);
  });

  it('is tried more rarely each time that it was too much: after a day at most', async () => {
    const { ticker, limits } = learning();
    limits.learn('calls', 10);
    for (const wait of [10, 20, 40, 80, 160, 320, 640, 1_280, 1_440, 1_440]) {
      await ticker.pass(minutes(wait - 1));
      assert.equal(limits.most('calls'), 10, `before ${wait} minutes`);
      await ticker.pass(minutes(1));
      assert.equal(limits.most('calls'), 20, `after ${wait} minutes`);
      limits.learn('calls', 10);
    }
  });

  it('is removed when no call of that size is ever made', async () => {
    const { ticker, limits } = learning();
    limits.learn('calls', 600_000);
    await ticker.pass(minutes(10));
    assert.equal(limits.most('calls'), undefined);
  });
});
