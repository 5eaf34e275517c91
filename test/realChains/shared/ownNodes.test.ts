/** The sandbox's service on nodes that a developer runs: it prepares what the node lets it prepare, and names what is missing. */
import assert from 'node:assert/strict';
import { privateKeyToAddress } from 'viem/accounts';
import type { ChainId } from '../../../domain/chains.ts';
import { startAnvil } from '../../../sandbox/anvil.ts';
import { keepKeys } from '../../../sandbox/keys.ts';
import { onStop } from '../../support/hooks.ts';
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

describe('a sandbox on a node that gives it no money', () => {
  const sandbox = createSandbox({ chains: [8453] });
  after(() => sandbox.destroy());

  it('names the accounts to fund, and ends', async () => {
    const anvil = await startAnvil({ chainId: 8453, mining: 'instant' });
    onStop(() => anvil.stop());
    assert.equal(await sandbox.start({ RPC_URLS_8453: anvil.rpcUrl }), 'ended');
    const keys = keepKeys(sandbox.dataDir);
    for (const key of [keys.treasury, keys.customer]) assert.ok(sandbox.printed().includes(privateKeyToAddress(key)));
    assert.match(sandbox.printed(), /Base: the sandbox cannot prepare your node \(.+\)\. Send .* then start again/);
  });

  it('names the variable without a node', async () => {
    assert.equal(await sandbox.start({ RPC_URLS_8453: 'http://127.0.0.1:9' }), 'ended');
    assert.match(sandbox.printed(), /RPC_URLS_8453: no node of chain 8453 answers there/);
  });
});
