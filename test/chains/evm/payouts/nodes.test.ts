import assert from 'node:assert/strict';
import { parseEther, zeroHash } from 'viem';
import { BroadcastRefused } from '../../../../commands/transferPorts.ts';
import { chainOf, findToken } from '../../../../domain/chains.ts';
import type { SignedAttempt } from '../../../../domain/transfer/shapes.ts';
import { fund } from '../../../../sandbox/tokens.ts';
import { createEvmPayoutRail } from '../../../../src/chains/evm/payouts/rail.ts';
import { ChainUnavailable } from '../../../../src/chains/evm/rpc.ts';
import type { Fate, NonceNumbering, PayoutRail, Unsigned } from '../../../../src/chains/ports.ts';
import { accountOf, type ChainClient, chainClient, sharedAnvil, treasury } from '../../../support/anvil.ts';
import { type Behaviour, broken, honest, type NodeProxy, Refusal, startProxy } from '../../proxy.ts';
import { evmConfig } from '../world.ts';
import { signedBy } from './signing.ts';

const { signal } = new AbortController();
const usdc = findToken(chainOf(8453), 'USDC')!;
const depth = 3;
const deepest = 6;

describe('EVM payouts over several nodes', () => {
  let client: ChainClient;
  let [first, second] = [] as unknown as [NodeProxy, NodeProxy];
  let rail: PayoutRail<NonceNumbering>;
  beforeEach(async () => {
    const { rpcUrl } = await sharedAnvil(8453);
    client = chainClient(rpcUrl);
    await fund(rpcUrl, 8453, treasury, { gas: parseEther('1'), tokens: { USDC: 10n ** 12n } });
    [first, second] = [await startProxy(rpcUrl), await startProxy(rpcUrl)];
    const depths = { final: 1, finalLarge: deepest, payout: depth };
    rail = createEvmPayoutRail({ ...evmConfig(8453, [first.url, second.url]), depths }, treasury);
  });

  it('are sent to every node, and one accepting node is enough', async () => {
    const attempt = await signed(rail);
    first.behave(broken);
    await rail.broadcast(attempt.bytes);
    first.behave(honest);
    const before = sent(first) + sent(second);
    await rail.broadcast(attempt.bytes);
    assert.equal(sent(first) + sent(second), before + 2);
    await client.mine({ blocks: 1 });
    assert.equal(await rail.numbering.minedNonce(signal), BigInt(attempt.nonce!) + 1n);
  });

  it('are numbered by the most advanced node’s mined count: one that is still syncing knows of no payouts', async () => {
    const attempt = await signed(rail);
    await rail.broadcast(attempt.bytes);
    await client.mine({ blocks: 1 });
    first.behave(syncing);
    assert.equal(await rail.numbering.minedNonce(signal), BigInt(attempt.nonce!) + 1n);
    const { tokens } = await rail.balances(signal);
    assert.ok((tokens[usdc.address] ?? 0n) > 0n, 'what it says of balances is no answer');
    await signed(rail);
  });

  it('begin an account’s history at no nonce that only one node reports', async () => {
    assert.equal(await rail.numbering.provenNonce(), await rail.numbering.minedNonce(signal));
    first.behave(async (method, params, forward) =>
      method === 'eth_getTransactionCount' ? '0xff' : forward(method, params),
    );
    assert.equal(await rail.numbering.provenNonce(), null);
  });

  for (const words of [
    'already known',
    'transaction already imported',
    'nonce too low: next nonce 8, tx nonce 7',
    'replacement transaction underpriced',
    'AlreadyKnown',
    'OldNonce',
    'existing tx with same hash',
  ]) {
    it(`count “${words}” as delivered`, async () => {
      const attempt = await signed(rail);
      [first, second].map((node) => node.behave(refusing('eth_sendRawTransaction', -32000, words)));
      await rail.broadcast(attempt.bytes);
    });
  }

  for (const words of [
    'insufficient funds for gas * price + value',
    'transaction underpriced',
    'intrinsic gas too low',
  ]) {
    it(`report that every node refuses: “${words}”`, async () => {
      const attempt = await signed(rail);
      [first, second].map((node) => node.behave(refusing('eth_sendRawTransaction', -32000, words)));
      await assert.rejects(rail.broadcast(attempt.bytes), BroadcastRefused);
    });
  }

  it('report nothing, and nothing as dead, while no node answers', async () => {
    const attempt = await signed(rail);
    [first, second].map((node) => node.behave(broken));
    await assert.rejects(rail.broadcast(attempt.bytes), ChainUnavailable);
    assert.deepEqual(await rail.fate([attempt], signal), { kind: 'unknown' });
    await assert.rejects(rail.numbering.minedNonce(signal), ChainUnavailable);
  });

  it('never call a landed attempt dead, though nodes have lost its receipt and the transaction', async () => {
    const attempt = await signed(rail);
    await rail.broadcast(attempt.bytes);
    await client.mine({ blocks: 10 + depth });
    const forgetful: Behaviour = async (method, params, forward) =>
      /Receipt|TransactionByHash/.test(method) ? null : forward(method, params);
    [first, second].map((node) => node.behave(forgetful));
    assert.deepEqual(await rail.fate([attempt], signal), { kind: 'unknown' });

    second.behave(honest);
    assert.deepEqual(await rail.fate([attempt], signal), { kind: 'pending', mined: true });
    first.behave(honest);
    assert.equal((await rail.fate([attempt], signal)).kind, 'final');
  });

  it('call nothing final of a block that is not sealed yet: its hash is all zeros', async () => {
    const attempt = await signed(rail);
    await rail.broadcast(attempt.bytes);
    await client.mine({ blocks: 1 });
    const early: Behaviour = async (method, params, forward) => {
      const receipt = (await forward(method, params)) as Record<string, unknown> | null;
      return method === 'eth_getTransactionReceipt' && receipt ? { ...receipt, blockHash: zeroHash } : receipt;
    };
    [first, second].map((node) => node.behave(early));
    for (const blocks of [0, depth, deepest]) {
      await client.mine({ blocks });
      assert.deepEqual(await rail.fate([attempt], signal), { kind: 'pending', mined: true });
    }
    [first, second].map((node) => node.behave(honest));
    assert.equal((await rail.fate([attempt], signal)).kind, 'final');
  });

  it('report nothing while nodes are still indexing transactions', async () => {
    const attempt = await signed(rail);
    await rail.broadcast(attempt.bytes);
    await client.mine({ blocks: 1 + deepest });
    const indexing = refusing('eth_getTransactionReceipt', -32000, 'transaction indexing is in progress');
    [first, second].map((node) => node.behave(indexing));
    assert.deepEqual(await rail.fate([attempt], signal), { kind: 'unknown' });
  });

  it('never call an attempt dead while a node cannot prove which transaction used its nonce', async () => {
    const attempt = await signed(rail);
    const cancel = await signed(rail, await rail.numbering.prepareCancel(BigInt(attempt.nonce!)));
    await rail.broadcast(cancel.bytes);
    await client.mine({ blocks: 10 + depth });
    const head = await client.getBlockNumber();
    const pruned: Behaviour = async (method, params, forward) => {
      const old = method === 'eth_getTransactionCount' && BigInt(String(params[1])) < head - 5n;
      if (old || method === 'eth_getTransactionBySenderAndNonce' || method === 'eth_getLogs')
        throw new Refusal(-32000, 'missing trie node');
      return forward(method, params);
    };
    [first, second].map((node) => node.behave(pruned));
    assert.deepEqual(await rail.fate([attempt], signal), { kind: 'unknown' });

    second.behave(honest);
    assert.equal(disputeOf(await rail.fate([attempt], signal)), 'nodesTooFew');
    first.behave(honest);
    assert.equal((await rail.fate([attempt], signal)).kind, 'dead');
  });

  it('call an attempt whose nonce another transaction used dead only at the deepest finality', async () => {
    const attempt = await signed(rail);
    const cancel = await signed(rail, await rail.numbering.prepareCancel(BigInt(attempt.nonce!)));
    await rail.broadcast(cancel.bytes);
    await client.mine({ blocks: 1 + depth });
    assert.deepEqual(await rail.fate([attempt], signal), { kind: 'pending', mined: true });
    await client.mine({ blocks: deepest - depth });
    const fate = await rail.fate([attempt], signal);
    assert.equal(fate.kind === 'dead' && fate.proof.reason, 'nonceUsed');
  });

  it('call a reverted attempt dead only at the deepest finality: in another block it may succeed', async () => {
    const attempt = await signed(rail);
    await rail.broadcast(attempt.bytes);
    [first, second].map((node) => node.behave(revertedAll));
    await client.mine({ blocks: 1 + depth });
    assert.deepEqual(await rail.fate([attempt], signal), { kind: 'pending', mined: true });
    await client.mine({ blocks: deepest - depth });
    const fate = await rail.fate([attempt], signal);
    assert.equal(fate.kind === 'dead' && fate.proof.reason, 'reverted');
  });

  it('call nothing dead by the answer of one node while another proves that it landed', async () => {
    const attempt = await signed(rail);
    await rail.broadcast(attempt.bytes);
    await client.mine({ blocks: 10 + depth });
    first.behave(revertedAll);
    assert.equal(disputeOf(await rail.fate([attempt], signal)), 'nodesDisagree');

    first.behave(honest);
    assert.equal((await rail.fate([attempt], signal)).kind, 'final');
  });

  it('accept no balance from a node that does not know the token', async () => {
    first.behave(async (method, params, forward) => (method === 'eth_call' ? '0x' : forward(method, params)));
    const { tokens } = await rail.balances(signal);
    assert.ok((tokens[usdc.address] ?? 0n) > 0n);
    second.behave(broken);
    await assert.rejects(rail.balances(signal), ChainUnavailable);
  });

  it('do not call a payout gone by the answer of a node that lags', async () => {
    const attempt = await signed(rail);
    await rail.broadcast(attempt.bytes);
    await client.mine({ blocks: 1 + depth });
    const settled = await rail.fate([attempt], signal);
    assert.ok(settled.kind === 'final');
    const behind: Behaviour = async (method, params, forward) =>
      /getBlock/.test(method) ? null : forward(method, params);
    [first, second].map((node) => node.behave(behind));
    assert.equal(await rail.stillFinal(settled, signal), true);
  });
});

const disputeOf = (fate: Fate) => fate.kind === 'pending' && fate.dispute?.reason;

/** Claims that every transaction was reverted. */
const revertedAll: Behaviour = async (method, params, forward) => {
  const answer = await forward(method, params);
  return method === 'eth_getTransactionReceipt' && answer ? { ...answer, status: '0x0' } : answer;
};

const refusing =
  (refused: string, code: number, words: string): Behaviour =>
  async (method, params, forward) => {
    if (method === refused) throw new Refusal(code, words);
    return forward(method, params);
  };

const sent = (node: NodeProxy): number => node.calls.get('eth_sendRawTransaction') ?? 0;

/** Errors of nodes that have no state yet. */
const syncing: Behaviour = async (method, params, forward) => {
  if (method === 'eth_call') return '0x';
  if (method === 'eth_getTransactionCount' || method === 'eth_getBalance') return '0x0';
  return forward(method, method === 'eth_getBlockByNumber' ? ['0x0', params[1]] : params);
};

async function signed({ numbering }: PayoutRail<NonceNumbering>, given?: Unsigned): Promise<SignedAttempt> {
  const order = { chainId: 8453, token: usdc, receiver: accountOf(41), receiverMemo: null, amount: 5n } as const;
  if (given) return signedBy(given, 1, 'cancel');
  return signedBy(await numbering.prepare(order, await numbering.minedNonce(signal)));
}
