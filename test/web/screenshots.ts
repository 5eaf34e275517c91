/**
 * Pictures of every page for the eye: `node test/web/screenshots.ts <folder> [page …]`. No part of the suite; the pictures are not kept.
 */
import { mkdir } from 'node:fs/promises';
import { openChromium } from './browser.ts';
import { servePages } from './pageServer.ts';
import { samplePages } from './samplePages.ts';

const widths = [360, 768, 1280];
const [folder = '/tmp/pages', ...wanted] = process.argv.slice(2);
await mkdir(folder, { recursive: true });

const pages = samplePages();
await using server = await servePages(pages);
await using browser = await openChromium();
for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of widths) {
    const context = await browser.chromium.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    for (const name of wanted.length > 0 ? wanted : Object.keys(pages)) {
      await page.goto(server.url(name));
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true });
    }
    await context.close();
  }
}
