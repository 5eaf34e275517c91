import assert from 'node:assert/strict';
import type { TransferLog } from '../../../../commands/chainPorts.ts';
import { chainOf } from '../../../../domain/chains.ts';
import { instant } from '../../../../domain/time.ts';
import { createHeadMemory } from '../../../../src/chains/solana/payins/memory.ts';
import type { SolanaNode } from '../../../../src/chains/solana/rpc.ts';

const [node, other] = ['node 1', 'node 2'].map((name) => ({ name }) as SolanaNode) as [SolanaNode, SolanaNode];
const [token] = chainOf(501).tokens;
const unread = { amount: 0n, signature: null };
const balance = (amount: bigint, slot = 100n) => ({ owner: 'owner', account: 'account', amount, slot });

const paid = (txHash: string, amount: bigint, slot: bigint): TransferLog => {
  assert.ok(token);
  const block = { blockNumber: slot, blockHash: `block ${slot}`, blockTime: instant(0) };
  return { ...block, to: 'owner', memo: null, from: 'payer', token, amount, txHash, logIndex: 1 };
};
const sameBlocks = async (slot: bigint) => `block ${slot}`;

describe('the head pass’s reads of an account on Solana', () => {
  const recalling = () => {
    const recall = createHeadMemory();
    recall.keep(node, 'account', [paid('a', 5n, 90n)]);
    recall.keep(node, 'account', [paid('b', 2n, 95n)]);
    const explained = async (...asked: Parameters<typeof recall.explaining>) =>
      (await recall.explaining(...asked))?.map(({ txHash }) => txHash);
    return { recall, explained };
  };

  it('explain a balance that they add up to, from the final pass’s position', async () => {
    const { explained } = recalling();
    assert.deepEqual(await explained(node, balance(7n), unread, sameBlocks), ['a', 'b']);
    assert.deepEqual(await explained(node, balance(7n), { amount: 5n, signature: 'a' }, sameBlocks), ['b']);
    assert.deepEqual(await explained(node, balance(5n, 92n), unread, sameBlocks), ['a']);
  });

  it('explain no balance with another sum, from another node, or with a block that differs or is missing', async () => {
    const { explained } = recalling();
    assert.equal(await explained(node, balance(8n), unread, sameBlocks), undefined);
    assert.equal(await explained(other, balance(7n), unread, sameBlocks), undefined);
    assert.equal(await explained(node, balance(7n), unread, async () => 'fork'), undefined);
    assert.equal(await explained(node, balance(7n), unread, async () => undefined), undefined);
  });

  it('count a transaction once, in its latest place', async () => {
    const { recall, explained } = recalling();
    recall.keep(node, 'account', [paid('a', 5n, 97n)]);
    assert.deepEqual(await explained(node, balance(7n), unread, sameBlocks), ['b', 'a']);
    assert.equal(await explained(node, balance(5n, 96n), unread, sameBlocks), undefined);
  });
});
