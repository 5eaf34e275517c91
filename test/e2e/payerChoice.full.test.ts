/** Payers choose a source in browsers and on local chains: one payment, for which the first fully paid source counts. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { visitor } from '../support/chromium.ts';
import { createLocalService } from '../support/localService.ts';
import { scanned } from '../support/qr.ts';
import type { Answer } from '../support/shop.ts';

const receiver = '0x3333333333333333333333333333333333333333';
const [ethereum, base, solana] = [1, 8453, 501] as const;

describe('a payment with a choice of chains', () => {
  const shop = createLocalService([ethereum, base, solana]);
  before(() => shop.open());
  after(() => shop.close());

  async function create(): Promise<Answer['body']> {
    const { status, body } = await shop.create({
      appId: shop.wallet().appId,
      type: 'exactOut',
      display: { title: 'Tea', currency: 'USD' },
      source: { chainId: base, tokenSymbol: 'USDC' },
      destination: { chainId: ethereum, tokenSymbol: 'USDC', amount: '3.00', receiverAddress: receiver },
      payFrom: [
        { chainId: solana, tokenSymbol: 'USDC' },
        { chainId: ethereum, tokenSymbol: 'USDC' },
      ],
    });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  }

  async function choose(page: Page, name: RegExp, chainId: number, payment: Answer['body']): Promise<Answer['body']> {
    await page.getByRole('button', { name }).click();
    await page.locator(`button[value="${chainId} USDC"][aria-current="true"]`).waitFor();
    // The read model lags behind the page, which shows the decision.
    const now = await shop.follow(payment.id, ({ source }) => source.chainId === String(chainId));
    assert.ok((await scanned(page))?.includes(now.source.receiverAddress));
    return now;
  }

  const transactionsOf = async ({ id }: Answer['body']) => {
    const { body } = await shop.call('GET', `/payment-api/payments/${id}/transactions`, {
      key: shop.wallet().ordersKey,
    });
    return body.data.map(({ kind, chainId, standing }: Answer['body']) => [kind, chainId, standing]);
  };

  it('is created on Base, chosen on Solana without a script, paid there and paid out', async () => {
    const payment = await create();
    const { page, leave } = await visitor(shop.url(), { javaScriptEnabled: false });
    await page.goto(payment.paymentLink);
    await page.getByRole('group', { name: 'Pay from' }).waitFor();
    const now = await choose(page, /Solana/, solana, payment);
    assert.notEqual(now.source.receiverAddress, payment.source.receiverAddress);
    await shop.pay(now);
    await page.getByText('has been paid').waitFor();
    await leave();
    const done = await shop.follow(payment.id);
    assert.deepEqual(
      [done.status, done.source.chainId, done.source.amountReceived, done.destination.amount],
      ['payment_payout_completed', '501', now.source.amount, '3.00'],
    );
  });

  it('accepts the first source that is paid in full, and shows the rest as held, to be refunded', async () => {
    const payment = await create();
    const { page, leave } = await visitor(shop.url(), { viewport: { width: 360, height: 740 } });
    await page.goto(payment.paymentLink);
    await shop.pay(payment, '1.00');
    await page.getByText('Send the rest in time').waitFor();
    const now = await choose(page, /Solana/, solana, payment);
    await page.getByText('arrived on Base').waitFor();
    await shop.pay(now);
    await page.getByText('has been paid').waitFor();
    await page.getByText('arrived on Base').waitFor();
    assert.equal(await page.getByRole('group', { name: 'Pay from' }).count(), 0);
    await leave();
    const done = await shop.follow(payment.id);
    assert.deepEqual([done.source.chainId, done.source.amountReceived], ['501', now.source.amount]);
    const all = await transactionsOf(payment);
    assert.ok(
      all.some((each: unknown[]) => String(each) === 'payin,8453,surplus'),
      JSON.stringify(all),
    );
  });

  it('is paid on another chain of the same address without a choice', async () => {
    const payment = await create();
    await shop.transfer(ethereum, 'USDC', payment.source.receiverAddress, payment.source.amount);
    const done = await shop.follow(payment.id);
    assert.equal(done.source.chainId, String(ethereum));
    assert.match(done.status, /completed/);
  });
});
