/**
 * Writes pictures of every page for review: `node test/web/screenshots.ts <folder> [page …]`. `PAGE_LANGUAGE=ar` sets another
 * language. It is not part of the suite, and the pictures are not committed.
 */
import { mkdir } from 'node:fs/promises';
import { languages } from '../../web/parts/language.ts';
import { inLanguage } from '../../web/parts/say.ts';
import { visitor } from '../support/chromium.ts';
import { stopAll } from '../support/hooks.ts';
import { servePages } from './pageServer.ts';
import { samplePages } from './samplePages.ts';

const widths = [360, 768, 1280];
const [folder = '/tmp/pages', ...wanted] = process.argv.slice(2);
await mkdir(folder, { recursive: true });

const language = languages.find((known) => known === process.env['PAGE_LANGUAGE']) ?? 'en';
const pages = inLanguage({ language, url: null }, () => samplePages());
await using server = await servePages(pages);
for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of widths) {
    const { page, leave } = await visitor(server.url(''), { viewport: { width, height: 900 }, colorScheme });
    for (const name of wanted.length > 0 ? wanted : Object.keys(pages)) {
      await page.goto(name);
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true });
    }
    await leave();
  }
}
await stopAll();
