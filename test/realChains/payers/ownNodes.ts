/** The sandbox's service on nodes that a developer runs: it prepares what the node lets it prepare. Without money: test/sandbox/ownNodes.test.ts. */
import assert from 'node:assert/strict';
import { privateKeyToAddress } from 'viem/accounts';
import type { ChainId } from '../../../domain/chains.ts';
import { keepKeys } from '../../../sandbox/keys.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import { walletOrders } from '../../support/walletOrders.ts';

/** Chains of the sandbox that starts on the nodes of another one. */
export const ownNodeChainIds = [8453, 501, 1500] as const;

/**
 * The sandbox starts no chain of its own for the nodes, funds its accounts there, deploys its contracts, and pays from each chain to each.
 * @param nodes sandbox that runs the nodes
 */
export async function payOnOwnNodes(nodes: Sandbox, sandbox: Sandbox): Promise<void> {
  const nodeOf = (id: ChainId) => nodes.file().chains[String(id)]?.rpcUrl ?? assert.fail();
  const settings = Object.fromEntries(ownNodeChainIds.map((id) => [`RPC_URLS_${id}`, nodeOf(id)]));
  assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
  for (const id of ownNodeChainIds) assert.equal(sandbox.pidOf(`chain-${id}`), undefined);
  assert.equal(sandbox.file().chains['8453']?.rpcUrl, nodeOf(8453));

  const { order, create } = walletOrders(sandbox);
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
}
