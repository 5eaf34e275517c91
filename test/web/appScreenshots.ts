/**
 * Writes pictures of every page of the dashboard for review, of an app with nothing, with 20 and with 100,000 payments, at three widths, by
 * day and by night: `node test/web/appScreenshots.ts <folder> [page …]`. It is not part of the suite, and the pictures are not committed.
 */
import { mkdir } from 'node:fs/promises';
import { visitor } from '../support/chromium.ts';
import { stopAll } from '../support/hooks.ts';
import { sizes, startThreeApps } from './threeApps.ts';

const widths = { phone: 360, tablet: 820, desktop: 1280 } as const;
const [folder = '/tmp/pages', ...wanted] = process.argv.slice(2);
await mkdir(folder, { recursive: true });

await using apps = await startThreeApps();
for (const colorScheme of ['light', 'dark'] as const) {
  for (const [device, width] of Object.entries(widths)) {
    const { page, leave } = await visitor(apps.world.url, { viewport: { width, height: 900 }, colorScheme });
    await apps.signIn(page);
    for (const size of sizes)
      for (const [name, path] of Object.entries(apps.pagesOf(size))) {
        if (wanted.length > 0 && !wanted.includes(name)) continue;
        const began_ms = performance.now();
        const answer = await page.goto(path);
        const took_ms = Math.round(performance.now() - began_ms);
        const picture = `${size}-${name}-${device}-${colorScheme}.png`;
        process.stdout.write(`${answer?.status()} ${took_ms} ms ${picture}\n`);
        await page.screenshot({ path: `${folder}/${picture}`, fullPage: true });
      }
    await leave();
  }
}
await stopAll();
