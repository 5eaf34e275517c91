/** A payer's wallet on go-ethereum: the page accepts the sandbox's real node as a simulated chain, and one press pays. */
import assert from 'node:assert/strict';
import { keepKeys } from '../../../sandbox/keys.ts';
import { networkId } from '../../../src/chains/evm/config.ts';
import { desktop, paysByOnePress, receiver } from '../../e2e/wallets.ts';
import { visitor } from '../../support/chromium.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import { evmWallet } from '../../support/standInWallets.ts';
import { walletOrders } from '../../support/walletOrders.ts';

const chainIds = [8453, 1] as const;

/** The wallet switches to the payment's chain and pays by one press. */
export async function payByBrowserWallet(sandbox: Sandbox): Promise<void> {
  const { order, create, webhooksOf } = walletOrders(sandbox);
  const payment = await create(
    order('exactOut', { chainId: 8453 }, { chainId: 1, amount: '3.00', receiverAddress: receiver }),
  );
  const urls = new Map(chainIds.map((id) => [networkId(id), sandbox.file().chains[String(id)]?.rpcUrl ?? '']));
  const { page, leave } = await visitor(new URL(payment.paymentLink).origin, desktop);
  const wallet = await evmWallet(page, {
    key: keepKeys(sandbox.dataDir).customer,
    rpcUrl: (id) => urls.get(id) ?? '',
    on: networkId(1),
  });
  await paysByOnePress(page, payment);
  assert.equal(wallet.sent.length, 1);
  assert.ok(wallet.asked.includes('wallet_switchEthereumChain'));
  await leave();
  assert.equal((await sandbox.follow(payment.id)).status, 'payment_payout_completed');
  assert.equal((await webhooksOf(payment.id)).length, 2);
}
