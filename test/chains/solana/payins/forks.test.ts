import assert from 'node:assert/strict';
import { type SeenPayin, type TransferLog, transferOf } from '../../../../commands/chainPorts.ts';
import { transferId } from '../../../../domain/payment/events.ts';
import { forkTo } from '../../../../sandbox/solana/controls.ts';
import { startProxy } from '../../proxy.ts';
import { signal } from '../world.ts';
import { briefly, eachWithDeposit, watching } from './watching.ts';

describe('a fork on Solana', () => {
  const own = eachWithDeposit();

  it('drops a payin only when the slot is final: then another block is there', async () => {
    const watcher = watching(own.world, [own.deposit]);
    const txHash = await own.pay(5n);
    const slot = own.slotOf(txHash);
    own.world.solana.advanceSlots(1);
    const [log] = (await watcher.poll('head'))?.logs ?? [];
    assert.ok(log);
    await forkTo(own.world.solana.rpcUrl, slot - 1);
    assert.equal(await watcher.ingester.hasLeft(seenIn(log), signal), false);
    own.world.settle();
    assert.deepEqual(briefly(await watcher.poll('final')), []);
    assert.deepEqual(await watcher.ingester.lookUp(txHash, signal), []);
    assert.equal(await watcher.ingester.hasLeft(seenIn(log), signal), true);
  });

  it('removes a transfer that one node had forged: enough nodes return its block without the transfer', async () => {
    const watcher = watching(own.world, [own.deposit]);
    await own.pay(5n);
    own.world.solana.advanceSlots(1);
    const [log] = (await watcher.poll('head'))?.logs ?? [];
    assert.ok(log);
    const madeUp = { ...seenIn(log), txHash: 'made-up', transferId: '501:made-up:1' };
    assert.equal(await watcher.ingester.hasLeft(madeUp, signal), false, 'its slot is not final yet');
    own.world.settle();
    assert.equal(await watcher.ingester.hasLeft(madeUp, signal), true);
    assert.equal(await watcher.ingester.hasLeft(seenIn(log), signal), false);
    const elsewhere = { ...seenIn(log), transferId: `${seenIn(log).transferId}9` };
    assert.equal(await watcher.ingester.hasLeft(elsewhere, signal), true, 'the transaction did not pay that account');
    const withIt = await startProxy(own.world.solana.rpcUrl, async (method, params, forward) => {
      const answer = await forward(method, params);
      return method === 'getBlock' ? { ...(answer as object), signatures: [madeUp.txHash] } : answer;
    });
    const doubtful = watching(own.world, [own.deposit], [own.world.solana.rpcUrl, withIt.url]);
    assert.equal(await doubtful.ingester.hasLeft(madeUp, signal), false, 'one of two nodes has it in the block');
  });

  it('proves nothing if a block holds a transaction that its node does not find', async () => {
    const watcher = watching(own.world, [own.deposit]);
    const txHash = await own.pay(5n);
    own.world.solana.advanceSlots(1);
    const [log] = (await watcher.poll('head'))?.logs ?? [];
    assert.ok(log);
    own.world.settle();
    const node = await startProxy(own.world.solana.rpcUrl, async (method, params, forward) =>
      method === 'getTransaction' && params[0] === txHash ? null : forward(method, params),
    );
    const { ingester } = watching(own.world, [own.deposit], [node.url]);
    assert.deepEqual(await ingester.lookUp(txHash, signal), []);
    assert.equal(await ingester.hasLeft(seenIn(log), signal), false);
  });

  it('moves a payin to another block: it is detected there, and again after it had left', async () => {
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

  it('proves nothing if a node just lacks blocks', async () => {
    const txHash = await own.pay(5n);
    own.world.settle(20);
    const slot = own.slotOf(txHash);
    const gone = { transferId: `501:${txHash}:1`, txHash, blockNumber: BigInt(slot), blockHash: 'another' };
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

const seenIn = (log: TransferLog): SeenPayin => ({ ...log, transferId: transferId(transferOf(501, log)) });
