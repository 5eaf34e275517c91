import assert from 'node:assert/strict';
import type { SeenPayin } from '../../../../commands/chainPorts.ts';
import { type Transfer, transferId } from '../../../../domain/payment/events.ts';
import type { EvmIngester } from '../../../../src/chains/evm/payins/ingester.ts';
import type { Agreement } from '../../../../src/chains/ports.ts';
import { accountOf } from '../../../support/anvil.ts';
import { type Behaviour, broken, honest, type NodeProxy, startProxy } from '../../proxy.ts';
import { createWorld, ingesterOf, observe, signal, type World } from '../world.ts';

const customer = accountOf(501);
const small = 10n;
const large = 5_000n;

describe('an EVM payin is trusted', () => {
  let world: World;
  let nodes: readonly [NodeProxy, NodeProxy];
  beforeEach(async () => {
    world = await createWorld(8453);
    nodes = [await startProxy(world.rpcUrl), await startProxy(world.rpcUrl)];
  });
  const both = () => ingesterOf(nodes.map(({ url }) => url));

  /** Pays five units, with this number of blocks on top. */
  async function paid(blocks: number): Promise<Transfer> {
    const observer = await observe(ingesterOf([world.rpcUrl]), 'head');
    await world.pay(customer, 5n);
    await world.mine(blocks);
    await observer.follow();
    const [transfer] = observer.seen.values();
    assert.ok(transfer);
    return transfer;
  }
  const ask = (transfer: Transfer, usd = small, ingester = both()): Promise<Agreement> =>
    ingester.agreed(transfer, { pass: 'final', usd }, signal);

  it('when two nodes return the same receipt, log and block', async () => {
    assert.deepEqual(await ask(await paid(3)), { agreed: true });
  });

  it('not when one node does not know it: the alarm has both answers', async () => {
    const transfer = await paid(3);
    nodes[1].behave(without(transfer.txHash));
    const { agreed, dispute } = await ask(transfer);
    assert.equal(agreed, false);
    assert.equal(dispute?.reason, 'nodesDisagree');
    assert.match(dispute?.message ?? '', /node 1 .*: shows it; node 2 .*: has no transaction 0x/);
  });

  for (const [what, lie] of Object.entries({
    'another amount': { amount: '6' },
    'another receiver': { to: accountOf(502) },
    'another payer': { from: accountOf(502) },
    'another block': { blockHash: `0x${'12'.repeat(32)}` },
    'another time': { blockTime: '2020-01-01T00:00:00.000Z' as Transfer['blockTime'] },
    'another place in its transaction': { index: 1 },
  })) {
    it(`not as ${what} than the nodes return`, async () => {
      const { agreed, dispute } = await ask({ ...(await paid(3)), ...lie });
      assert.deepEqual([agreed, dispute?.reason], [false, 'nodesDisagree']);
    });
  }

  it('not while the second node has not reached that depth', async () => {
    const transfer = await paid(3);
    const height = BigInt(transfer.blockNumber) + 2n;
    nodes[1].behave(endingAt(height));
    const { agreed, dispute } = await ask(transfer);
    assert.deepEqual([agreed, dispute?.reason], [false, 'nodesTooFew']);
    nodes[1].behave(honest);
    assert.deepEqual(await ask(transfer), { agreed: true });
  });

  it('by one node alone only if there is no other, and never when it is large', async () => {
    const transfer = await paid(3);
    const alone = ingesterOf([nodes[0].url]);
    assert.deepEqual(await ask(transfer, small, alone), { agreed: true });
    const { agreed, dispute } = await ask(transfer, large, alone);
    assert.deepEqual([agreed, dispute?.reason], [false, 'nodesTooFew']);
    assert.deepEqual(await ask(transfer, large), { agreed: true });
  });

  describe('an EVM payin is no longer trusted', () => {
    const seenIn = (transfer: Transfer): SeenPayin => ({
      transferId: transferId(transfer),
      txHash: transfer.txHash,
      blockNumber: BigInt(transfer.blockNumber),
      blockHash: transfer.blockHash,
    });
    const madeUpHash = `0x${'34'.repeat(32)}`;
    const madeUpFrom = (transfer: Transfer): SeenPayin => seenIn({ ...transfer, txHash: madeUpHash });

    it('once as many nodes as must agree have its block without it: one node had fabricated it', async () => {
      const transfer = await paid(3);
      assert.equal(await both().hasLeft(seenIn(transfer), signal), false);
      assert.equal(await both().hasLeft(madeUpFrom(transfer), signal), true);
      assert.equal(await both().hasLeft(seenIn({ ...transfer, index: 1 }), signal), true, 'no such log in its receipt');
    });

    it('but not while one of them still has it, or the other does not answer', async () => {
      const transfer = await paid(3);
      nodes[1].behave(async (method, params, forward) => {
        const answer = await forward(method, params);
        return method === 'eth_getBlockByHash' ? { ...(answer as object), transactions: [madeUpHash] } : answer;
      });
      assert.equal(await both().hasLeft(madeUpFrom(transfer), signal), false);
      nodes[1].behave(broken);
      assert.equal(await both().hasLeft(madeUpFrom(transfer), signal), false);
    });

    it('but not if its block holds it and the nodes do not find its receipt', async () => {
      const transfer = await paid(3);
      for (const node of nodes) node.behave(without(transfer.txHash));
      assert.equal(await both().hasLeft(seenIn(transfer), signal), false);
    });
  });

  /** Counts the calls of each node, right after the watcher of heads has read it. */
  async function callsFor(transfer: Transfer, ingester: EvmIngester): Promise<readonly number[]> {
    await Promise.all(ingester.nodeHeads.map((read) => read(signal)));
    const counted = () => nodes.map(({ calls }) => [...calls.values()].reduce((sum, count) => sum + count, 0));
    const before = counted();
    assert.deepEqual(await ask(transfer, small, ingester), { agreed: true });
    return counted().map((after, at) => after - (before[at] ?? 0));
  }

  it('for two calls to each node', async () => {
    assert.deepEqual(await callsFor(await paid(3), both()), [2, 2]);
  });

  it('without a further call of the node that has just returned it to the pass, and by its block afterwards', async () => {
    const ingester = both();
    const final = await observe(ingester, 'final');
    const transfer = await paid(200);
    await final.follow();
    assert.deepEqual(await callsFor(transfer, ingester), [0, 2]);
    await world.mine(1);
    await Promise.all(ingester.nodeHeads.map((read) => read(signal)));
    await final.follow();
    assert.deepEqual(await callsFor(transfer, ingester), [1, 2]);
  });
});

const without =
  (txHash: string): Behaviour =>
  async (method, params, forward) =>
    method === 'eth_getTransactionReceipt' && params[0] === txHash ? null : forward(method, params);

const endingAt =
  (height: bigint): Behaviour =>
  async (method, params, forward) =>
    forward(
      method,
      method === 'eth_getBlockByNumber' && params[0] === 'latest' ? [`0x${height.toString(16)}`, false] : params,
    );
