import assert from 'node:assert/strict';
import { createBlockClock } from '../../sandbox/blockClock.ts';

const awake_ms = 300_000;

describe('the clock of a local EVM chain', () => {
  let now_ms: number;
  let used: boolean;
  let blocks: number;
  let tick: () => Promise<void>;
  beforeEach(() => {
    now_ms = 1_000;
    used = false;
    blocks = 0;
    const chain = {
      inUse: async () => used,
      mine: async () => {
        blocks += 1;
      },
    };
    tick = createBlockClock(chain, { awake_ms, now: () => now_ms });
  });

  const passes = async (duration_ms: number): Promise<number> => {
    const before = blocks;
    now_ms += duration_ms;
    await tick();
    return blocks - before;
  };

  it('makes a block at each tick after its start, until nobody has used the chain for long', async () => {
    assert.equal(await passes(0), 1);
    assert.equal(await passes(awake_ms - 1), 1);
    assert.equal(await passes(1), 0);
    assert.equal(await passes(awake_ms), 0);
  });

  it('makes one as soon as a transaction waits, and continues as after its start', async () => {
    await passes(awake_ms);
    used = true;
    assert.equal(await passes(1), 1);
    used = false;
    assert.equal(await passes(awake_ms - 1), 1);
    assert.equal(await passes(1), 0);
  });

  it('makes none for a chain that does not answer, and continues when it answers again', async () => {
    let away = true;
    const flaky = createBlockClock(
      {
        async inUse() {
          if (away) throw new Error('refused');
          return false;
        },
        mine: async () => {
          blocks += 1;
        },
      },
      { awake_ms, now: () => now_ms },
    );
    await assert.rejects(flaky(), /refused/);
    assert.equal(blocks, 0);
    away = false;
    await flaky();
    assert.equal(blocks, 1);
  });
});
