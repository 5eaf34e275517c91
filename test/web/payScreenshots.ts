/**
 * Writes pictures of every payment page for review: `node test/web/payScreenshots.ts <folder> [language] [page …]`. It
 * is not part of the suite, and the pictures are not committed.
 */
import { mkdir } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { languages } from '../../web/pay/language.ts';
import { installed } from '../support/chromium.ts';
import { servePages } from './pageServer.ts';
import { payPages } from './samples/payPages.ts';

const widths = [390, 820, 1280];
const [folder = '/tmp/pages', stated, ...wanted] = process.argv.slice(2);
await mkdir(folder, { recursive: true });

const language = languages.find((known) => known === stated) ?? 'en';
const pages = payPages(language);
await using server = await servePages(pages);
const browser = await chromium.launch({ executablePath: installed(), args: ['--no-sandbox', '--disable-gpu'] });
for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of widths) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    for (const name of wanted.length > 0 ? wanted : Object.keys(pages)) {
      await page.goto(server.url(name));
      await page.screenshot({ path: `${folder}/${name}-${language}-${width}-${colorScheme}.png`, fullPage: true });
    }
    await context.close();
  }
}
await browser.close();
