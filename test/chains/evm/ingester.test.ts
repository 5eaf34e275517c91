import assert from 'node:assert/strict';
import { type Address, encodeFunctionData, erc20Abi, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { chainOf, findToken } from '../../../domain/chains.ts';
import { instant } from '../../../domain/time.ts';
import { fund } from '../../../sandbox/tokens.ts';
import type { Depth } from '../../../src/chains/evm/config.ts';
import { createEvmIngester } from '../../../src/chains/evm/ingester.ts';
import { ChainUnavailable } from '../../../src/chains/evm/rpc.ts';
import { accountOf, keyOf, sharedAnvil } from '../../support/anvil.ts';
import { broken, honest, lagging, type NodeProxy, Refusal, startProxy } from './proxy.ts';
import { evmConfig } from './support.ts';
import { createWorld, observe, payer, receivedBy, signal, type World } from './world.ts';

const customer = accountOf(501);
const usdc = findToken(chainOf(8453), 'USDC')!;

const ingesterOf = (urls: readonly string[], depths: { final?: Depth; finalLarge?: Depth } = {}) =>
  createEvmIngester({
    ...evmConfig(8453, urls),
    rangeBlocksMax: 1_000,
    depths: { final: 3, finalLarge: 6, payout: 3, ...depths },
  });

describe('EVM ingester', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld(8453);
  });

  describe('sees', () => {
    it('a transfer with everything that identifies it', async () => {
      const txHash = await world.pay(customer, 1_500_000n);
      const ingester = ingesterOf([world.rpcUrl]);
      const head = await observe(ingester, 'head');
      await head.follow();

      const receipt = await world.client.getTransactionReceipt({ hash: txHash });
      const block = await world.client.getBlock({ blockHash: receipt.blockHash });
      const expected = {
        chainId: 8453,
        txHash,
        index: 0,
        blockNumber: String(receipt.blockNumber),
        blockHash: receipt.blockHash,
        blockTime: instant(Number(block.timestamp) * 1_000),
        token: usdc,
        from: payer,
        to: customer,
        amount: '1500000',
      };
      assert.deepEqual(
        [...head.seen.values()].find(({ to }) => to === customer),
        expected,
      );
      assert.deepEqual(await ingester.lookUp(txHash, signal), [expected]);
    });

    it('several transfers of a block and a transaction, each once, by its place in its own receipt', async () => {
      await Promise.all([world.send(customer, 1n), world.send(customer, 2n), world.send(customer, 4n)]);
      await world.mine(1);
      const head = await observe(ingesterOf([world.rpcUrl]), 'head');
      await head.follow();
      const ours = [...head.seen.values()].filter(({ to }) => to === customer);
      assert.deepEqual(ours.map(({ amount, index }) => [amount, index]).sort(), [
        ['1', 0],
        ['2', 0],
        ['4', 0],
      ]);
    });

    it('nothing in other tokens, zero amounts, reverted transfers and logs that only look alike', async () => {
      const reverted = await world.pay(customer, 10n ** 40n);
      const zero = await world.pay(customer, 0n);
      const approve = encodeFunctionData({
        abi: parseAbi(['function approve(address spender, uint256 amount)']),
        args: [customer, 9n],
      });
      const approved = await world.call(usdc.address as Address, approve);
      await world.mine(1);
      const foreign = await plantCopy(world);
      const ingester = ingesterOf([world.rpcUrl]);
      const head = await observe(ingester, 'head');
      await head.follow();
      assert.equal(receivedBy(head, customer), 0n);
      for (const hash of [reverted, zero, approved, foreign, `0x${'ab'.repeat(32)}`]) {
        assert.deepEqual(await ingester.lookUp(hash, signal), []);
      }
    });

    it('everything of thousands of blocks, at the edges of its ranges too', async () => {
      let sent = 0n;
      for (const gap of [1, 499, 1, 498, 600, 64, 30]) {
        await world.mine(gap);
        sent += 1n;
        await world.pay(customer, 1n);
      }
      for (const pass of ['head', 'final'] as const) {
        const observer = await observe(ingesterOf([world.rpcUrl], { final: 0 }), pass);
        await observer.follow();
        assert.equal(receivedBy(observer, customer), sent, pass);
      }
    });
  });

  describe('waits for finality', () => {
    it('of a number of blocks on top, for each tier its own', async () => {
      await world.pay(customer, 5n);
      const ingester = ingesterOf([world.rpcUrl]);
      const [small, large] = [await observe(ingester, 'final'), await observe(ingester, 'finalLarge')];
      await assertAppears(small, 3);
      await assertAppears(large, 3);
    });

    it('of the node’s tag, and of both tag and depth', async () => {
      await world.pay(customer, 5n);
      // Anvil's finalized block is four behind its head here.
      const ingester = ingesterOf([world.rpcUrl], { final: 'finalized', finalLarge: { tag: 'finalized', atLeast: 7 } });
      const [tagged, both] = [await observe(ingester, 'final'), await observe(ingester, 'finalLarge')];
      await assertAppears(tagged, 4);
      await assertAppears(both, 3);
    });

    it('and goes nowhere while the tag stalls or is missing', async () => {
      await world.pay(customer, 5n);
      const stalled = await startProxy(world.rpcUrl, (method, params, forward) =>
        forward(method, params[0] === 'finalized' ? ['0x1', false] : params),
      );
      const pass = await observe(ingesterOf([stalled.url], { final: 'finalized' }), 'final');
      await world.mine(50);
      await pass.follow();
      assert.equal(pass.cursor().blockNumber, 1n);

      stalled.behave(async (method, params, forward) => (params[0] === 'finalized' ? null : forward(method, params)));
      await assert.rejects(
        pass.follow(),
        (error) => error instanceof ChainUnavailable && /finalized/.test(error.message),
      );
    });

    async function assertAppears(observer: Awaited<ReturnType<typeof observe>>, afterBlocks: number) {
      await world.mine(afterBlocks - 1);
      await observer.follow();
      assert.equal(receivedBy(observer, customer), 0n);
      await world.mine(1);
      await observer.follow();
      assert.equal(receivedBy(observer, customer), 5n);
    }
  });

  describe('when the chain reorganises', () => {
    it('names the blocks that left, and a dropped transfer with them', async () => {
      const head = await observe(ingesterOf([world.rpcUrl]), 'head');
      const txHash = await world.pay(customer, 5n);
      const { blockHash } = await world.client.getTransactionReceipt({ hash: txHash });
      await world.mine(2);
      await head.follow();
      assert.equal(receivedBy(head, customer), 5n);

      await world.reorg(3);
      await world.mine(1);
      await head.follow();
      assert.ok(head.orphaned.includes(blockHash));
      assert.equal(receivedBy(head, customer), 0n);
      assert.equal(head.cursor().blockNumber, await world.client.getBlockNumber());
    });

    it('sees a transfer again, the same one, where it was included anew', async () => {
      const head = await observe(ingesterOf([world.rpcUrl]), 'head');
      const { hash, raw } = await signedPayment(world);
      await world.mine(2);
      await head.follow();
      const [id] = [...head.seen].find(([, { txHash }]) => txHash === hash)!;

      await world.reorg(3, [[raw, 1]]);
      await world.mine(1);
      await head.follow();
      const again = head.seen.get(id)!;
      const receipt = await world.client.getTransactionReceipt({ hash });
      assert.equal(again.blockHash, receipt.blockHash);
      assert.equal(receivedBy(head, customer), 5n);
    });

    it('also names them right after a restart', async () => {
      const before = await observe(ingesterOf([world.rpcUrl]), 'head');
      const txHash = await world.pay(customer, 5n);
      const { blockHash } = await world.client.getTransactionReceipt({ hash: txHash });
      await world.mine(1);
      await before.follow();
      const after = await observe(ingesterOf([world.rpcUrl]), 'head', before.cursor());
      await world.mine(1);
      await after.follow();
      await world.reorg(3);
      await world.mine(1);
      await after.follow();
      assert.ok(after.orphaned.includes(blockHash));
    });

    it('while the service is down, goes on from before the fork', async () => {
      const before = await observe(ingesterOf([world.rpcUrl]), 'head');
      await world.mine(5);
      await before.follow();
      await world.reorg(4);
      await world.pay(customer, 7n);
      const after = await observe(ingesterOf([world.rpcUrl]), 'head', before.cursor());
      await after.follow();
      assert.deepEqual(after.orphaned, [before.cursor().blockHash]);
      assert.equal(receivedBy(after, customer), 7n);
    });

    it('never confirms what is no longer there', async () => {
      const ingester = ingesterOf([world.rpcUrl]);
      const [head, final] = [await observe(ingester, 'head'), await observe(ingester, 'final')];
      await world.mine(2);
      for (let round = 0; round < 5; round++) {
        await world.pay(customer, 1n);
        await Promise.all([head.follow(), final.follow()]);
        await world.reorg(2);
        await world.mine(1);
        await Promise.all([head.follow(), final.follow()]);
      }
      await world.pay(customer, 100n);
      await world.mine(10);
      await Promise.all([head.follow(), final.follow()]);
      assert.equal(receivedBy(final, customer), 100n);
      assert.deepEqual(final.orphaned, []);
      assert.equal(receivedBy(head, customer), 100n);
    });

    it('does not take a log for a transfer once its block has left', async () => {
      const ingester = ingesterOf([world.rpcUrl]);
      const cursor = await ingester.start('head', instant(0), signal);
      await world.pay(customer, 5n);
      const logs = [];
      for await (const range of ingester.scan(cursor, signal)) logs.push(...range.logs);
      const log = logs.find(({ to }) => to === customer)!;
      await world.reorg(1);
      assert.equal(await ingester.resolve(log, signal), undefined);
    });
  });

  describe('with several nodes', () => {
    let [first, second] = [] as unknown as [NodeProxy, NodeProxy];
    beforeEach(async () => {
      [first, second] = [await startProxy(world.rpcUrl), await startProxy(world.rpcUrl)];
    });

    for (const claims of ['itsOwnHead', 'theRealHead'] as const) {
      it(`loses nothing to a fail-over node that lags, answers empty, and tells ${claims}`, async () => {
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

    it('moves its cursor no further than the node that answered has come', async () => {
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

    it('goes on with the one that is ahead when the preferred one stops syncing', async () => {
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

    it('does not call a transfer unknown on the word of a node that lags', async () => {
      const ingester = ingesterOf([first.url, second.url]);
      const txHash = await world.pay(customer, 5n);
      const head = await observe(ingester, 'head');
      await head.follow();
      first.behave(broken);
      second.behave(lagging(1n, 'itsOwnHead'));
      await assert.rejects(ingester.lookUp(txHash, signal), ChainUnavailable);
    });

    it('asks for smaller ranges when a node refuses large ones', async () => {
      await world.mine(700);
      await world.pay(customer, 5n);
      await world.mine(100);
      first.behave(async (method, params, forward) => {
        const [filter] = params as [{ fromBlock?: string; toBlock?: string }];
        const span = method === 'eth_getLogs' ? BigInt(filter.toBlock ?? 0) - BigInt(filter.fromBlock ?? 0) : 0n;
        if (span > 100n) throw new Refusal(-32602, 'query exceeds max block range 100');
        return forward(method, params);
      });
      const head = await observe(ingesterOf([first.url]), 'head');
      await head.follow();
      assert.equal(receivedBy(head, customer), 5n);
      assert.ok(first.calls.get('eth_getLogs')! > 7);
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

    it('tells the newest head of any, and fails only when all do', async () => {
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

    it('stops at once when it is told to', async () => {
      const stop = new AbortController();
      first.behave(() => {
        stop.abort();
        return new Promise(() => {});
      });
      await assert.rejects(ingesterOf([first.url]).head(stop.signal), { name: 'AbortError' });
    });
  });

  it('starts at the last block at or before a moment', async () => {
    const ingester = ingesterOf([world.rpcUrl]);
    await world.client.mine({ blocks: 30, interval: 7 });
    const head = await world.client.getBlock();
    for (const back of [0, 1, 6, 7, 100]) {
      const at_s = Number(head.timestamp) - back;
      const { blockNumber } = await ingester.start('head', instant(at_s * 1_000), signal);
      const [here, after] = [blockNumber, blockNumber + 1n];
      assert.ok(Number((await world.client.getBlock({ blockNumber: here })).timestamp) <= at_s);
      if (after > head.number) continue;
      assert.ok(Number((await world.client.getBlock({ blockNumber: after })).timestamp) > at_s);
    }
    assert.equal((await ingester.start('head', instant(0), signal)).blockNumber, 0n);
  });
});

/** The catalogue token's code at an address that is not in the catalogue. */
async function plantCopy(world: World): Promise<Hex> {
  const copy = accountOf(909);
  const bytecode = await world.client.getCode({ address: usdc.address as Address });
  await world.client.setCode({ address: copy, bytecode: bytecode! });
  const mint = encodeFunctionData({
    abi: parseAbi(['function mint(address to, uint256 amount)']),
    args: [customer, 9n],
  });
  const hash = await world.call(copy, mint);
  await world.mine(1);
  return hash;
}

/** A payment of 5 whose raw bytes are known, so that a reorganisation can include it again. */
async function signedPayment(world: World): Promise<{ hash: Hex; raw: Hex }> {
  const account = privateKeyToAccount(keyOf(78));
  await fund(world.rpcUrl, 8453, account.address, { gas: 10n ** 18n, tokens: { USDC: 5n } });
  const args = [customer, 5n] as const;
  const raw = await account.signTransaction({
    chainId: 8453,
    to: usdc.address as Address,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }),
    gas: 200_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
  });
  const hash = await world.client.sendRawTransaction({ serializedTransaction: raw });
  await world.mine(1);
  return { hash, raw };
}
