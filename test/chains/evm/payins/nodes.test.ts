import assert from 'node:assert/strict';
import { epochMs, instant } from '../../../../domain/time.ts';
import { ChainUnavailable } from '../../../../src/chains/evm/rpc.ts';
import { accountOf, sharedAnvil } from '../../../support/anvil.ts';
import { type Behaviour, broken, honest, type NodeProxy, startProxy } from '../../proxy.ts';
import { lagging } from '../laggingNode.ts';
import { createWorld, ingesterOf, observe, receivedBy, signal, type World } from '../world.ts';

const customer = accountOf(501);

describe('EVM ingester, with several nodes,', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld(8453);
  });
  let [first, second] = [] as unknown as [NodeProxy, NodeProxy];
  beforeEach(async () => {
    [first, second] = [await startProxy(world.rpcUrl), await startProxy(world.rpcUrl)];
  });

  for (const claims of ['itsOwnHead', 'theRealHead'] as const) {
    it(`loses nothing to a fail-over node that lags, answers empty, and reports ${claims}`, async () => {
      const head = await observe(ingesterOf([first.url, second.url]), 'head');
      await world.mine(80);
      await head.follow();
      first.behave(broken);
      second.behave(lagging(await world.client.getBlockNumber(), claims));
      await world.pay(customer, 5n);
      await world.mine(2);
      await head.follow().catch((error) => assert.ok(error instanceof ChainUnavailable));
      assert.equal(receivedBy(head, customer), 0n);

      first.behave(honest);
      await head.follow();
      assert.equal(receivedBy(head, customer), 5n);
      assert.deepEqual(head.orphaned, []);
    });
  }

  it('does not treat blocks as gone that one of a load balancer’s back ends lacks', async () => {
    const head = await observe(ingesterOf([first.url]), 'head');
    await world.pay(customer, 5n);
    await world.mine(3);
    await head.follow();
    const behind = head.cursor().blockNumber - 1n;
    await world.mine(2);
    first.behave(async (method, params, forward) =>
      method === 'eth_getBlockByNumber' && BigInt(Number(params[0]) || 0) > behind ? null : forward(method, params),
    );
    await assert.rejects(head.follow(), ChainUnavailable);
    first.behave(honest);
    await head.follow();
    assert.deepEqual(head.orphaned, []);
    assert.equal(receivedBy(head, customer), 5n);
  });

  it('queries again, and continues its poll, if the first answer is of a back end that is two blocks behind', async () => {
    const balanced = await startProxy(world.rpcUrl);
    const asked = new Set<string>();
    balanced.behave(async (method, params, forward) => {
      const height = BigInt((await forward('eth_blockNumber', [])) as string) - 2n;
      const tag = String(params[0]);
      const isBeyond = method === 'eth_getBlockByNumber' && tag.startsWith('0x') && BigInt(tag) > height;
      if (!isBeyond || asked.has(tag)) return forward(method, params);
      asked.add(tag);
      return null;
    });
    const observer = await observe(ingesterOf([balanced.url]), 'head');
    for (let look = 1n; look <= 4n; look += 1n) {
      await world.pay(customer, 5n);
      await world.mine(3);
      await observer.follow();
      assert.equal(receivedBy(observer, customer), 5n * look);
    }
  });

  for (const [told, method, key] of [
    ['a block', 'eth_getBlockByNumber', 'timestamp'],
    ['a log', 'eth_getLogs', 'blockTimestamp'],
  ] as const)
    it(`continues with the other node if the first reports an impossible time, ${told}`, async () => {
      const head = await observe(ingesterOf([first.url, second.url]), 'head');
      const wrongly = (shown: unknown): unknown =>
        Array.isArray(shown) ? shown.map(wrongly) : shown && { ...shown, [key]: '0xffffffffffffffff' };
      first.behave(async (asked, params, forward) => {
        const shown = await forward(asked, params);
        return asked === method ? wrongly(shown) : shown;
      });
      await world.pay(customer, 5n);
      await world.mine(2);
      await head.follow();
      assert.equal(receivedBy(head, customer), 5n);
    });

  it('moves its cursor no further than the head of the node that answered', async () => {
    const head = await observe(ingesterOf([first.url, second.url]), 'head');
    await world.mine(200);
    await world.pay(customer, 5n);
    first.behave(broken);
    second.behave(lagging(150n, 'itsOwnHead'));
    await head.follow();
    assert.equal(head.cursor().blockNumber, 150n);
    first.behave(honest);
    await head.follow();
    assert.equal(receivedBy(head, customer), 5n);
  });

  it('starts at the earliest reported block, whichever node is called first', async () => {
    await world.client.mine({ blocks: 20, interval: 10 });
    const wanted = (await world.client.getBlockNumber()) - 15n;
    const { timestamp } = await world.client.getBlock({ blockNumber: wanted });
    const at = instant(Number(timestamp) * 1_000);
    // All of its blocks are older than the requested ones.
    second.behave(async (method, params, forward) => {
      const answer = (await forward(method, params)) as { timestamp: string };
      return method === 'eth_getBlockByNumber' ? { ...answer, timestamp: '0x1' } : answer;
    });
    for (const urls of [
      [first.url, second.url],
      [second.url, first.url],
    ]) {
      const { blockNumber } = await ingesterOf(urls).start('head', at, signal);
      assert.equal(blockNumber, wanted);
    }
    first.behave(broken);
    await assert.rejects(ingesterOf([first.url, second.url]).start('head', at, signal), ChainUnavailable);
  });

  it('needs no base fee, no effective price and no known type, and accepts no number in another form than nodes’', async () => {
    first.behave(async (method, params, forward) => {
      const answer = (await forward(method, params)) as Record<string, unknown> | null;
      if (!answer) return answer;
      if (method === 'eth_getBlockByNumber') return { ...answer, baseFeePerGas: null };
      const { effectiveGasPrice: _, ...receipt } = answer;
      return method === 'eth_getTransactionReceipt' ? { ...receipt, type: '0x7e', l1Fee: '0x1' } : answer;
    });
    const observer = await observe(ingesterOf([first.url]), 'head');
    await world.pay(customer, 5n);
    await observer.follow();
    assert.equal(receivedBy(observer, customer), 5n);

    first.behave(async (method, params, forward) => {
      const answer = (await forward(method, params)) as { number: string };
      return method === 'eth_getBlockByNumber' ? { ...answer, number: String(Number(answer.number)) } : answer;
    });
    await assert.rejects(observe(ingesterOf([first.url]), 'head'), /expected hex/);
  });

  it('continues with the node that is ahead when the preferred one stops syncing', async () => {
    const head = await observe(ingesterOf([first.url, second.url]), 'head');
    await head.follow();
    first.behave(lagging(await world.client.getBlockNumber(), 'itsOwnHead'));
    await world.pay(customer, 5n);
    await head.follow();
    assert.equal(receivedBy(head, customer), 5n);
  });

  it('stays on its fork until another node’s chain is longer', async () => {
    const other = await createWorld(8453);
    const head = await observe(ingesterOf([first.url, other.rpcUrl]), 'head');
    await world.mine(3);
    await other.pay(customer, 5n);
    await other.mine(2);
    await head.follow();
    const cursor = head.cursor();
    first.behave(broken);
    await head.follow();
    assert.deepEqual([head.cursor(), head.orphaned], [cursor, []]);

    await other.mine(1);
    await head.follow();
    assert.ok(head.orphaned.includes(cursor.blockHash));
    assert.equal(head.cursor().blockNumber, cursor.blockNumber + 1n);
    assert.equal(receivedBy(head, customer), 5n);
  });

  it('does not end payments by blocks and times that one node fabricated', async () => {
    const [liar, other] = [await startProxy(world.rpcUrl, inventing(1_000n)), await startProxy(world.rpcUrl)];
    const observer = await observe(ingesterOf([liar.url, other.url]), 'final');
    await world.mine(10);
    await observer.follow();
    const { blockNumber, chainTime } = observer.cursor();
    const head = await world.client.getBlock();
    assert.ok(blockNumber <= head.number && epochMs(chainTime) <= Number(head.timestamp) * 1_000);
    await world.pay(customer, 5n);
    await world.mine(10);
    await observer.follow();
    assert.equal(receivedBy(observer, customer), 5n);
  });

  it('does not call a transfer unknown by the answer of a node that lags', async () => {
    const ingester = ingesterOf([first.url, second.url]);
    const txHash = await world.pay(customer, 5n);
    const head = await observe(ingester, 'head');
    await head.follow();
    first.behave(broken);
    second.behave(lagging(1n, 'itsOwnHead'));
    await assert.rejects(ingester.lookUp(txHash, signal), ChainUnavailable);
  });

  it('refuses a node of another chain, and keeps the URLs to itself', async () => {
    const other = await sharedAnvil(1);
    const secret = `${(await startProxy(other.rpcUrl)).url}/v2/my-api-key`;
    await assert.rejects(ingesterOf([secret]).head(signal), (error) => {
      assert.ok(error instanceof ChainUnavailable);
      assert.match(error.message, /serves chain 1, configured for 8453/);
      assert.doesNotMatch(error.message, /my-api-key/);
      return true;
    });
  });

  it('reports the newest head of any node, and fails only when all do', async () => {
    first.behave(lagging(1n, 'itsOwnHead'));
    const ingester = ingesterOf([first.url, second.url]);
    assert.equal((await ingester.head(signal)).blockNumber, await world.client.getBlockNumber());
    first.behave(broken);
    second.behave(broken);
    await assert.rejects(ingester.head(signal), (error) => {
      assert.ok(error instanceof ChainUnavailable);
      assert.doesNotMatch(error.message, /http:/);
      return true;
    });
  });

  it('stops at once when it is aborted', async () => {
    const stop = new AbortController();
    first.behave(() => {
      stop.abort();
      return new Promise(() => {});
    });
    await assert.rejects(ingesterOf([first.url]).head(stop.signal), { name: 'AbortError' });
  });
});

/** A node that continues where its chain ends, with a number of empty blocks of its own, dated a year from now. */
const inventing =
  (blocks: bigint): Behaviour =>
  async (method, params, forward) => {
    const head = (await forward('eth_getBlockByNumber', ['latest', false])) as Record<string, string>;
    const end = BigInt(head['number'] ?? 0);
    const invented = (height: bigint) => ({
      ...head,
      number: hex(height),
      hash: hashOf(height),
      parentHash: height === end + 1n ? head['hash'] : hashOf(height - 1n),
      timestamp: hex(BigInt(head['timestamp'] ?? 0) + 31_536_000n),
      logsBloom: `0x${'00'.repeat(256)}`,
    });
    if (method === 'eth_getBlockByNumber') {
      const [tag] = params as [string];
      if (tag === 'latest') return invented(end + blocks);
      if (tag.startsWith('0x') && BigInt(tag) > end) return invented(BigInt(tag));
    }
    const [filter] = params as [{ blockHash?: string; fromBlock?: string }];
    const isInvented = filter?.blockHash?.startsWith(inventedHash) || BigInt(filter?.fromBlock ?? 0) > end;
    return method === 'eth_getLogs' && isInvented ? [] : forward(method, params);
  };

const inventedHash = '0xbad0';
const hex = (value: bigint): string => `0x${value.toString(16)}`;
const hashOf = (height: bigint): string => `${inventedHash}${height.toString(16).padStart(60, '0')}`;
