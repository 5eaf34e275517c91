import assert from 'node:assert/strict';
import { getBase58Decoder } from '@solana/kit';
import { Keypair, type PublicKey } from 'solana-web3-v1';
import { payOnSolana, type SolanaOrder } from '../../sandbox/payOnSolana.ts';
import { type SolanaLab, solanaLab, tokenAccount, usdcMint } from '../support/solana.ts';

describe('the sandbox’s customer on Solana', () => {
  let lab: SolanaLab;
  let customer: Keypair;
  before(async () => {
    lab = await solanaLab({ slot_ms: 20 });
    customer = await lab.person();
    lab.solana.advanceSlots(4);
  });
  after(() => lab.stop());

  const pay = (to: PublicKey, order: Partial<SolanaOrder> = {}) =>
    payOnSolana(lab.solana.rpcUrl, getBase58Decoder().decode(customer.secretKey), {
      token: usdcMint.toBase58(),
      decimals: 6,
      amount: 1n,
      receiverAddress: to.toBase58(),
      walletLink: null,
      ...order,
    });
  const balance = async (owner: PublicKey) =>
    (await lab.connection.getTokenAccountBalance(await tokenAccount(owner))).value.amount;
  const newWallet = () => Keypair.generate().publicKey;

  it('pays a wallet that has no token account, repeatedly, to the last digit', async () => {
    const to = newWallet();
    await pay(to, { amount: 12_345678n });
    await pay(to, { amount: 1n });
    assert.equal(await balance(to), '12345679');
  });

  it('returns when the transfer is confirmed, which is a transaction of version 1', async () => {
    const signature = await pay(newWallet());
    const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 1 };
    const { result } = await lab.call('getTransaction', signature, options);
    const { version, meta } = result as { version: unknown; meta: { err: unknown } };
    assert.deepEqual([version, meta.err], [1, null]);
  });

  it('names the references of a Solana Pay link, and ignores other links', async () => {
    const [to, one, other] = [newWallet(), newWallet(), newWallet()];
    const walletLink = `solana:${to}?amount=1&spl-token=${usdcMint}&reference=${one}&reference=${other}`;
    const signature = await pay(to, { walletLink });
    for (const reference of [one, other]) {
      const [found] = await lab.connection.getSignaturesForAddress(reference, {}, 'confirmed');
      assert.equal(found?.signature, signature);
    }
    await pay(to, { walletLink: `https://pay.example.com/?reference=${one}` });
    assert.equal((await lab.connection.getSignaturesForAddress(one, {}, 'confirmed')).length, 1);
    assert.equal(await balance(to), '2');
  });

  it('states when it cannot pay', async () => {
    await assert.rejects(pay(newWallet(), { amount: 10n ** 15n }), /insufficient funds/);
  });
});
