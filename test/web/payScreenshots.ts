/**
 * Writes pictures of every payment page for review: `node test/web/payScreenshots.ts <folder> [language] [page …]`. The
 * page `wallet` shows a wallet on its way to the payment, also without gas. It is not part of the suite, and the pictures are not committed.
 */
import { mkdir } from 'node:fs/promises';
import { chromium, type Page } from 'playwright-core';
import { generatePrivateKey } from 'viem/accounts';
import { keepKeys } from '../../sandbox/keys.ts';
import { languages } from '../../web/parts/language.ts';
import { payPage } from '../../web/pay/page.ts';
import { installed } from '../support/chromium.ts';
import { evmWallet, solanaWallet } from '../support/standInWallets.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { servePages } from './pageServer.ts';
import { payModel, payPages, stories } from './samples/payPages.ts';

const widths = [390, 820, 1280];
const [folder = '/tmp/pages', stated, ...wanted] = process.argv.slice(2);
await mkdir(folder, { recursive: true });

const language = languages.find((known) => known === stated) ?? 'en';
const pages = payPages(language);
const free = payPage({ ...payModel(stories.waitingOnSolana, language), gasFree: true });
const { solana } = keepKeys(temporaryDirectory());
await using server = await servePages({ ...pages, free });
const browser = await chromium.launch({ executablePath: installed(), args: ['--no-sandbox', '--disable-gpu'] });
for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of widths) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    const shoot = (name: string) =>
      page.screenshot({ path: `${folder}/${name}-${language}-${width}-${colorScheme}.png`, fullPage: true });
    for (const name of wanted.length > 0 ? wanted.filter((each) => each in pages) : Object.keys(pages)) {
      await page.goto(server.url(name));
      await shoot(name);
    }
    if (wanted.length === 0 || wanted.includes('wallet')) await shootWallet(page, shoot);
    await context.close();
  }
}
await browser.close();

/** A wallet that is found, waits for the payer, and has sent; and one that signs a refund address. */
async function shootWallet(page: Page, shoot: (name: string) => Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const hash = `0x${'ab'.repeat(32)}`;
  const answers: Readonly<Record<string, unknown>> = {
    eth_call: '0xffffffff',
    eth_getBalance: '0x1',
    eth_sendTransaction: promise.then(() => hash),
    personal_sign: new Promise(() => {}),
  };
  await evmWallet(page, {
    key: generatePrivateKey(),
    rpcUrl: () => '',
    on: 8453,
    behaviour: (method) => answers[method],
  });
  const button = page.locator('#wallets ul button');
  await page.goto(server.url('waiting'));
  await button.waitFor();
  await shoot('walletFound');
  await button.click();
  await page.locator('.told-wallet[data-state="confirm"]').waitFor();
  await shoot('walletConfirm');
  resolve();
  await page.locator('.told-wallet[data-state="sent"]').waitFor();
  await shoot('walletSent');
  await page.goto(server.url('refundSigned'));
  await button.waitFor();
  await shoot('walletRefund');
  await page.route('**/free/authorization*', (route) =>
    route.fulfill({ json: { authorizations: [{ chainId: 501, transaction: 'AQID' }], last: null } }),
  );
  await solanaWallet(page, {
    ...{ secret: solana.customer, rpcUrl: 'http://127.0.0.1:1', chain: 'solana:mainnet' },
    behaviour: (method) => (method === 'signTransaction' ? new Promise(() => {}) : undefined),
  });
  await page.goto(server.url('free'));
  await button.last().waitFor();
  await shoot('walletFree');
  await button.last().click();
  await page.locator('.told-wallet[data-state="signFree"]').waitFor();
  await shoot('walletFreeSign');
}
