import jsqr from 'jsqr';
import type { Page } from 'playwright-core';
import sharp from 'sharp';

const triesMax = 5;

/** A page that tells of its payment replaces the code that is being photographed: then the new one is. */
async function pictureOf(page: Page, tries = 1): Promise<Buffer> {
  try {
    return await page.locator('svg.qr').first().screenshot();
  } catch (error) {
    if (tries >= triesMax || !String(error).includes('not attached')) throw error;
    return pictureOf(page, tries + 1);
  }
}

/** What a telephone reads from the picture of a page's first code; undefined when it cannot. */
export async function scanned(page: Page): Promise<string | undefined> {
  const picture = await pictureOf(page);
  const { data, info } = await sharp(picture)
    .resize({ width: 600 })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return jsqr.default(new Uint8ClampedArray(data), info.width, info.height)?.data;
}
