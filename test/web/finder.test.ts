/** Finding by keyboard: `/` opens the search of the list, Ctrl-K the dialog; whole rows are links. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { visitor } from '../support/chromium.ts';
import { servePages } from './pageServer.ts';
import { samplePages } from './samplePages.ts';

const found = 'dashboard/apps/merchant_teahouse/find';

async function looking(steps: (page: Page, asked: readonly string[]) => Promise<void>, javaScriptEnabled = true) {
  const samples = samplePages();
  const pages = { ...samples, ...(samples['find'] && { [found]: samples['find'] }) };
  await using server = await servePages(pages);
  const { page, leave } = await visitor(server.url(''), { javaScriptEnabled });
  try {
    await steps(page, server.asked);
  } finally {
    await leave();
  }
}

describe('the finder', () => {
  it('is opened by Ctrl-K anywhere, lists matches, is walked by arrows and closed by Escape', () =>
    looking(async (page) => {
      await page.goto('overview');
      await page.keyboard.press('Control+k');
      const dialog = page.getByRole('dialog', { name: 'Find' });
      await dialog.getByRole('searchbox').waitFor();
      await page.keyboard.type('A-10');
      // Prefixes of the word find the order too, so the spec waits for the list of the whole word.
      await dialog
        .locator('.found[data-q="A-10"]')
        .getByRole('link', { name: /A-1042/ })
        .waitFor();
      await page.keyboard.press('ArrowDown');
      assert.match((await page.evaluate(() => document.activeElement?.textContent)) ?? '', /A-1042/);
      await page.keyboard.press('ArrowUp');
      assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'INPUT');
      await page.keyboard.press('Escape');
      assert.equal(await dialog.isVisible(), false);
    }));

  it('goes to the first match by Enter', () =>
    looking(async (page) => {
      await page.goto('overview');
      await page.keyboard.press('Control+k');
      await page.keyboard.type('A-10');
      await page.locator('.finder .found[data-q="A-10"]').waitFor();
      const first = await page.locator('.finder .found a').first().getAttribute('href');
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.pathname === first);
    }));

  it('leaves / to the search of a list, and to text fields', () =>
    looking(async (page) => {
      await page.goto('payments');
      await page.getByRole('heading', { level: 1 }).click();
      await page.keyboard.press('/');
      const search = page.getByRole('searchbox', { name: 'Search' });
      assert.equal(await search.evaluate((input) => input === document.activeElement), true);
      await page.keyboard.type('a/b');
      assert.equal(await search.inputValue(), 'a/b');
    }));

  it('without scripts is a page of its own, which the rail leads to', () =>
    looking(async (page) => {
      await page.goto('overview');
      await page.getByRole('link', { name: /^Find/ }).click();
      await page.getByRole('link', { name: /A-1042/ }).waitFor();
    }, false));
});

describe('a row of the list', () => {
  it('leads to its payment wherever it is pressed', () =>
    looking(async (page) => {
      await page.goto('payments');
      const row = page.getByRole('row', { name: /A-1041/ });
      const to = await row.getByRole('link').getAttribute('href');
      await row.getByText('Paying out').click({ force: true });
      await page.waitForURL((url) => url.pathname === to);
    }));
});
