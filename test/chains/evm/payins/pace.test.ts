import assert from 'node:assert/strict';
import { chainOf } from '../../../../domain/chains.ts';
import { instant } from '../../../../domain/time.ts';
import { after, defaultEvmChainConfig } from '../../../../src/chains/evm/config.ts';
import { createEvmIngester } from '../../../../src/chains/evm/payins/ingester.ts';
import { windowsOf } from '../../../../src/chains/evm/payins/ranges.ts';
import { accountOf } from '../../../support/anvil.ts';
import { type Behaviour, startProxy } from '../../proxy.ts';
import { blockSeconds, createWorld, ingesterOf, observe, receivedBy, signal, type World } from '../world.ts';

const customer = accountOf(501);
const start_s = 1_800_000_000;

describe('an EVM chain that makes several blocks a second', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld(8453);
  });

  async function passOf(blocksPerSecond: number) {
    const node = await startProxy(world.rpcUrl, sharingSeconds(blocksPerSecond));
    return observe(ingesterOf([node.url], { final: after(8453, 20_000) }), 'final');
  }

  it('has a payin final when its time has passed, however many blocks share a second', async () => {
    const final = await passOf(5);
    await world.pay(customer, 5n);
    await world.mine(99);
    await final.follow();
    assert.equal(receivedBy(final, customer), 0n);
    await world.mine(16);
    await final.follow();
    assert.equal(receivedBy(final, customer), 5n);
  });

  it('has it final no sooner if it makes twice as many blocks as the catalogue states', async () => {
    const final = await passOf(10);
    await world.pay(customer, 5n);
    await world.mine(190);
    await final.follow();
    assert.equal(receivedBy(final, customer), 0n);
    await world.mine(40);
    await final.follow();
    assert.equal(receivedBy(final, customer), 5n);
  });

  it('requires the same depth when it slows down: as many blocks as usually arrive in that time', async () => {
    const final = await passOf(1);
    await world.pay(customer, 5n);
    await world.mine(90);
    await final.follow();
    assert.equal(receivedBy(final, customer), 0n);
  });

  it('is scanned from the last of the blocks that share a second', async () => {
    const node = await startProxy(world.rpcUrl, sharingSeconds(5));
    await world.mine(40);
    const ingester = ingesterOf([node.url]);
    for (const second of [1, 4, 5]) {
      const begun = await ingester.start('head', instant((start_s + second) * 1_000), signal);
      assert.deepEqual([Number(begun.blockNumber), blockSeconds(begun)], [second * 5 + 4, start_s + second]);
    }
  });

  it('keeps and re-reads by time: as long as on a slower chain', () => {
    const [base, polygon] = [windowsOf(chainOf(8453)), windowsOf(chainOf(137))];
    for (const name of ['near_blocks', 'remembered_blocks', 'stepBack_blocks'] as const)
      assert.ok(Number(base[name]) * 200 >= 60_000 && base[name] > polygon[name], name);
  });

  it('waits on Base for 20 seconds with small sums and for Ethereum with large ones', () => {
    const { depths } = defaultEvmChainConfig(8453, []);
    assert.deepEqual(depths, {
      final: { atLeast: 100, after_ms: 20_000 },
      finalLarge: 'finalized',
      payout: { atLeast: 100, after_ms: 20_000 },
    });
    const ingester = createEvmIngester(defaultEvmChainConfig(8453, [world.rpcUrl]));
    assert.deepEqual([ingester.blocksOnTop?.('final'), ingester.blocksOnTop?.('finalLarge')], [100, null]);
  });
});

/** A node whose blocks arrive at this pace, with times in whole seconds. */
const sharingSeconds =
  (blocksPerSecond: number): Behaviour =>
  async (method, params, forward) => {
    const answer = (await forward(method, params)) as Record<string, string> | null;
    if (method !== 'eth_getBlockByNumber' || !answer) return answer;
    const second = Math.floor(Number(answer['number']) / blocksPerSecond);
    return { ...answer, timestamp: `0x${(start_s + second).toString(16)}` };
  };
