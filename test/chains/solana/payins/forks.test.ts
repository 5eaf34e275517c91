import assert from 'node:assert/strict';
import { forkTo } from '../../../../sandbox/solana/controls.ts';
import { startProxy } from '../../proxy.ts';
import { signal } from '../world.ts';
import { briefly, eachWithDeposit, watching } from './watching.ts';

describe('a fork on Solana', () => {
  const own = eachWithDeposit();

  it('that drops a payin shows only when the slot is final: then another block is there', async () => {
    const watcher = watching(own.world, [own.deposit]);
    const txHash = await own.pay(5n);
    const slot = own.slotOf(txHash);
    own.world.solana.advanceSlots(1);
    const [log] = (await watcher.poll('head'))?.logs ?? [];
    assert.ok(log);
    await forkTo(own.world.solana.rpcUrl, slot - 1);
    assert.equal(await watcher.ingester.hasLeft(log, signal), false);
    own.world.settle();
    assert.deepEqual(briefly(await watcher.poll('final')), []);
    assert.deepEqual(await watcher.ingester.lookUp(txHash, signal), []);
    assert.equal(await watcher.ingester.hasLeft(log, signal), true);
    const still = { blockNumber: BigInt(slot), blockHash: own.world.solana.chain.blockhashes.at(slot) };
    assert.equal(await watcher.ingester.hasLeft(still, signal), false);
  });

  it('that moves a payin to another block: it is seen there, and the same again after it had left', async () => {
    const watcher = watching(own.world, [own.deposit]);
    const signed = await own.world.lab.signed(
      own.payer,
      await own.world.lab.payment({ from: own.payer, to: own.deposit, amount: 5n }),
    );
    own.world.solana.advanceSlots(1);
    const txHash = await own.world.lab.send(signed);
    const slot = own.slotOf(txHash);
    own.world.solana.advanceSlots(1);
    assert.equal(briefly(await watcher.poll('head')).length, 1);
    await forkTo(own.world.solana.rpcUrl, slot - 1);
    own.world.solana.advanceSlots(1);
    await watcher.poll('head');
    assert.equal(await own.world.lab.send(signed), txHash);
    own.world.solana.advanceSlots(1);
    const again = await watcher.poll('head');
    assert.deepEqual(briefly(again), [own.paid(5n, txHash)]);
    assert.ok(again?.logs.every(({ blockNumber }) => blockNumber === BigInt(own.slotOf(txHash))));
    own.world.settle();
    assert.deepEqual(briefly(await watcher.poll('final')), [own.paid(5n, txHash)]);
  });

  it('is no proof where a node just lacks blocks', async () => {
    const txHash = await own.pay(5n);
    own.world.settle(20);
    const slot = own.slotOf(txHash);
    const gone = { blockNumber: BigInt(slot), blockHash: 'another' };
    const node = await startProxy(own.world.solana.rpcUrl, async (method, params, forward) => {
      const answer = await forward(method, params);
      return method === 'getBlocks'
        ? (answer as number[]).filter((each) => each < slot - 3 || each > slot + 3)
        : answer;
    });
    const watcher = watching(own.world, [own.deposit], [node.url]);
    assert.equal(await watcher.ingester.hasLeft(gone, signal), false);
    node.behave(async (method, params, forward) => {
      const answer = await forward(method, params);
      if (method === 'getBlocks') return (answer as number[]).filter((each) => each !== slot);
      if (method === 'getBlock' && params[0] === slot + 1) return { ...(answer as object), parentSlot: slot - 1 };
      return answer;
    });
    assert.equal(await watcher.ingester.hasLeft(gone, signal), true);
  });
});
