import assert from 'node:assert/strict';
import { type Address, encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { chainOf, findToken } from '../../../../domain/chains.ts';
import { instant } from '../../../../domain/time.ts';
import { fund } from '../../../../sandbox/tokens.ts';
import { accountOf, keyOf } from '../../../support/anvil.ts';
import { createWorld, ingesterOf, observe, receivedBy, signal, type World } from '../world.ts';

const customer = accountOf(501);
const usdc = findToken(chainOf(8453), 'USDC')!;

describe('EVM ingester, when the chain reorganises,', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld(8453);
  });

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

  it('detects a transfer again as the same one after it was included again', async () => {
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

  it('names them again, all of them, while the range that contained them could not be recorded', async () => {
    const ingester = ingesterOf([world.rpcUrl]);
    const head = await observe(ingester, 'head');
    for (let block = 0; block < 5; block++) await world.pay(customer, 1n);
    await head.follow();
    await world.reorg(4);
    await world.mine(2);
    const told = async () => {
      for await (const range of ingester.scan(head.cursor(), signal)) return range.orphaned;
      return [];
    };
    const first = await told();
    assert.equal(first.length, 4);
    assert.deepEqual(await told(), first);
    await head.follow();
    assert.deepEqual(head.orphaned, first);
  });

  it('while the service is down, continues from before the fork', async () => {
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

  it('never confirms a transfer that is no longer there', async () => {
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

  it('does not accept a log as a transfer once its block has left', async () => {
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
