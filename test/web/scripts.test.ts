/** Additions of the small scripts to pages, which also work without them. */
import assert from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { VNode } from 'preact';
import { visitor } from '../support/chromium.ts';
import { type PageServer, servePages } from './pageServer.ts';
import { samplePages } from './samplePages.ts';
import { until } from './walletVisits.ts';

describe('scripts of pages', () => {
  it('insert news in their places: focus, open parts and typed text remain; it is announced once', async () => {
    const pages: Record<string, VNode> = { ...samplePages() };
    await looking(pages, {}, async (page, server) => {
      await page.goto('paymentUnpaid');
      await page.getByText('2 fields').click();
      await page.getByRole('button', { name: 'Copy Payment id' }).focus();
      await server.listened();
      pages['paymentUnpaid'] = pages['payment'] as VNode;
      server.tell();
      await page.getByText('Payout final on Arbitrum').waitFor();
      assert.equal(await page.getByText('"nested"').isVisible(), true);
      assert.match((await focused(page)) ?? '', /Copy/);
      await page.getByRole('status').getByText('A-1042: Completed').waitFor();
      assert.match(await page.title(), /^Two pounds of Darjeeling/);
    });
  });

  it('do not change the page while a person types in the part that has news', async () => {
    const pages: Record<string, VNode> = { ...samplePages() };
    await looking(pages, {}, async (page, server) => {
      await page.goto('payments');
      await page.getByLabel('Search').fill('A-10');
      await server.listened();
      pages['payments'] = pages['paymentsNone'] as VNode;
      server.tell();
      await page.getByText('No payment is like that').waitFor();
      assert.equal(await page.getByLabel('Search').inputValue(), 'A-10');
      assert.equal(await page.getByLabel('Search').evaluate((input) => input === document.activeElement), true);
    });
  });

  it('accept no news from another page at the same address, as after a form', async () => {
    const pages: Record<string, VNode> = { ...samplePages() };
    await looking(pages, {}, async (page, server) => {
      await page.goto('webhooks');
      await server.listened();
      pages['webhooks'] = pages['confirmRotate'] as VNode;
      const read = page.waitForResponse(server.url('webhooks'));
      server.tell();
      await (await read).finished();
      pages['webhooks'] = pages['webhooksRotated'] as VNode;
      server.tell();
      await page.getByText('Nothing was sent yet').waitFor();
      assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Webhooks ');
    });
  });

  it('read the page a few times for a flood of news: at once, and for later news', async () => {
    const pages: Record<string, VNode> = { ...samplePages() };
    await looking(pages, {}, async (page, server) => {
      await page.goto('payments');
      await server.listened();
      for (let news = 0; news < 1_000; news++) server.tell();
      pages['payments'] = pages['paymentsNone'] as VNode;
      server.tell();
      await page.getByText('No payment is like that').waitFor();
      assert.ok(server.asked.length <= 4, `read ${server.asked.length} times`);
    });
  });

  it('read nothing for a page that was untouched for an hour, and state that, until it is touched', async () => {
    const pages: Record<string, VNode> = { ...samplePages() };
    await looking(pages, {}, async (page, server) => {
      await page.clock.install();
      // The page reloads its content once its stream is open.
      const read = page.waitForResponse((answer) => answer.request().resourceType() === 'fetch');
      await page.goto('payments');
      await (await read).finished();
      await page.clock.fastForward('01:00:05');
      const before = server.asked.length;
      pages['payments'] = pages['paymentsNone'] as VNode;
      server.tell();
      await page.getByText('News are paused').waitFor();
      assert.equal(server.asked.length, before);
      await page.keyboard.press('Shift');
      await page.getByText('No payment is like that').waitFor();
      assert.equal(await page.getByText('News are paused').count(), 0);
    });
  });

  it('show times in the reader’s own zone, and in UTC on hover', async () => {
    await looking(samplePages(), { timezoneId: 'Asia/Tokyo', locale: 'en-GB' }, async (page) => {
      await page.goto('payments');
      const time = page.locator('td time').first();
      assert.equal(await time.textContent(), '22 Nov, 21:05');
      assert.equal(await time.getAttribute('title'), '2026-11-22 12:05:00.000 UTC');
    });
  });

  it('copy texts that are needed elsewhere', async () => {
    await looking(samplePages(), { permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
      await page.goto('keys');
      assert.equal(await page.getByTitle('Copy Key “Till”', { exact: true }).count(), 1);
      await page.getByRole('button', { name: 'Copy Key “Till”' }).click();
      await page.getByRole('status').getByText('Key “Till” copied').waitFor();
      assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^pi_test_7Qd/);
    });
  });

  it('send a form once, however often its button is pressed', async () => {
    await looking(samplePages(), {}, async (page, server) => {
      await page.goto('confirmRevoke');
      await page.getByRole('button', { name: 'Revoke the key' }).dblclick();
      await page.getByRole('button', { name: 'Revoke the key' }).press('Enter');
      const sent = () => server.asked.filter((asked) => asked.startsWith('POST')).length;
      await until(() => sent() > 0);
      assert.equal(sent(), 1);
    });
  });

  it('without scripts show everything, times in UTC, no button without effect, and a menu that opens', async () => {
    const phone = { javaScriptEnabled: false, viewport: { width: 360, height: 700 } };
    await looking(samplePages(), phone, async (page) => {
      await page.goto('payment');
      assert.match((await page.locator('dd time').first().textContent()) ?? '', /^22 Nov, 12:03 UTC$/);
      assert.equal(await page.locator('.copy:visible').count(), 0);
      assert.equal(await page.getByRole('link', { name: 'API keys' }).isVisible(), false);
      await page.getByRole('button', { name: 'Menu' }).click();
      assert.equal(await page.getByRole('link', { name: 'API keys' }).isVisible(), true);
    });
  });

  it('lead a keyboard user past the rail, into the menu and out of it again', async () => {
    await looking(samplePages(), { viewport: { width: 360, height: 700 } }, async (page) => {
      await page.goto('payment');
      await page.keyboard.press('Tab');
      assert.equal(await focused(page), 'Skip to the content');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      assert.equal(await focused(page), 'Payments');
      await page.getByRole('button', { name: 'Menu' }).focus();
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      assert.equal(await focused(page), 'Close');
      await page.keyboard.press('Escape');
      assert.equal(await focused(page), 'Menu');
    });
  });
});

const focused = (page: Page): Promise<string | undefined> =>
  page.evaluate(() => document.activeElement?.textContent?.trim());

async function looking(
  pages: Readonly<Record<string, VNode>>,
  options: BrowserContextOptions,
  look: (page: Page, server: PageServer) => Promise<void>,
): Promise<void> {
  await using server = await servePages(pages);
  const { page, leave } = await visitor(server.url(''), options);
  await look(page, server);
  await leave();
}
