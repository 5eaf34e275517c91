import assert from 'node:assert/strict';
import type { EvmIngester } from '../../../../src/chains/evm/payins/ingester.ts';
import { ChainUnavailable } from '../../../../src/chains/evm/rpc.ts';
import { accountOf } from '../../../support/anvil.ts';
import { type Behaviour, type NodeProxy, startProxy } from '../../proxy.ts';
import { createWorld, ingesterOf, type Observer, observe, receivedBy, signal, type World } from '../world.ts';

const customer = accountOf(502);

describe('what the watcher and the passes of an EVM chain read', () => {
  let world: World;
  let [first, second] = [] as unknown as [NodeProxy, NodeProxy];
  beforeEach(async () => {
    world = await createWorld(8453);
    [first, second] = [await startProxy(world.rpcUrl), await startProxy(world.rpcUrl)];
  });

  const watch = (ingester: EvmIngester) => Promise.all(ingester.nodeHeads.map((read) => read(signal)));

  async function scan(observer: Observer, ingester: EvmIngester) {
    for await (const range of ingester.scan(observer.cursor(), signal)) return range;
    return undefined;
  }

  /** The passes of a chain that stand as near to its head as they come. */
  async function caughtUp(ingester: EvmIngester): Promise<readonly Observer[]> {
    await world.mine(20);
    const passes = await Promise.all((['head', 'final', 'finalLarge'] as const).map((pass) => observe(ingester, pass)));
    for (const pass of passes) await pass.follow();
    return passes;
  }

  const callsOf = (node: NodeProxy) => ['eth_getBlockByNumber', 'eth_getLogs'].map((name) => node.calls.get(name) ?? 0);

  it('is each block once, and its logs once for each pass', async () => {
    const ingester = ingesterOf([first.url]);
    const passes = await caughtUp(ingester);
    for (const blocks of [1, 4]) {
      await world.mine(blocks);
      const before = callsOf(first);
      await watch(ingester);
      const ranges = await Promise.all(passes.map((pass) => scan(pass, ingester)));
      assert.ok(ranges.every((range) => range !== undefined));
      const [headers = 0, logs = 0] = callsOf(first).map((calls, at) => calls - (before[at] ?? 0));
      assert.deepEqual([headers, logs], [blocks, 3 * blocks]);
      for (const pass of passes) await pass.follow();
    }
  });

  it('holds back nothing from a pass that comes again before the watcher does', async () => {
    const ingester = ingesterOf([first.url]);
    const [head] = await caughtUp(ingester);
    assert.ok(head);
    await watch(ingester);
    await head.follow();
    await world.pay(customer, 5n);
    await head.follow();
    assert.equal(receivedBy(head, customer), 5n);
  });

  it('lets a pass follow a fork that came after the watcher had looked, if not at once', async () => {
    const ingester = ingesterOf([first.url]);
    const [head] = await caughtUp(ingester);
    assert.ok(head);
    await world.pay(customer, 5n);
    await watch(ingester);
    await world.reorg(1);
    await world.mine(2);
    await head.follow().catch((error) => assert.ok(error instanceof ChainUnavailable));
    await head.follow();
    assert.equal(receivedBy(head, customer), 0n);
    assert.equal(head.cursor().blockNumber, await world.client.getBlockNumber());
  });

  it('comes from one node: what another says of the same block is not taken', async () => {
    const ingester = ingesterOf([first.url, second.url]);
    const [head] = await caughtUp(ingester);
    assert.ok(head);
    second.behave(withBlocks((block) => ({ ...block, timestamp: '0x1' })));
    await world.pay(customer, 5n);
    await watch(ingester);
    await head.follow();
    const { timestamp } = await world.client.getBlock();
    assert.equal(head.cursor().chainTime, new Date(Number(timestamp) * 1_000).toISOString());
  });

  it('ends where a node calls a block its own parent', async () => {
    const ingester = ingesterOf([first.url]);
    const [head] = await caughtUp(ingester);
    assert.ok(head);
    const { blockNumber } = head.cursor();
    await world.mine(2);
    first.behave(withBlocks((block) => ({ ...block, parentHash: block.hash })));
    await watch(ingester);
    await scan(head, ingester);
    assert.equal(head.cursor().blockNumber, blockNumber);
  });
});

type Block = { readonly hash: string; readonly parentHash: string; readonly timestamp: string };

const withBlocks =
  (change: (block: Block) => Block): Behaviour =>
  async (method, params, forward) => {
    const answer = await forward(method, params);
    return method === 'eth_getBlockByNumber' ? change(answer as Block) : answer;
  };
