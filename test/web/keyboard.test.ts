/** A refund by the keyboard alone, from the question for an address to the confirmed order. Paying and finding by keyboard: payPrice and finder. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { visitor } from '../support/chromium.ts';
import { servePages } from './pageServer.ts';
import { samplePages } from './samplePages.ts';

const tabsMax = 60;

/** Presses Tab until the element with this name or value has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < tabsMax; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement | null;
      const label = element?.labels?.[0]?.textContent ?? element?.textContent ?? '';
      return label.replace(/\s+/g, ' ').trim();
    });
    if (name.test(focused)) return;
  }
  assert.fail(`Tab reaches nothing that matches ${name}`);
}

describe('a refund by the keyboard alone', () => {
  it('asks for an address, is filled in and sent, and is confirmed with the code', async () => {
    await using server = await servePages(samplePages());
    const { page, leave } = await visitor(server.url(''));
    await page.goto('paymentHeld');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await tabTo(page, /^Ask for an address/);

    await page.goto('refund');
    await tabTo(page, /^All of it/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.getByRole('radio', { name: /A part/ }).isChecked(), true);
    await tabTo(page, /^Of a part: the amount/);
    await page.keyboard.type('2.50');
    const ordered = page.waitForRequest((request) => request.method() === 'POST');
    await page.keyboard.press('Enter');
    assert.match((await ordered).postData() ?? '', /2\.50/);

    await page.goto('refundConfirm');
    await tabTo(page, /^Code/);
    await page.keyboard.type('314159');
    const confirmed = page.waitForRequest((request) => request.method() === 'POST');
    await page.keyboard.press('Enter');
    assert.match((await confirmed).postData() ?? '', /314159/);
    await leave();
  });
});
