import assert from 'node:assert/strict';
import type { EvmIngester } from '../../../../src/chains/evm/payins/ingester.ts';
import { ChainUnavailable } from '../../../../src/chains/evm/rpc.ts';
import { accountOf } from '../../../support/anvil.ts';
import { type Behaviour, type NodeProxy, Refusal, startProxy } from '../../proxy.ts';
import { createWorld, ingesterOf, type Observer, observe, receivedBy, signal, type World } from '../world.ts';

const customer = accountOf(502);

describe('reads of the watcher and the passes of an EVM chain', () => {
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

  /** The passes of a chain, as close to its head as they get. */
  async function caughtUp(ingester: EvmIngester): Promise<readonly Observer[]> {
    await world.mine(20);
    const passes = await Promise.all((['head', 'final', 'finalLarge'] as const).map((pass) => observe(ingester, pass)));
    for (const pass of passes) await pass.follow();
    return passes;
  }

  const callsOf = (node: NodeProxy) => ['eth_getBlockByNumber', 'eth_getLogs'].map((name) => node.calls.get(name) ?? 0);

  /** Counts the requested headers and logs after a number of new blocks. */
  async function callsFor(blocks: number, ingester: EvmIngester, passes: readonly Observer[]) {
    await world.mine(blocks);
    const before = callsOf(first);
    await watch(ingester);
    const ranges = await Promise.all(passes.map((pass) => scan(pass, ingester)));
    assert.ok(ranges.every((range) => range !== undefined));
    const calls = callsOf(first).map((count, at) => count - (before[at] ?? 0));
    for (const pass of passes) await pass.follow();
    return calls;
  }

  it('fetch each block once if blocks arrive one by one, and its logs once for each pass', async () => {
    const ingester = ingesterOf([first.url]);
    const passes = await caughtUp(ingester);
    for (let block = 0; block < 6; block++) await callsFor(1, ingester, passes);
    assert.deepEqual(await callsFor(1, ingester, passes), [1, 3]);
  });

  it('fetch one range for each pass if several blocks arrive at once, with a constant number of calls', async () => {
    const ingester = ingesterOf([first.url, second.url]);
    const passes = await caughtUp(ingester);
    // Calls: the newest block; of each pass its cursor's block, and the end of passes that do not end at the newest; of each pass a range and its end.
    for (const blocks of [4, 40]) assert.deepEqual(await callsFor(blocks, ingester, passes), [1 + 3 + 2, 3 * 2]);
  });

  it('fetch the header of each block that used gas for an empty range, if no other node can be queried', async () => {
    const ingester = ingesterOf([first.url]);
    const passes = await caughtUp(ingester);
    // Skips the transactions that set up the chain.
    await callsFor(200, ingester, passes);
    assert.deepEqual(await callsFor(40, ingester, passes), [1 + 3 + 2, 3 * 2]);
    first.behave(async (method, params, forward) => {
      if (method === 'eth_feeHistory') throw new Refusal(-32601, 'the method eth_feeHistory does not exist');
      return forward(method, params);
    });
    const [headers = 0] = await callsFor(40, ingester, passes);
    assert.ok(headers >= 1 + 3 + 2 + 39, `${headers} headers`);
  });

  it('fetch only a range if both its ends hold transfers', async () => {
    const ingester = ingesterOf([first.url]);
    const [head] = await caughtUp(ingester);
    assert.ok(head);
    const busy = async () => {
      for (let block = 0; block < 4; block++) await world.pay(customer, 1n);
      return callsFor(0, ingester, [head]);
    };
    for (let look = 0; look < 5; look++) await busy();
    assert.deepEqual(await busy(), [1, 1]);
    assert.equal(receivedBy(head, customer), 24n);
  });

  it('withhold nothing from a pass that runs again before the watcher does', async () => {
    const ingester = ingesterOf([first.url]);
    const [head] = await caughtUp(ingester);
    assert.ok(head);
    await watch(ingester);
    await head.follow();
    await world.pay(customer, 5n);
    await head.follow();
    assert.equal(receivedBy(head, customer), 5n);
  });

  it('let a pass follow a fork that occurred after the watcher’s poll, if not at once', async () => {
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

  it('use one node: what another says of the same block is ignored', async () => {
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

  it('end if a node calls a block its own parent', async () => {
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
