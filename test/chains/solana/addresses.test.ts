import assert from 'node:assert/strict';
import { Keypair } from 'solana-web3-v1';
import { chainOf } from '../../../domain/chains.ts';
import { canonicalTxHash, familyAddresses } from '../../../src/chains/families.ts';
import { systemProgram } from '../../../src/chains/solana/addresses.ts';
import { solanaWalletLink, type WalletLinkRequest } from '../../../src/chains/solana/payerTransactions.ts';
import { publicReferenceOf } from '../../../src/chains/solana/payouts/transaction.ts';
import { tokenAccountOf } from '../../../src/chains/solana/tokenProgram.ts';
import { usdcToken } from './world.ts';

const solana = chainOf(501);
const wallet = Keypair.fromSeed(new Uint8Array(32).fill(1)).publicKey.toBase58();

describe('addresses on Solana', () => {
  it('are 32 bytes in base58, on the curve or not: some wallets have no key', () => {
    for (const text of [wallet, tokenAccountOf(wallet, usdcToken.address)])
      assert.equal(familyAddresses.canonical(solana, text), text);
  });

  it('are nothing else: other chains’ addresses, misspellings, tokens, nobody', () => {
    for (const text of [
      '',
      '0x3333333333333333333333333333333333333333',
      'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
      wallet.slice(4),
      `${wallet}1`,
      ` ${wallet}`,
      `${wallet.slice(0, -1)}0`,
      usdcToken.address,
      systemProgram,
    ])
      assert.equal(familyAddresses.canonical(solana, text), null, text);
  });

  it('are distinct from transactions, which are 64 bytes in base58 with significant case', () => {
    const signature = '5'.repeat(87);
    const mixed = `4WuwKfGdHnzXRoavvwTjVjethLKCZo98MVLhNChj2SDizhFcmPghRuLb2NPZTcXzvZEBb2NivQuktDJZx7aBt3aL`;
    assert.equal(canonicalTxHash(solana, mixed), mixed);
    for (const text of ['', '0x12', wallet, `${signature}0`, 'z'.repeat(88), '1'.repeat(65)])
      assert.equal(canonicalTxHash(solana, text), null, text);
  });
});

describe('the payment link of a payment on Solana', () => {
  const asked: WalletLinkRequest = {
    paymentId: '0d5b0a4e-3b0a-8c1e-9d2f-1a2b3c4d5e6f',
    sourceChainId: 501,
    sourceTokenAddress: usdcToken.address,
    depositAddress: wallet,
    title: 'Tea & cake',
  };

  it('is a Solana Pay request, with a reference that is derived from the payment and does not reveal it', () => {
    const link = solanaWalletLink(asked, '12.50') ?? '';
    const url = new URL(link);
    assert.equal(url.protocol, 'solana:');
    assert.equal(url.pathname, wallet);
    assert.deepEqual(Object.fromEntries(url.searchParams), {
      amount: '12.50',
      'spl-token': usdcToken.address,
      reference: publicReferenceOf('payin', asked.paymentId),
      label: 'Tea & cake',
    });
    assert.ok(!link.includes(asked.paymentId));
    assert.notEqual(publicReferenceOf('payin', asked.paymentId), publicReferenceOf('payout', asked.paymentId));
  });

  it('omits unknown parts, and does not exist elsewhere', () => {
    const open = new URL(solanaWalletLink({ ...asked, title: null }, null) ?? '');
    assert.deepEqual([...open.searchParams.keys()], ['spl-token', 'reference']);
    assert.equal(solanaWalletLink({ ...asked, sourceChainId: 8453 }, '1'), null);
  });
});
