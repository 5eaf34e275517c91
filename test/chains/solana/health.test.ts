import assert from 'node:assert/strict';
import { slotAt } from '../../../sandbox/solana/chain/commitments.ts';
import { createSolanaHealth } from '../../../src/chains/solana/health.ts';
import { createSolanaRpc } from '../../../src/chains/solana/rpc.ts';
import { startProxy } from '../proxy.ts';
import { signal, solanaWorld } from './world.ts';

describe('the health of a Solana node', () => {
  it('has its genesis hash, its newest slot and the final one; its pace once it has advanced far enough', async () => {
    const { lab, config } = await solanaWorld();
    const { solana } = lab;
    const [node] = createSolanaHealth(createSolanaRpc(config())).nodes;
    assert.ok(node);
    assert.equal(await node.identity(signal), solana.chain.blockhashes.at(0));
    const look = await node.look(signal);
    assert.equal(look.head.blockNumber, BigInt(slotAt('confirmed', solana.chain.head(), solana.chain.finality)));
    assert.deepEqual(look.final, {
      blockNumber: BigInt(slotAt('finalized', solana.chain.head(), solana.chain.finality)),
    });
    assert.deepEqual(await node.differences({ pace: false }, signal), []);
    solana.advanceSlots(600);
    const proxy = await startProxy(solana.rpcUrl, async (method, params, forward) => {
      const answer = await forward(method, params);
      return method === 'getBlock' ? { ...(answer as object), blockTime: Number(params[0]) * 3 } : answer;
    });
    const [slow] = createSolanaHealth(createSolanaRpc(config([proxy.url]))).nodes;
    const [found] = (await slow?.differences({ pace: true }, signal)) ?? [];
    assert.match(found ?? '', /Solana makes a block every 3000 ms, and this release counts on 400/);
  });
});
