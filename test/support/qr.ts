import jsqr from 'jsqr';
import type { Page } from 'playwright-core';
import sharp from 'sharp';

/** What a telephone reads from the picture of a page's first code; undefined when it cannot. */
export async function scanned(page: Page): Promise<string | undefined> {
  const picture = await page.locator('svg.qr').first().screenshot();
  const { data, info } = await sharp(picture)
    .resize({ width: 600 })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return jsqr.default(new Uint8ClampedArray(data), info.width, info.height)?.data;
}
