/** A payer on a phone: links that open the page in wallets' apps, and the weight of the scripts of wallets. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import type { VisitorOptions } from '../support/chromium.ts';
import { buttons, paying, withWallet } from './walletVisits.ts';

describe('a phone', () => {
  const phone: VisitorOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const links = (page: Page) =>
    page.locator('.apps a').evaluateAll((all) => (all as HTMLAnchorElement[]).map(({ href }) => href));
  const here = encodeURIComponent(`https://pay.example/pay/${'s'.repeat(43)}?lang=en`);

  for (const javaScriptEnabled of [true, false]) {
    it(`has wallets' apps first and the code behind one press, ${javaScriptEnabled ? 'with' : 'without'} scripts`, () =>
      paying({ options: { ...phone, javaScriptEnabled } }, async ({ page }) => {
        await page.getByRole('link', { name: 'Open in MetaMask' }).waitFor();
        assert.equal(await page.locator('.qr').isVisible(), false);
        await page.getByText('Pay from another device').click();
        await page.locator('.qr').waitFor();
      }));
  }

  it('opens this page in the app: each link is in the form of its maker’s documentation', async () => {
    await paying({ options: phone }, async ({ page }) =>
      assert.deepEqual(await links(page), [
        `https://link.metamask.io/dapp/pay.example/pay/${'s'.repeat(43)}?lang=en`,
        `https://go.cb-w.com/dapp?cb_url=${here}`,
        `https://link.trustwallet.com/open_url?coin_id=60&url=${here}`,
      ]),
    );
    const ref = encodeURIComponent('https://pay.example');
    await paying({ options: phone, story: 'waitingOnSolana' }, async ({ page }) =>
      assert.deepEqual(await links(page), [
        `https://phantom.app/ul/browse/${here}?ref=${ref}`,
        `https://solflare.com/ul/v1/browse/${here}?ref=${ref}`,
        `https://link.trustwallet.com/open_url?coin_id=501&url=${here}`,
      ]),
    );
  });

  it('has no links to apps once a wallet is here: the page is in that app', () =>
    withWallet(
      {},
      async ({ page }) => {
        await buttons(page).first().waitFor();
        assert.equal(await page.locator('.apps').isVisible(), false);
      },
      { options: phone },
    ));

  it('has parts that a desktop does not show: there the code is open', () =>
    paying({ options: { viewport: { width: 1280, height: 900 } } }, async ({ page }) => {
      await page.locator('.qr').waitFor();
      assert.equal(await page.locator('.apps').isVisible(), false);
      assert.equal(await page.getByText('Pay from another device').isVisible(), false);
    }));
});

describe('the scripts of wallets', () => {
  it('weigh at most 15 kB compressed', () => {
    const files = ['wallets', 'evmWallet', 'solanaWallet', 'stellarWallet', 'walletProblem', 'gasFree'];
    const sizes = files.map(
      (name) => gzipSync(readFileSync(new URL(`../../web/client/${name}.js`, import.meta.url))).length,
    );
    const whole = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(whole <= 15_000, `${whole} bytes`);
  });
});
