import assert from 'node:assert/strict';
import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { chainOf, findToken } from '../../../../domain/chains.ts';
import { instant } from '../../../../domain/time.ts';
import { ChainUnavailable } from '../../../../src/chains/evm/rpc.ts';
import { accountOf } from '../../../support/anvil.ts';
import { type Behaviour, honest, Refusal, startProxy } from '../../proxy.ts';
import { createWorld, ingesterOf, observe, payer, receivedBy, signal, type World } from '../world.ts';

const customer = accountOf(501);
const usdc = findToken(chainOf(8453), 'USDC')!;

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
      for (const amount of [1n, 2n, 4n]) await world.send(customer, amount);
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

    it('nothing in other tokens, zero amounts, reverted transfers and look-alike logs', async () => {
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
    it('by a number of blocks on top, for each tier its own', async () => {
      await world.pay(customer, 5n);
      const ingester = ingesterOf([world.rpcUrl]);
      const [small, large] = [await observe(ingester, 'final'), await observe(ingester, 'finalLarge')];
      await assertAppears(small, 3);
      await assertAppears(large, 3);
    });

    it('by the node’s tag, and by both tag and depth', async () => {
      await world.pay(customer, 5n);
      // Anvil's finalized block is four behind its head here.
      const ingester = ingesterOf([world.rpcUrl], { final: 'finalized', finalLarge: { tag: 'finalized', atLeast: 7 } });
      const [tagged, both] = [await observe(ingester, 'final'), await observe(ingester, 'finalLarge')];
      await assertAppears(tagged, 4);
      await assertAppears(both, 3);
    });

    describe('and confirms nothing, while the head advances, if the node’s tag', () => {
      const calledFinal = (answer: Behaviour): Behaviour => {
        return (method, params, forward) =>
          method === 'eth_getBlockByNumber' && params[0] === 'finalized'
            ? answer(method, params, forward)
            : forward(method, params);
      };
      /** A payin is detected whatever the node reports as final, and confirmed once the node's report is right. */
      async function followed(answer: Behaviour, follow: (pass: Awaited<ReturnType<typeof observe>>) => Promise<void>) {
        const node = await startProxy(world.rpcUrl);
        const ingester = ingesterOf([node.url], { final: 'finalized' });
        const [head, pass] = [await observe(ingester, 'head'), await observe(ingester, 'final')];
        node.behave(calledFinal(answer));
        await world.pay(customer, 5n);
        await world.mine(50);
        await follow(pass);
        assert.equal(receivedBy(pass, customer), 0n);
        await head.follow();
        assert.equal(receivedBy(head, customer), 5n);
        node.behave(honest);
        await world.mine(1);
        await pass.follow();
        assert.equal(receivedBy(pass, customer), 5n);
      }
      const saysWhy = (why: RegExp) => (pass: Awaited<ReturnType<typeof observe>>) =>
        assert.rejects(pass.follow(), (error) => error instanceof ChainUnavailable && why.test(error.message));

      it('is refused: the pass states the reason', () =>
        followed(
          async () => {
            throw new Refusal(-32_000, 'finality is not available');
          },
          saysWhy(/finality is not available/),
        ));

      it('is null, as of a node without a consensus client: the pass names the tag', () =>
        followed(async () => null, saysWhy(/finalized/)));

      it('stays at genesis: the pass stays with it', () =>
        followed(
          (method, _, forward) => forward(method, ['0x0', false]),
          async (pass) => {
            const before = pass.cursor();
            await pass.follow();
            assert.deepEqual(pass.cursor(), before);
          },
        ));

      it('stays at an older block: the pass advances to it and no further', () =>
        followed(
          (method, _, forward) => forward(method, ['0x1', false]),
          async (pass) => {
            await pass.follow();
            assert.equal(pass.cursor().blockNumber, 1n);
          },
        ));
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

/** Deploys the catalogue token's code at an address outside the catalogue. */
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
