/**
 * Writes pictures of reports for review: `node test/tools/report/screenshots.ts <folder> [language]`. It is not part of the suite,
 * and the pictures are not committed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { languages } from '../../../web/parts/language.ts';
import { inLanguage } from '../../../web/parts/say.ts';
import { reportPage } from '../../../web/report/page.ts';
import { visitor } from '../../support/chromium.ts';
import { stopAll } from '../../support/hooks.ts';
import { about, samples } from './samples.ts';
import { reportSheet } from './sheet.ts';

const [folder = '/tmp/reports', wanted] = process.argv.slice(2);
const language = languages.find((known) => known === wanted) ?? 'en';
mkdirSync(folder, { recursive: true });
for (const [name, answers] of Object.entries(samples)) {
  const document = inLanguage({ language, url: null }, () => reportPage(about, answers, reportSheet));
  writeFileSync(join(folder, `${name}.html`), document);
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [360, 768, 1280]) {
      const { page, leave } = await visitor('http://127.0.0.1', { viewport: { width, height: 900 }, colorScheme });
      await page.setContent(document);
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true });
      if (width === 1280 && colorScheme === 'light')
        await page.pdf({ path: join(folder, `${name}.pdf`), format: 'A4' });
      await leave();
    }
  }
}
await stopAll();
