/** A developer's tools beside a sandbox: `npm run pay` as a newcomer types it, `npm run listen`, the example shop. */
import assert from 'node:assert/strict';
import { Connection, PublicKey } from 'solana-web3-v1';
import { walletLinkAt } from '../../../sandbox/walletLink.ts';
import { outputOfTool } from '../../support/operatorTools.ts';
import type { Answer, Json } from '../../support/sandbox.ts';
import { sharedSandbox, startSharedSandbox } from '../../support/sharedSandbox.ts';
import { describeExampleShop } from './exampleShop.ts';
import { describeTrigger } from './trigger.ts';

const receiver = '0x3333333333333333333333333333333333333333';

describe('beside a running sandbox', () => {
  const sandbox = sharedSandbox();
  before(startSharedSandbox);

  describe('npm run pay', () => {
    it('pays on an EVM chain and follows the payment to its end', async () => {
      const payment = await create({ chainId: 8453, tokenSymbol: 'USDC' });
      const printed = await pay(payment.id);
      assert.match(printed, new RegExp(`3.01\\d* USDC on Base: 0x.* → ${payment.source.receiverAddress}`));
      assert.match(printed, /payment_payout_completed/);
      assert.match(printed, new RegExp(`3.00 USDC on Polygon → ${receiver}\n {2}paid out in transaction 0x`));
    });

    it('pays on Solana, with the reference of the link that the page shows', async () => {
      const { id, source } = await create({ chainId: 501, tokenSymbol: 'USDC' });
      const key = sandbox.file().wallet.ordersKey;
      const { paymentLink } = (await sandbox.call('GET', `/payment-api/payments/${id}`, { key })).body;
      const walletLink = new URL((await walletLinkAt(paymentLink, 'solana')) ?? '');
      const printed = await pay(id, '--no-follow');
      assert.match(printed, new RegExp(`USDC on Solana: .* → ${source.receiverAddress}`));
      const reference = new PublicKey(walletLink.searchParams.get('reference') ?? '');
      const connection = new Connection(sandbox.file().chains['501']?.rpcUrl ?? '', 'confirmed');
      const [found] = await connection.getSignaturesForAddress(reference);
      assert.match(printed, new RegExp(`paid in transaction ${found?.signature}\\n`));
    });

    it('pays another amount than requested and does not wait, by its options', async () => {
      const payment = await create({ chainId: 8453, tokenSymbol: 'USDC' });
      const printed = await pay(payment.id, '--amount', '0.5', '--no-follow');
      assert.match(printed, /0\.5 USDC on Base.*paid in transaction 0x[0-9a-f]{64}\s*$/s);
    });

    it('reports a payment that it cannot pay', async () => {
      await assert.rejects(pay('00000000-0000-8000-8000-000000000000'), /404/);
      const payment = await create({ chainId: 8453, tokenSymbol: 'USDC' });
      await assert.rejects(
        pay(payment.id, '--amount', '1.2345678'),
        /1\.2345678 is not an amount of USDC \(at most 6 decimals\)/,
      );
      await assert.rejects(pay(payment.id, '--amount', '1000000000'), /was reverted/);
    });

    async function create(source: Json, more: Json = {}): Promise<Answer['body']> {
      const created = await sandbox.create({
        appId: sandbox.file().wallet.appId,
        type: 'exactOut',
        display: { title: 'Tea' },
        source,
        destination: { chainId: 137, tokenSymbol: 'USDC', receiverAddress: receiver, amount: '3.00' },
        ...more,
      });
      assert.equal(created.status, 201, JSON.stringify(created.body));
      return created.body;
    }

    const pay = (...args: string[]) => outputOfTool(sandbox.dataDir, 'sandbox/pay', ...args);
  });

  describeTrigger(sandbox);
  describeExampleShop(sandbox);
});
