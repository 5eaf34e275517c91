/** The sandbox's service on nodes that a developer runs: it prepares what the node lets it prepare. Without money: test/sandbox/ownNodes.test.ts. */
import assert from 'node:assert/strict';
import { privateKeyToAddress } from 'viem/accounts';
import type { ChainId } from '../../../domain/chains.ts';
import { keepKeys } from '../../../sandbox/keys.ts';
import { describeOnReal } from '../../support/realNodes.ts';
import { createSandbox } from '../../support/sandbox.ts';
import { sharedRealSandbox, startSharedRealSandbox } from '../../support/sharedSandbox.ts';
import { walletOrders } from '../../support/walletOrders.ts';

const chainIds = [8453, 501, 1500] as const;

describeOnReal(['GETH', 'SOLANA', 'STELLAR'], 'a sandbox whose RPC_URLS are set', () => {
  const nodes = sharedRealSandbox();
  const sandbox = createSandbox({ chains: chainIds });
  const { order, create } = walletOrders(sandbox);
  before(startSharedRealSandbox);
  after(() => sandbox.destroy());

  it('starts no chain of its own for them, funds its accounts there and deploys its contracts', async () => {
    const nodeOf = (id: ChainId) => nodes.file().chains[String(id)]?.rpcUrl ?? assert.fail();
    const settings = Object.fromEntries(chainIds.map((id) => [`RPC_URLS_${id}`, nodeOf(id)]));
    assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    for (const id of chainIds) assert.equal(sandbox.pidOf(`chain-${id}`), undefined);
    assert.equal(sandbox.file().chains['8453']?.rpcUrl, nodeOf(8453));
  });

  it('pays from each to each', async () => {
    const customer = privateKeyToAddress(keepKeys(sandbox.dataDir).customer);
    const orders = [
      order(
        'exactIn',
        { chainId: 8453, amount: '2' },
        { chainId: 501, receiverAddress: sandbox.file().solana?.merchantWallet },
      ),
      order(
        'exactIn',
        { chainId: 501, amount: '2' },
        { chainId: 1500, receiverAddress: sandbox.file().stellar?.merchantWallet },
      ),
      order('exactIn', { chainId: 1500, amount: '2' }, { chainId: 8453, receiverAddress: customer }),
    ];
    const payments = await Promise.all(orders.map(create));
    await Promise.all(payments.map((payment) => sandbox.pay(payment)));
    const ended = await Promise.all(payments.map(({ id }) => sandbox.follow(id)));
    assert.deepEqual([...new Set(ended.map(({ status }) => status))], ['payment_payout_completed']);
  });
});
