import jsqr from 'jsqr';
import type { Page } from 'playwright-core';
import sharp from 'sharp';

const triesMax = 5;

/** An updating page replaces the code during a photograph: then the new one is used. */
async function pictureOf(page: Page, tries = 1): Promise<Buffer> {
  try {
    return await page.locator('svg.qr').first().screenshot();
  } catch (error) {
    if (tries >= triesMax || !String(error).includes('not attached')) throw error;
    return pictureOf(page, tries + 1);
  }
}

/** Text of a page's first QR code; undefined if it is unreadable. */
export async function scanned(page: Page): Promise<string | undefined> {
  const picture = await pictureOf(page);
  const { data, info } = await sharp(picture)
    .resize({ width: 600 })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return jsqr.default(new Uint8ClampedArray(data), info.width, info.height)?.data;
}
