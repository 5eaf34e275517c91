/** One press pays: payers with a wallet in their browser, and wallets, payers and strangers that do what they should not. */
import assert from 'node:assert/strict';
import type { ChainId } from '../../domain/chains.ts';
import { createWalletWorld, desktop, payButton, paysByOnePress, phone, toldOfWallet, type WalletVisit } from './wallets.ts';

/** A chain of each family: the full suite pays on all seven. */
const cases: readonly (readonly [ChainId, string, WalletVisit])[] = [
  [8453, 'Base, on a phone', phone],
  [1, 'Ethereum, on a desktop', desktop],
  [501, 'Solana, on a phone', phone],
  [1500, 'Stellar, on a desktop', desktop],
];

describe('a payer with a wallet in the browser', () => {
  const { shop, create, withWallet } = createWalletWorld([1, 8453, 501, 1500]);
  before(() => shop.open());
  after(() => shop.close());

  for (const [chainId, where, options] of cases) {
    it(`pays by one press on ${where}`, async () => {
      const { page, leave } = await withWallet(chainId, options);
      const payment = await create(chainId);
      await paysByOnePress(page, payment);
      const paid = await shop.follow(payment.id);
      assert.equal(paid.source.amountReceived ?? paid.source.amount, payment.source.amount);
      await leave();
    });
  }
});
