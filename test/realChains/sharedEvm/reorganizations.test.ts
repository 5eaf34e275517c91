/** Real EVM chains that are no longer those that were read: a node forgets its newest blocks, or it is of another network. */
import assert from 'node:assert/strict';
import { parseUnits } from 'viem';
import type { ChainId } from '../../../domain/chains.ts';
import { startAnvil } from '../../../sandbox/anvil.ts';
import type { Order } from '../../support/customers.ts';
import { onStop } from '../../support/hooks.ts';
import { describeOnReal } from '../../support/realNodes.ts';
import { createRealWorld } from '../../support/realWorld.ts';
import { realEvmChainIds, sharedRealEvmSandbox } from '../../support/sharedSandbox.ts';
import { createFaultTrials, raisedSince } from '../faultTrials.ts';

const routes = [
  [8453, 1],
  [1, 8453],
] as const;

describeOnReal(['GETH'], 'a chain that goes back', () => {
  const sandbox = sharedRealEvmSandbox();
  const world = createRealWorld(sandbox);
  const trials = createFaultTrials(sandbox, routes);
  /** Served around the kill. */
  const killed: Order[] = [];
  const { customers } = trials;
  /** Blocks up to here hold the accounts' funds. */
  let fundedBy = 0;
  const headOf = async (id: ChainId) => Number(await sandbox.rpc(id, 'eth_blockNumber', []));
  before(async () => {
    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    fundedBy = await headOf(8453);
  });
  // The nodes run for the other files.
  after(() => sandbox.kill());

  for (const blocks of [1, 2]) {
    it(`by ${blocks}: each payment completes once`, () =>
      trials.survive(`set back by ${blocks}`, realEvmChainIds, async () => {
        for (const id of realEvmChainIds) await world.setBack(id, blocks);
      }));
  }

  it('by SIGKILL, which loses the newest blocks: nobody is paid twice, and new payments complete', async () => {
    const before = await trials.alarms();
    for (const [from, to] of routes) killed.push(customers.newOrder(from, to), customers.newOrder(from, to));
    await trials.serve(...killed);
    await sandbox.follow(killed[0]?.payment.id, ({ status }) => status !== 'payment_unpaid');
    await world.restart(realEvmChainIds, 'SIGKILL');
    const ready_s = await trials.untilReady();
    for (const order of killed) await trials.payAgainIfLost(order);
    const raised = async () => raisedSince(before, await trials.alarms());
    const isSettled = async ({ payment }: Order) =>
      (await sandbox.read(payment.id)).status === 'payment_payout_completed';
    await sandbox.until(async () => {
      const settled = await Promise.all(killed.map(isSettled));
      return settled.every(Boolean) || /payinLost|fundingUnproven/.test(await raised());
    });
    const next = customers.newOrder(8453, 1);
    await trials.serve(next);
    await sandbox.follow(next.payment.id);
    assert.equal(await sandbox.balance(1, 'USDC', next.receiver), parseUnits(next.amount, 6));
    for (const { to, receiver, amount } of killed) {
      const got = await sandbox.balance(to, 'USDC', receiver);
      assert.ok(got === 0n || got === parseUnits(amount, 6), `${receiver} got ${got} for ${amount}`);
    }
    const payments = killed.length + 1;
    trials.note({ family: 'evm', scenario: 'killed (SIGKILL)', payments, ready_s, alarms: await raised() });
  });

  it('by 40, beyond final blocks: an alarm names the lost payin, nobody is paid twice, and new payments complete', async () => {
    const before = await trials.alarms();
    const lost = customers.newOrder(8453, 1);
    await trials.serve(lost);
    await sandbox.follow(lost.payment.id);
    await sandbox.until(async () => (await headOf(8453)) > fundedBy + 40);
    await world.setBack(8453, 40);
    const began_ms = performance.now();
    const lostBefore = before.get('payinLost') ?? 0;
    await sandbox.until(async () => ((await trials.alarms()).get('payinLost') ?? 0) > lostBefore);
    await trials.untilReady();
    const ready_s = Math.round((performance.now() - began_ms) / 1_000);
    const next = customers.newOrder(8453, 1);
    await trials.serve(next);
    await sandbox.follow(next.payment.id);
    for (const { receiver, amount } of [lost, next]) {
      assert.equal(await sandbox.balance(1, 'USDC', receiver), parseUnits(amount, 6));
    }
    const alarms = raisedSince(before, await trials.alarms());
    trials.note({ family: 'evm', scenario: 'set back by 40', payments: 2, ready_s, alarms });
  });

  it('leaves every payment whole', () => trials.allAreWhole(killed));

  it('with a node of another network alone: payments from the chain get 503 with its pointer, those from others are created', async () => {
    const elsewhere = await startAnvil({ chainId: 8453, mining: { blockTime_s: 1 } });
    onStop(() => elsewhere.stop());
    await sandbox.kill();
    assert.equal(await sandbox.start({ RPC_URLS_8453: elsewhere.rpcUrl }), 'ready', sandbox.printed());
    const { ordersKey } = sandbox.file().wallet;
    const create = (from: ChainId) => sandbox.tryToCreate(customers.bodyOf(customers.newOrder(from, 1)), ordersKey);
    await sandbox.until(async () => {
      const { status, body, headers } = await create(8453);
      // A service that has just started may refuse for another reason first.
      if (status !== 503 || body.errors?.[0]?.pointer !== '/source/chainId') return false;
      assert.match(body.errors[0].message, /^payments on Base cannot be seen at present/);
      assert.match(headers.get('retry-after') ?? '', /^[1-9]/);
      return true;
    });
    await sandbox.until(async () => (await create(1)).status === 201);
  });
});
