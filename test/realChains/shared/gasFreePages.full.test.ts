/** Authorizations that the service prepares for wallets in pages, on a real Solana and a real Stellar: simulated, signed, sent and paid out. */
import assert from 'node:assert/strict';
import { hash } from '@stellar/stellar-sdk';
import { Keypair, VersionedTransaction } from 'solana-web3-v1';
import { endowOnAgave } from '../../../sandbox/realNodes/agave.ts';
import { describeOnReal } from '../../support/realNodes.ts';
import { sharedRealSandbox, startSharedRealSandbox } from '../../support/sharedSandbox.ts';
import type { Answer, Json } from '../../support/shop.ts';
import { solanaClient } from '../../support/solana.ts';

describeOnReal(['SOLANA', 'STELLAR'], 'authorizations for wallets in pages', () => {
  const sandbox = sharedRealSandbox();
  before(startSharedRealSandbox);

  type Sign = (prepared: Answer['body']) => Json;

  /** Signs until an authorization is settled: an expired one is prepared again. */
  async function pays(chainId: number, account: string, sign: Sign): Promise<Answer['body']> {
    const order = {
      type: 'exactOut',
      display: { title: 'Tea' },
      source: { chainId, tokenSymbol: 'USDC' },
      destination: { amount: '3.00' },
    };
    const { status, body: payment } = await sandbox.create(order, sandbox.file().merchant.ordersKey);
    assert.equal(status, 201, JSON.stringify(payment));
    const path = `${new URL(payment.paymentLink).pathname}/authorization`;
    await sandbox.until(async () => {
      const { body: desk } = await sandbox.callOnce('GET', `${path}?account=${account}`);
      const [prepared] = desk.authorizations ?? [];
      if (prepared) await sandbox.callOnce('POST', path, { body: sign(prepared) });
      return (await sandbox.read(payment.id)).status !== 'payment_unpaid';
    });
    const done = await sandbox.follow(payment.id);
    assert.equal(done.status, 'payment_payout_completed');
    return done;
  }

  it('pay from Solana, by a payer without SOL', async () => {
    const rpcUrl = sandbox.file().chains['501']?.rpcUrl ?? '';
    const [payer, client] = [Keypair.generate(), solanaClient(rpcUrl)];
    const address = payer.publicKey.toBase58();
    await endowOnAgave(rpcUrl, address, { usdc: 10_000000n });
    await sandbox.until(
      async () => (await client.balance(payer.publicKey, 'finalized').catch(() => null)) === 10_000000n,
    );
    await pays(501, address, ({ transaction }) => {
      const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
      signed.sign([payer]);
      return { chainId: 501, transaction: Buffer.from(signed.serialize()).toString('base64') };
    });
    assert.equal(await client.connection.getBalance(payer.publicKey), 0);
  });

  it('pay from Stellar, by a payer who pays no fee', async () => {
    const payer = await sandbox.stellarAccount('10');
    const done = await pays(1500, payer.publicKey(), ({ entry, preimage }) => ({
      chainId: 1500,
      entry,
      signature: payer.sign(hash(Buffer.from(preimage, 'base64'))).toString('base64'),
    }));
    const left = 10_0000000n - BigInt(Math.round(Number(done.source.amount) * 1e7));
    assert.equal(await sandbox.balance(1500, 'USDC', payer.publicKey()), left);
  });
});
