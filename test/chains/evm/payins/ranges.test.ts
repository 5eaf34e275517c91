import assert from 'node:assert/strict';
import { chainOf } from '../../../../domain/chains.ts';
import { instant } from '../../../../domain/time.ts';
import { mayHoldTransfers } from '../../../../src/chains/evm/payins/blocks.ts';
import { readByRange } from '../../../../src/chains/evm/payins/ranges.ts';
import { header } from '../../../../src/chains/evm/reads.ts';
import { ChainUnavailable, RpcFailed } from '../../../../src/chains/evm/rpc.ts';
import type { Cursor } from '../../../../src/chains/ports.ts';
import { accountOf } from '../../../support/anvil.ts';
import { nodeOf } from '../../../support/chainNode.ts';
import { gateCases } from '../../../support/suite.ts';
import { type Behaviour, broken, honest, type NodeProxy, Refusal, startProxy } from '../../proxy.ts';
import { lagging } from '../laggingNode.ts';
import { createWorld, ingesterOf, observe, receivedBy, type World } from '../world.ts';

const customer = accountOf(501);

describe('blocks far behind the head of an EVM chain', () => {
  let world: World;
  let first: NodeProxy;
  let second: NodeProxy;
  beforeEach(async () => {
    world = await createWorld(8453);
    [first, second] = [await startProxy(world.rpcUrl), await startProxy(world.rpcUrl)];
    await world.mine(100);
    await world.pay(customer, 5n);
    await world.mine(200);
  });
  const both = () => ingesterOf([first.url, second.url]);
  const paidAt = 101n;
  /** The node reports the real head; its log index lags behind the payin. */
  const lag = lagging(paidAt - 1n, 'theRealHead');

  for (const pass of ['head', 'final'] as const) {
    it(`hide nothing from the ${pass} pass when the only node’s logs lag: it waits for them`, async () => {
      first.behave(lag);
      const observer = await observe(ingesterOf([first.url]), pass);
      await observer.follow().catch((error) => assert.ok(error instanceof ChainUnavailable));
      assert.ok(observer.cursor().blockNumber < paidAt);
      first.behave(honest);
      await observer.follow();
      assert.equal(receivedBy(observer, customer), 5n);
    });
  }

  it('hide nothing when one of two lags, whichever is called first', async () => {
    for (const [behind, other] of [[first, second] as const, [second, first] as const]) {
      behind.behave(lag);
      other.behave(honest);
      const observer = await observe(both(), 'final');
      await observer.follow();
      assert.equal(receivedBy(observer, customer), 5n);
    }
  });

  it('hide nothing when the logs of one lag and the other is still behind', async () => {
    first.behave(lag);
    second.behave(lagging(paidAt - 1n, 'itsOwnHead'));
    const observer = await observe(both(), 'final');
    await observer.follow().catch((error) => assert.ok(error instanceof ChainUnavailable));
    assert.ok(observer.cursor().blockNumber < paidAt);
    for (const node of [first, second]) node.behave(honest);
    await observer.follow();
    assert.equal(receivedBy(observer, customer), 5n);
  });

  it('are read block by block while the second node is away, and hide nothing', async () => {
    const observer = await observe(both(), 'final');
    second.behave(broken);
    first.behave(lag);
    await observer.follow().catch((error) => assert.ok(error instanceof ChainUnavailable));
    assert.ok(observer.cursor().blockNumber < paidAt);
    first.behave(honest);
    await observer.follow();
    assert.equal(receivedBy(observer, customer), 5n);
  });

  it('are read in wide ranges where two nodes return the same', async () => {
    const observer = await observe(both(), 'final');
    await observer.follow();
    assert.equal(receivedBy(observer, customer), 5n);
    const [near, far] = [64, 4];
    assert.ok((first.calls.get('eth_getLogs') ?? 0) <= near + far);
  });

  it('are read in smaller ranges when either node refuses large ones', async () => {
    await world.mine(400);
    for (const strict of [first, second]) {
      for (const node of [first, second]) node.behave(node === strict ? refusingBeyond(50n) : honest);
      const observer = await observe(both(), 'final');
      await observer.follow();
      assert.equal(receivedBy(observer, customer), 5n);
      assert.ok((strict.calls.get('eth_getLogs') ?? 0) > 5);
    }
  });

  it('are not requested in smaller ranges from a rate-limited node, which reported nothing about ranges', async () => {
    const block = (number: bigint) => ({ number: hex(number), hash: hex(number), parentHash: '0x1', timestamp: '0x1' });
    const node = (request: Parameters<typeof nodeOf>[0], name: string) =>
      nodeOf(async (method, params) => {
        const [tag] = params as readonly [string];
        return method === 'eth_getBlockByNumber' ? block(BigInt(tag)) : request(method, params);
      }, name);
    const limited = node((method) => Promise.reject(new RpcFailed('node 1', method, 'limited', 'slow down')), 'node 1');
    const other = node(async () => [], 'node 2');
    const size = { blocks: 500n, good: 0, most: 1_000n, alone: 0 };
    const chain = chainOf(8453);
    const cursor: Cursor = { chainId: 8453, pass: 'final', blockNumber: 0n, blockHash: '0x0', chainTime: instant(0) };
    const range = { cursor, end: 900n };
    await assert.rejects(readByRange(chain, limited, [other], range, size), { kind: 'limited' });
    assert.equal(await readByRange(chain, other, [limited], range, size), undefined);
    assert.equal(size.blocks, 500n);
  });
});

describe('a node that states its maximum of blocks', () => {
  for (const words of gateCases(
    ['block range too large, max is 20 blocks', 'you can make eth_getLogs requests with up to a 20 block range'],
    (_, index) => index === 0,
  )) {
    it(`is asked for no more from then on: ${words}`, async () => {
      const world = await createWorld(8453);
      await world.mine(500);
      const node = await startProxy(world.rpcUrl);
      let refused = 0;
      node.behave(async (method, params, forward) => {
        const [{ fromBlock, toBlock } = {}] = params as [{ fromBlock?: string; toBlock?: string }?];
        const isWide = method === 'eth_getLogs' && BigInt(toBlock ?? 0) - BigInt(fromBlock ?? 0) >= 20n;
        if (!isWide) return forward(method, params);
        refused += 1;
        throw new Refusal(-32600, words);
      });
      const observer = await observe(ingesterOf([node.url]), 'head');
      for (const received of [5n, 10n]) {
        await world.pay(customer, 5n);
        await world.mine(300);
        await observer.follow();
        assert.equal(receivedBy(observer, customer), received);
      }
      assert.equal(refused, 1);
    });
  }
});

describe('blocks near the head of an EVM chain', () => {
  it('are read from the node that has their logs, if another returns none against their headers', async () => {
    const world = await createWorld(8453);
    const [forgetful, other] = [await startProxy(world.rpcUrl), await startProxy(world.rpcUrl)];
    forgetful.behave(async (method, params, forward) => (method === 'eth_getLogs' ? [] : forward(method, params)));
    const observer = await observe(ingesterOf([forgetful.url, other.url]), 'head');
    await world.pay(customer, 5n);
    await world.mine(2);
    await observer.follow();
    assert.equal(receivedBy(observer, customer), 5n);
  });

  it('are not skipped while the other node cannot answer, if a node returns no logs against their headers', async () => {
    const world = await createWorld(8453);
    const [forgetful, other] = [await startProxy(world.rpcUrl), await startProxy(world.rpcUrl)];
    const observer = await observe(ingesterOf([forgetful.url, other.url]), 'final');
    forgetful.behave(async (method, params, forward) => (method === 'eth_getLogs' ? [] : forward(method, params)));
    other.behave(broken);
    await world.pay(customer, 5n);
    await world.mine(20);
    await observer.follow().catch((error) => assert.ok(error instanceof ChainUnavailable));
    other.behave(honest);
    await observer.follow();
    assert.equal(receivedBy(observer, customer), 5n);
  });

  it('are not skipped by the answer of a node that is still behind and returns nothing', async () => {
    const world = await createWorld(8453);
    const [forgetful, late] = [await startProxy(world.rpcUrl), await startProxy(world.rpcUrl)];
    const observer = await observe(ingesterOf([forgetful.url, late.url]), 'final');
    await world.mine(400);
    await observer.follow();
    const depth = (await world.client.getBlockNumber()) - observer.cursor().blockNumber;
    await world.pay(customer, 5n);
    const paidIn = await world.client.getBlockNumber();
    await world.mine(Number(depth) - 3);
    await observer.follow();
    assert.ok(observer.cursor().blockNumber < paidIn);
    forgetful.behave(async (method, params, forward) => (method === 'eth_getLogs' ? [] : forward(method, params)));
    // It has the blocks a moment after the query of their logs.
    const behind = lagging(paidIn - 1n, 'itsOwnHead');
    late.behave(async (method, params, forward) => {
      const answer = await behind(method, params, forward);
      if (method === 'eth_getLogs') late.behave(honest);
      return answer;
    });
    await world.mine(8);
    await observer.follow().catch((error) => assert.ok(error instanceof ChainUnavailable));
    for (const node of [forgetful, late]) node.behave(honest);
    await observer.follow();
    assert.equal(receivedBy(observer, customer), 5n);
  });

  it('prove by their headers whether they may hold transfers of the catalogue’s tokens', async () => {
    const world = await createWorld(8453);
    await world.pay(customer, 5n);
    const node = nodeOf((method, params) => world.client.request({ method, params } as never));
    const [paid, empty] = [await header(node, 'latest'), await header(node, 0n)];
    assert.ok(paid && empty);
    const base = chainOf(8453);
    assert.deepEqual([mayHoldTransfers(base, paid), mayHoldTransfers(base, empty)], [true, false]);
    assert.equal(mayHoldTransfers(chainOf(1), paid), false);
    for (const logsBloom of [undefined, '0x'] as const) assert.equal(mayHoldTransfers(base, { logsBloom }), true);
  });
});

const refusingBeyond =
  (blocks: bigint): Behaviour =>
  async (method, params, forward) => {
    const [filter] = params as [{ fromBlock?: string; toBlock?: string }];
    const span = method === 'eth_getLogs' ? BigInt(filter.toBlock ?? 0) - BigInt(filter.fromBlock ?? 0) : 0n;
    if (span > blocks) throw new Refusal(-32602, `query exceeds max block range ${blocks}`);
    return forward(method, params);
  };

const hex = (value: bigint): string => `0x${value.toString(16)}`;
