import assert from 'node:assert/strict';
import { createBackwardSearch, rangesPerCallMax } from '../../src/chains/backwardSearch.ts';
import type { BlockRange } from '../../src/chains/historyPages.ts';

const size = 10;
const perCall = BigInt(size * rangesPerCallMax);

/** A chain whose transaction is in block `at`, and the ranges that were read of it. */
function chain(at: bigint | null, newest: bigint, oldest = 0n) {
  const read: BlockRange[] = [];
  const blocks = { newest, oldest };
  const lacking = { until: 0 };
  const search = createBackwardSearch(size);
  const call = async (key = 'node nonce') => {
    read.length = 0;
    return search(key, blocks, async (range) => {
      read.push(range);
      const isThere = at !== null && range.from <= at && at <= range.to && lacking.until === 0;
      return isThere ? at : undefined;
    });
  };
  return { read, blocks, lacking, call };
}

describe('a search of a chain’s past', () => {
  it('reads back from the newest block, each block once, and ranges within the limit', async () => {
    const { read, call } = chain(95n, 112n);
    assert.equal(await call(), 95n);
    assert.deepEqual(read, [
      { from: 103n, to: 112n },
      { from: 93n, to: 102n },
    ]);
  });

  it('finds a transaction that is older than one call reads, in bounded calls', async () => {
    const newest = 20n * perCall;
    const { read, call } = chain(newest - 6n * perCall, newest);
    let found: bigint | undefined;
    let calls = 0;
    for (; found === undefined && calls < 20; calls += 1) {
      found = await call();
      assert.ok(read.length <= rangesPerCallMax);
    }
    assert.equal(found, newest - 6n * perCall);
    // Passes of 1, 2, 4 and 8 calls: the last one finds it in its 7th.
    assert.equal(calls, 1 + 2 + 4 + 7);
    assert.equal(await call(), found, 'a later call of another node needs the same answer');
    assert.equal(read.length, 1);
  });

  it('reads blocks that are new since the last call before it continues', async () => {
    const { read, blocks, call } = chain(8_005n, 8_000n);
    await call();
    await call();
    const place = read.at(-1)?.from;
    blocks.newest = 8_001n;
    await call();
    assert.deepEqual(read[0], { from: 8_001n, to: 8_001n });
    assert.equal(read[1]?.to, (place ?? 0n) - 1n);
    blocks.newest = 8_009n;
    assert.equal(await call(), 8_005n);
    assert.deepEqual(read, [{ from: 8_002n, to: 8_009n }]);
    assert.equal(await call(), 8_005n, 'they are read again until the caller has recorded the find');
  });

  it('begins anew after the oldest block: the node omitted the transaction before', async () => {
    const { read, lacking, call } = chain(57n, 120n, 50n);
    lacking.until = 1;
    assert.equal(await call(), undefined);
    assert.deepEqual(read.at(-1), { from: 50n, to: 50n });
    lacking.until = 0;
    assert.equal(await call(), 57n);
  });

  it('reads recent blocks again before it reaches very old ones', async () => {
    const { lacking, call } = chain(9_999n - 3n, 9_999n);
    lacking.until = 1;
    assert.equal(await call(), undefined);
    lacking.until = 0;
    assert.equal(await call(), 9_996n);
  });

  it('begins anew if more blocks are new than one call reads', async () => {
    const { read, blocks, call } = chain(10_000n, 9_000n);
    await call();
    blocks.newest = 9_000n + 3n * perCall;
    let calls = 0;
    while ((await call()) === undefined && calls < 10) calls += 1;
    assert.ok(calls < 10);
    assert.ok(read.length <= rangesPerCallMax);
  });

  it('keeps the places of two searches apart', async () => {
    const { read, call } = chain(null, 9_000n);
    await call('a');
    await call('b');
    assert.equal(read[0]?.to, 9_000n);
  });
});
