/** The demo shop's pages in a browser, in each state of an order: accessible, wide and narrow, in light and dark colours. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { PaymentStatus } from '../../domain/payment/view.ts';
import { openBook } from '../../sandbox/shop/book.ts';
import { writeSettings } from '../../sandbox/shop/settings.ts';
import { type Shop, startShop } from '../../sandbox/shop/start.ts';
import { type Visitor, visitor } from '../support/chromium.ts';
import { obstacles, standingOut } from '../support/obstacles.ts';
import { hashOf, minute } from '../support/payments.ts';
import { gateCases } from '../support/suite.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

/** No server listens there: pages are checked as they are rendered. */
const serviceUrl = 'http://127.0.0.1:9';

const looks = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 320 },
] as const;

function fillBook(folder: string): void {
  const book = openBook(join(folder, 'orders.jsonl'));
  const at = minute(0);
  const place = (orderId: string, statuses: readonly PaymentStatus[], made = true) => {
    book.write({ type: 'OrderPlaced', orderId, goods: 'Oolong, 100 g', price: '7.20', chainId: '8453', at });
    if (!made) return;
    const paymentId = '0198f3c2-0000-8000-8000-000000000001';
    book.write({ type: 'PaymentMade', orderId, paymentId, page: '/pay/x', amount: '7.2172', at });
    for (const status of statuses) book.write({ type: 'NewsCame', news: { orderId, by: 'webhook', status, at } });
  };
  place('T-new', [], false);
  place('T-unpaid', []);
  place('T-paid', ['payment_payin_completed']);
  place('T-bounced', ['payment_started', 'payment_bounced']);
  place('T-done', ['payment_payin_completed', 'payment_payout_completed']);
  const paid = { amount: '7.2172', tokenSymbol: 'USDC', chainId: '8453', txHash: hashOf('in') };
  const got = { amount: '7.20', tokenSymbol: 'USDC', chainId: '1', txHash: hashOf('out') };
  book.write({ type: 'ReceiptWritten', orderId: 'T-done', receipt: { paid, got, fee: '0.0172' } });
}

describe('pages of the demo shop', () => {
  let shop: Shop;
  let someone: Visitor;
  before(async () => {
    const folder = temporaryDirectory();
    fillBook(folder);
    const chains = [{ id: '8453', name: 'Base' }];
    const keys = { appId: 'merchant_shop', ordersKey: 'k', adminKey: 'k', webhookSecret: 'ab'.repeat(32) };
    writeSettings(folder, { serviceUrl, chains, ...keys });
    shop = await startShop({
      port: 0,
      webhookPort: 0,
      folder,
      certificates: folder,
      errorFile: join(folder, 'shop.log'),
    });
    someone = await visitor(shop.url, { besides: [serviceUrl] });
  });
  after(async () => {
    await someone.leave();
    await shop.stop();
  });

  const paths = ['/', ...['new', 'unpaid', 'paid', 'bounced', 'done'].map((state) => `/orders/T-${state}`)];
  for (const [index, path] of paths.entries()) {
    it(`${path} is accessible`, async () => {
      const { page } = someone;
      // The gate alternates the looks from page to page.
      for (const { colorScheme, width } of gateCases(looks, (_, turn) => turn === index % looks.length)) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await page.goto(path);
        assert.deepEqual([await obstacles(page), await standingOut(page)], [[], []], `${width} wide, ${colorScheme}`);
      }
    });
  }

  it('offer to pay while nothing has arrived, and the receipt once both transactions are known', async () => {
    const text = async (path: string) => (await fetch(`${shop.url}${path}`)).text();
    assert.match(await text('/orders/T-unpaid'), /href="http:\/\/127\.0\.0\.1:9\/pay\/x" data-payment/);
    for (const state of ['new', 'paid', 'bounced', 'done']) {
      const shown = await text(`/orders/T-${state}`);
      assert.ok(!shown.includes('data-payment'), state);
      assert.equal(shown.includes('is on its way'), state === 'done', state);
    }
    for (const hash of [hashOf('in'), hashOf('out')]) assert.ok((await text('/orders/T-done')).includes(hash));
  });
});
