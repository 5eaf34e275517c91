import assert from 'node:assert/strict';
import { type ScannedRange, TransferUnreadable } from '../../../../src/chains/ports.ts';
import { accountOf } from '../../../support/anvil.ts';
import { type Behaviour, honest, type NodeProxy, Refusal, startProxy } from '../../proxy.ts';
import { createWorld, ingesterOf, type Observer, observe, receivedBy, signal, type World } from '../world.ts';

const [customer, other] = [accountOf(501), accountOf(502)];

describe('an unreadable EVM transfer', () => {
  let world: World;
  let node: NodeProxy;
  beforeEach(async () => {
    world = await createWorld(8453);
    node = await startProxy(world.rpcUrl);
  });

  /** Returns the result of one scan. */
  async function look(observer: Observer, ingester = ingesterOf([node.url])): Promise<ScannedRange> {
    for await (const range of ingester.scan(observer.cursor(), signal)) return range;
    throw new Error('nothing has come');
  }

  /** Reads a range like the chain's subscriber. */
  async function resolveAgain(range: ScannedRange, ingester: ReturnType<typeof ingesterOf>, times: number) {
    const log = range.logs.findLast(({ to }) => to === customer);
    assert.ok(log);
    const outcomes = [];
    for (let asked = 0; asked < times; asked++)
      outcomes.push(await ingester.resolve(log, signal).catch((error: unknown) => error));
    return outcomes;
  }

  it('is queried again, and then set aside with the nodes’ answers: its log has no receipt', async () => {
    const head = await observe(ingesterOf([node.url]), 'head');
    const txHash = await world.pay(customer, 5n);
    node.behave(withReceipts(txHash, () => null));
    const ingester = ingesterOf([node.url]);
    const [first, second, third] = await resolveAgain(await look(head), ingester, 3);
    for (const early of [first, second]) assert.ok(!(early instanceof TransferUnreadable));
    assert.ok(third instanceof TransferUnreadable);
    assert.deepEqual([third.found.txHash, third.found.addresses], [txHash, [customer]]);
    assert.match(third.found.evidence, /node 1 .*without the receipt of 0x/);
  });

  it('is set aside when its receipt is invalid, or does not hold it', async () => {
    for (const wrong of [
      (receipt: Receipt) => ({ ...receipt, status: null }),
      (receipt: Receipt) => ({ ...receipt, logs: [] }),
    ]) {
      const head = await observe(ingesterOf([node.url]), 'head');
      const txHash = await world.pay(customer, 5n);
      node.behave(withReceipts(txHash, wrong));
      const outcomes = await resolveAgain(await look(head), ingesterOf([node.url]), 3);
      assert.ok(outcomes.at(-1) instanceof TransferUnreadable);
      node.behave(honest);
    }
  });

  it('is not set aside while no node answers: that is an outage', async () => {
    const ingester = ingesterOf([node.url]);
    const head = await observe(ingester, 'head');
    await world.pay(customer, 5n);
    const range = await look(head);
    node.behave(() => Promise.reject(new Error('down')));
    const outcomes = await resolveAgain(range, ingester, 3);
    assert.ok(outcomes.every((outcome) => !(outcome instanceof TransferUnreadable)));
  });

  it('is read nevertheless if the receipt numbers its logs otherwise, as after a state sync', async () => {
    const head = await observe(ingesterOf([node.url]), 'head');
    const txHash = await world.pay(customer, 5n);
    node.behave(
      withReceipts(txHash, (receipt) => ({
        ...receipt,
        logs: receipt.logs.map((log) => ({ ...log, logIndex: `0x${(Number(log.logIndex) + 7).toString(16)}` })),
      })),
    );
    await head.follow();
    assert.equal(receivedBy(head, customer), 5n);
  });

  for (const [what, spoil] of Object.entries({
    'has no index': (log: Log) => ({ ...log, logIndex: null }),
    'names more than a transfer does': (log: Log) => ({ ...log, topics: [...log.topics, log.topics[0] ?? ''] }),
    'holds more than an amount': (log: Log) => ({ ...log, data: `${log.data}00` }),
  })) {
    it(`is reported, and its range continues: its log ${what}`, async () => {
      const head = await observe(ingesterOf([node.url]), 'head');
      const bad = await world.pay(other, 1n);
      await world.pay(customer, 5n);
      for (const blocks of [0, 5]) {
        await world.mine(blocks);
        node.behave(withLogs(bad, spoil));
        const range = await look(head);
        assert.deepEqual(
          range.unreadable?.map(({ txHash, addresses }) => ({ txHash, addresses })),
          [{ txHash: bad, addresses: [other] }],
        );
        assert.match(range.unreadable?.[0]?.evidence ?? '', /0x/);
        assert.ok(range.logs.some(({ to }) => to === customer));
      }
    });
  }

  it('is looked up as a whole only if no event of it is odd, as of another node', async () => {
    const bad = await world.pay(other, 1n);
    const oddly = withReceipts(bad, ({ logs, ...receipt }) => ({
      ...receipt,
      logs: logs.flatMap((log) => [log, { ...log, data: '0x' }]),
    }));
    node.behave(oddly);
    const alone = ingesterOf([node.url]);
    assert.equal((await alone.lookUp(bad, signal)).length, 1);
    await assert.rejects(alone.lookUp(bad, signal, 'whole'), /is no transfer of ERC-20/);
    const both = ingesterOf([node.url, world.rpcUrl]);
    assert.equal((await both.lookUp(bad, signal, 'whole')).length, 1);
  });

  it('does not stop its chain', async () => {
    const head = await observe(ingesterOf([node.url]), 'head');
    const bad = await world.pay(other, 1n);
    node.behave(withLogs(bad, (log) => ({ ...log, logIndex: null })));
    await world.pay(customer, 5n);
    await head.follow();
    assert.equal(receivedBy(head, customer), 5n);
    assert.equal(head.cursor().blockNumber, await world.client.getBlockNumber());
  });
});

describe('an EVM node', () => {
  it('hides nothing by an empty answer for a block that it does not have yet, even if it is the only node', async () => {
    const world = await createWorld(8453);
    const ingester = async (behaviour: Behaviour) => {
      const node = await startProxy(world.rpcUrl);
      return { node, head: await observe(ingesterOf([node.url]), 'head'), behaviour };
    };
    for (const blocks of [0, 6]) {
      const { node, head, behaviour } = await ingester(blind);
      await world.mine(blocks);
      await world.pay(customer, 5n);
      node.behave(behaviour);
      await assert.rejects(head.follow(), /leaves out/);
      node.behave(honest);
      await head.follow();
      assert.ok(receivedBy(head, customer) >= 5n);
    }
  });
});

describe('receipts of concurrent EVM payins', () => {
  it('are fetched by their block, and one by one from a node that does not return those of a block', async () => {
    const world = await createWorld(8453);
    for (const amount of [1n, 2n, 4n]) await world.send(customer, amount);
    await world.mine(1);
    for (const refuses of [false, true]) {
      const node = await startProxy(world.rpcUrl, (method, params, forward) =>
        refuses && method === 'eth_getBlockReceipts'
          ? Promise.reject(new Refusal(-32601, 'the method does not exist'))
          : forward(method, params),
      );
      const ingester = ingesterOf([node.url]);
      const head = await observe(ingester, 'head');
      const logs = [];
      for await (const range of ingester.scan(head.cursor(), signal)) logs.push(...range.logs);
      const ours = logs.filter(({ to }) => to === customer);
      const transfers = await Promise.all(ours.map((log) => ingester.resolve(log, signal)));
      assert.deepEqual(transfers.map((transfer) => transfer?.amount).sort(), ['1', '2', '4']);
      const singles = node.calls.get('eth_getTransactionReceipt') ?? 0;
      assert.deepEqual([node.calls.get('eth_getBlockReceipts'), singles], [1, refuses ? 3 : 0]);
    }
  });
});

/** Besu before 25.1, Reth before 0.2 and others: a back end without the block returns no logs for it. */
const blind: Behaviour = async (method, params, forward) => (method === 'eth_getLogs' ? [] : forward(method, params));

interface Log {
  readonly logIndex: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly transactionHash: string;
}

interface Receipt {
  readonly logs: readonly Log[];
}

const withReceipts =
  (txHash: string, change: (receipt: Receipt) => unknown): Behaviour =>
  async (method, params, forward) => {
    const answer = await forward(method, params);
    return method === 'eth_getTransactionReceipt' && params[0] === txHash ? change(answer as Receipt) : answer;
  };

const withLogs =
  (txHash: string, change: (log: Log) => unknown): Behaviour =>
  async (method, params, forward) => {
    const answer = await forward(method, params);
    if (method !== 'eth_getLogs') return answer;
    return (answer as readonly Log[]).map((log) => (log.transactionHash === txHash ? change(log) : log));
  };
