import assert from 'node:assert/strict';
import { transferId } from '../../domain/payment/events.ts';
import { type Instant, plus } from '../../domain/time.ts';
import {
  expectedOfChain,
  firstToWatch,
  isChainAwaited,
  payinsAbove,
  payinsInBlocks,
  pendingPayins,
  unfinalised,
} from '../../queries/payins.ts';
import { createCursors } from '../../src/postgres/cursors.ts';
import { createWorld } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { givenReadModels } from './given.ts';

describe('recorded payins', () => {
  const given = givenReadModels();

  const inBlock = (block: number, tx: string, amount?: string) =>
    p.payin({ tx, block, ...(amount !== undefined && { amount }) });
  /** Selects up to a block. Payins that have left the chain are not pending. */
  const until = (upTo: bigint, largeFrom_usd: bigint) => ({
    ...{ chainId: 8453, upTo, largeFrom_usd },
    leftAfter: p.minute(10_000),
  });
  const transfers = (found: readonly { transferId: string; large: boolean }[]) =>
    found.map(({ transferId, large }) => [transferId, large]);

  it('are pending from their detection until they are final or gone, and large by either amount', async () => {
    const [early, late, final, gone] = [
      inBlock(100, 'a', '1.00'),
      inBlock(105, 'b', '900.00'),
      inBlock(100, 'c'),
      inBlock(100, 'd'),
    ];
    await given.payments(
      [...p.unpaid, p.detected(late), p.detected(early)],
      [...p.unpaid, p.detected(final), p.confirmed(final)],
      [...p.unpaid, p.detected(gone), p.orphaned(gone)],
    );
    const pending = (upTo: bigint, large: bigint) => pendingPayins(given.database, until(upTo, large));
    assert.deepEqual(transfers(await pending(104n, 500n)), [[transferId(early), false]]);
    assert.deepEqual(transfers(await pending(105n, 500n)), [
      [transferId(early), false],
      [transferId(late), true],
    ]);
    assert.deepEqual(transfers(await pending(104n, 11n)), [[transferId(early), true]]);
    assert.deepEqual(await pendingPayins(given.database, { ...until(200n, 500n), chainId: 1 }), []);
  });

  it('are pending for a while, too, when their block has left: the node that reported it may have been wrong', async () => {
    const [gone, seen] = [inBlock(100, 'a'), inBlock(101, 'b')];
    await given.payments([...p.unpaid, p.detected(gone), p.orphaned(gone), p.detected(seen)]);
    const pendingAfter = async (leftAfter: Instant) =>
      (await pendingPayins(given.database, { ...until(200n, 500n), leftAfter })).map((found) => [
        found.transferId,
        found.left,
      ]);
    const oldestAfter = async (leftAfter: Instant) =>
      (await expectedOfChain(given.database, { chainId: 8453, after: leftAfter, leftAfter })).oldestPending;
    assert.deepEqual(await pendingAfter(plus(gone.blockTime, -1)), [
      [transferId(gone), true],
      [transferId(seen), false],
    ]);
    assert.equal(await oldestAfter(plus(gone.blockTime, -1)), 100n);
    assert.deepEqual(await pendingAfter(gone.blockTime), [[transferId(seen), false]]);
    assert.equal(await oldestAfter(gone.blockTime), 101n);
  });

  it('are found by their block', async () => {
    const [one, other] = [inBlock(100, 'a'), inBlock(101, 'b')];
    await given.payments([...p.unpaid, p.detected(one), p.detected(other), p.confirmed(other)]);
    const found = await payinsInBlocks(given.database, 8453, [one.blockHash, other.blockHash], 500n);
    assert.equal(found.length, 2);
    assert.deepEqual(transfers(await payinsInBlocks(given.database, 8453, [other.blockHash], 500n)), [
      [transferId(other), false],
    ]);
  });

  it('are found above a block while they are on the chain', async () => {
    const [low, high, gone] = [inBlock(100, 'a'), inBlock(102, 'b'), inBlock(103, 'c')];
    await given.payments([
      ...p.unpaid,
      p.detected(low),
      p.detected(high),
      p.confirmed(high),
      p.detected(gone),
      p.orphaned(gone),
    ]);
    const above = { chainId: 8453, above: 100n, largeFrom_usd: 500n };
    const found = await payinsAbove(given.database, above, null, 10);
    assert.deepEqual(transfers(found), [[transferId(high), false]]);
    assert.deepEqual(await payinsAbove(given.database, { ...above, above: 102n }, null, 10), []);
    const [first] = await payinsAbove(given.database, { ...above, above: 99n }, null, 1);
    assert.ok(first);
    const rest = await payinsAbove(given.database, { ...above, above: 99n }, first, 10);
    assert.deepEqual(transfers([first, ...rest]), transfers([{ transferId: transferId(low), large: false }, ...found]));
  });

  it('are unfinalised until the deepest pass has passed their block', async () => {
    const cursors = createCursors(given.database);
    const cursor = { chainId: 8453, pass: 'finalLarge', blockHash: '0x7', chainTime: p.minute(7) } as const;
    const small = [inBlock(100, 'a', '1.000001'), inBlock(101, 'b', '2.00'), inBlock(102, 'c', '4.00')] as const;
    await given.payments([...p.unpaid, ...small.map((each) => p.confirmed(each)).slice(0, 2), p.detected(small[2])]);
    assert.equal(await unfinalised(given.database, 8453), 3_000001n);
    await given.database.query('TRUNCATE ops.chain_cursors');
    await cursors.save({ ...cursor, blockNumber: 100n }, null);
    assert.equal(await unfinalised(given.database, 8453), 2_000000n);
    assert.equal(await unfinalised(given.database, 1), 0n);
  });

  it('begin with the oldest waiting payment, or with the last known event', async () => {
    await given.payments(p.done);
    const [last] = await given.database.query<{ at: string }>('SELECT max(updated_at) AS at FROM payments');
    assert.equal(await firstToWatch(given.database), last?.at);
    given.world = createWorld();
    await given.payments(p.done, p.unpaid);
    assert.equal(await firstToWatch(given.database), p.created_at);
  });

  describe('are waited for', () => {
    const awaited = async (...chainIds: readonly number[]) =>
      Promise.all(chainIds.map((chainId) => isChainAwaited(given.database, chainId)));

    it('by nobody where all payments are over', async () => {
      await given.payments(p.done);
      assert.deepEqual(await awaited(8453, 1, 137), [false, false, false]);
    });

    it('on the chain that an open payment is paid on, and on no other', async () => {
      await given.payments(p.done, p.unpaid);
      assert.deepEqual(await awaited(8453, 1, 137), [true, false, false]);
    });

    it('on every chain of an open payment whose deposit was disclosed', async () => {
      const created = p.created({ alternatives: [p.polygonUsdc, p.solanaUsdc] });
      await given.payments([created]);
      assert.deepEqual(await awaited(8453, 137, 501, 1), [true, true, false, false]);
      given.world = createWorld();
      await given.payments([created, p.chose(p.solanaUsdc)]);
      assert.deepEqual(await awaited(8453, 137, 501, 1), [true, true, true, false]);
    });

    it('on both chains of a payment that is funded, until it is paid out', async () => {
      await given.payments(p.paid);
      assert.deepEqual(await awaited(8453, 1, 137), [true, true, false]);
      given.world = createWorld();
      await given.payments(p.sent);
      assert.deepEqual(await awaited(8453, 1, 137), [true, true, false]);
    });

    it('until late money for a payment that is over is final or gone', async () => {
      const late = inBlock(200, 'late');
      await given.payments([...p.done, p.detected(late)]);
      assert.deepEqual(await awaited(8453), [true]);
      given.world = createWorld();
      await given.payments([...p.done, p.detected(late), p.confirmed(late)]);
      assert.deepEqual(await awaited(8453), [false]);
    });
  });
});
