import assert from 'node:assert/strict';
import type { Keypair, PublicKey } from 'solana-web3-v1';
import { forkTo } from '../../../../sandbox/solana/controls.ts';
import { startProxy } from '../../proxy.ts';
import { type SolanaWorld, signal } from '../world.ts';
import { briefly, depositWorld, watching } from './watching.ts';

describe('a fork on Solana', () => {
  let world: SolanaWorld;
  let payer: Keypair;
  let deposit: PublicKey;
  beforeEach(async () => {
    ({ world, payer, deposit } = await depositWorld());
  });
  afterEach(() => world.lab.stop());

  const pay = (amount: bigint, to = deposit) => world.lab.pay({ from: payer, to, amount });
  const paid = (amount: bigint, txHash: string, to = deposit) => ({
    ...{ to: to.toBase58(), from: payer.publicKey.toBase58(), amount, txHash },
  });
  const slotOf = (signature: string) => world.solana.chain.history.find(signature)?.slot ?? -1;

  it('that drops a payin shows only when the slot is final: then another block is there', async () => {
    const watcher = watching(world, [deposit]);
    const txHash = await pay(5n);
    const slot = slotOf(txHash);
    world.solana.advanceSlots(1);
    const [log] = (await watcher.poll('head'))?.logs ?? [];
    assert.ok(log);
    await forkTo(world.solana.rpcUrl, slot - 1);
    assert.equal(await watcher.ingester.hasLeft(log, signal), false);
    world.settle();
    assert.deepEqual(briefly(await watcher.poll('final')), []);
    assert.deepEqual(await watcher.ingester.lookUp(txHash, signal), []);
    assert.equal(await watcher.ingester.hasLeft(log, signal), true);
    const still = { blockNumber: BigInt(slot), blockHash: world.solana.chain.blockhashes.at(slot) };
    assert.equal(await watcher.ingester.hasLeft(still, signal), false);
  });

  it('that moves a payin to another block: it is seen there, and the same again after it had left', async () => {
    const watcher = watching(world, [deposit]);
    const signed = await world.lab.signed(payer, await world.lab.payment({ from: payer, to: deposit, amount: 5n }));
    world.solana.advanceSlots(1);
    const txHash = await world.lab.send(signed);
    const slot = slotOf(txHash);
    world.solana.advanceSlots(1);
    assert.equal(briefly(await watcher.poll('head')).length, 1);
    await forkTo(world.solana.rpcUrl, slot - 1);
    world.solana.advanceSlots(1);
    await watcher.poll('head');
    assert.equal(await world.lab.send(signed), txHash);
    world.solana.advanceSlots(1);
    const again = await watcher.poll('head');
    assert.deepEqual(briefly(again), [paid(5n, txHash)]);
    assert.ok(again?.logs.every(({ blockNumber }) => blockNumber === BigInt(slotOf(txHash))));
    world.settle();
    assert.deepEqual(briefly(await watcher.poll('final')), [paid(5n, txHash)]);
  });

  it('is no proof where a node just lacks blocks', async () => {
    const txHash = await pay(5n);
    world.settle(20);
    const slot = slotOf(txHash);
    const gone = { blockNumber: BigInt(slot), blockHash: 'another' };
    const node = await startProxy(world.solana.rpcUrl, async (method, params, forward) => {
      const answer = await forward(method, params);
      return method === 'getBlocks'
        ? (answer as number[]).filter((each) => each < slot - 3 || each > slot + 3)
        : answer;
    });
    const watcher = watching(world, [deposit], [node.url]);
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
