/** The whole story of a merchant, in a browser: a buyer orders, pays in a frame or on the payment's page, and gets the receipt. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type Visitor, visitor } from '../support/chromium.ts';
import { createSandbox } from '../support/sandbox.ts';

describe('the demo shop, in a browser', () => {
  const sandbox = createSandbox({ chains: [8453, 137] });
  let someone: Visitor;
  let page: Page;
  before(() => sandbox.start());
  after(() => sandbox.destroy());
  beforeEach(async () => {
    const { shop, baseUrl } = sandbox.file();
    // Another site than the service's: its cookies would not be sent.
    someone = await visitor(shop.url.replace('127.0.0.1', 'localhost'), { besides: [baseUrl] });
    ({ page } = someone);
  });

  const order = async (): Promise<string> => {
    await page.goto('/');
    await page.getByRole('radio', { name: /Oolong/ }).check();
    await page.getByRole('button', { name: 'Order' }).click();
    await page.getByRole('link', { name: /^Pay 7\.2\d* USDC$/ }).waitFor();
    return page.url().split('/').at(-1) ?? '';
  };
  const learnBy = async (name: string) => {
    await page.goto('/');
    await page.getByRole('button', { name, exact: true }).click();
    await page.locator(`button[aria-pressed="true"]`, { hasText: name }).waitFor();
  };
  const paymentOf = async (orderId: string) => {
    const { appId, ordersKey: key } = sandbox.file().shop;
    return (await sandbox.call('GET', `/payment-api/payments/order/${appId}/${orderId}`, { key })).body;
  };
  const pay = async (orderId: string) => sandbox.pay(await paymentOf(orderId));
  /** The receipt contains both transactions, as they are on the chains. */
  const hasReceipt = async (orderId: string, learned: string) => {
    await page.getByText('Oolong, 100 g is on its way').waitFor();
    const { source, destination, status } = await paymentOf(orderId);
    assert.equal(status, 'payment_payout_completed');
    const receipt = page.locator('#receipt');
    for (const text of [source.txHash, destination.txHash, '7.20']) await receipt.getByText(text).first().waitFor();
    await page.locator('#story').getByText(learned).first().waitFor();
  };
  const entries = () =>
    readFileSync(join(sandbox.dataDir, 'shop', 'orders.jsonl'), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));

  it('order, pay in the frame, receipt: notified by webhook', async () => {
    const orderId = await order();
    // The link is a plain one until the script has loaded.
    await page.waitForLoadState('load');
    await page.getByRole('link', { name: /^Pay/ }).click();
    const frame = page.frameLocator('dialog iframe');
    await frame.getByText('Waiting for your payment').waitFor();
    await pay(orderId);
    await frame.getByText('has been paid').waitFor();
    await frame.getByRole('link', { name: 'Printable receipt' }).click();
    await frame.getByText((await paymentOf(orderId)).destination.txHash).waitFor();
    // The page handles the key once its script has loaded.
    await (
      await page
        .locator('dialog iframe')
        .elementHandle()
        .then((each) => each?.contentFrame())
    )?.waitForLoadState('load');
    await frame.getByRole('heading', { name: 'Receipt' }).press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await hasReceipt(orderId, 'by webhook, signature right');
    await someone.leave();
  });

  it('order, pay on the payment’s own page, receipt: by the feed alone', async () => {
    await learnBy('By the feed alone');
    const orderId = await order();
    const opened = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'Open its page' }).click();
    const tab = await opened;
    await tab.getByText('Waiting for your payment').waitFor();
    await pay(orderId);
    await tab.getByText('has been paid').waitFor();
    await hasReceipt(orderId, 'read in the feed');
    const told = entries()
      .flatMap(({ news }) => [news ?? []].flat())
      .filter((news) => news.orderId === orderId);
    assert.ok(told.length > 0 && told.every(({ by }: { by: string }) => by === 'feed'));
    await someone.leave();
  });

  const ways = [
    ['By webhook', /by webhook, signature right|asked for: no webhook had told/],
    ['By the feed alone', /read in the feed/],
  ] as const;
  for (const [way, learned] of ways) {
    it(`loses no order when it is killed while a buyer pays: ${way}`, async () => {
      await learnBy(way);
      const orderId = await order();
      process.kill(sandbox.pidOf('shop') ?? assert.fail('no shop runs'), 'SIGKILL');
      await pay(orderId);
      await sandbox.follow((await paymentOf(orderId)).id);
      await sandbox.kill();
      assert.equal(await sandbox.start(), 'ready');
      const back = await visitor(sandbox.file().shop.url, { besides: [sandbox.file().baseUrl] });
      await back.page.goto(`/orders/${orderId}`);
      await back.page.getByText('Oolong, 100 g is on its way').waitFor();
      await back.page.locator('#story').getByText(learned).first().waitFor();
      assert.equal(entries().filter((entry) => entry.type === 'ReceiptWritten' && entry.orderId === orderId).length, 1);
      await back.leave();
      await someone.leave();
    });
  }
});
