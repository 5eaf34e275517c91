/** Decodes and re-encodes strangers' pictures, so only their pixels are ever served. */
import { createHash } from 'node:crypto';
import sharp, { type Sharp } from 'sharp';
import { type Logo, pictureMax_bytes } from '../../commands/ports.ts';
import { type Refusal, refuse } from '../../domain/decider.ts';
import { createBoundedQueue } from '../lib/concurrency.ts';

export const logoMax_bytes = 100_000;
const side_px = 512;
/** A picture of few bytes can expand to gigabytes; this many pixels need 96 MB temporarily. */
const pixelsMax = 24_000_000;
const timeout_s = 10;
/** Maximum pictures decoded concurrently, and waiting. */
const atOnceMax = 2;
const waitingMax = 10;

/** Disables the library's unneeded formats: each is a parser that strangers could attack. */
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer'],
});
sharp.cache(false);

const admit = createBoundedQueue(atOnceMax, waitingMax);

/**
 * Returns a PNG or, if that is too large, a WebP of at most 512 × 512 pixels and 100,000 bytes, without metadata; of an animation, its
 * first picture.
 *
 * @param bytes a PNG, JPEG or WebP, regardless of its declared type
 */
export async function readLogo(bytes: Uint8Array): Promise<Logo | Refusal> {
  if (bytes.byteLength > pictureMax_bytes)
    return refuse(
      'invalidRequest',
      `the picture is larger than ${pictureMax_bytes} bytes: send a smaller one`,
      '/logo',
    );
  return admit(() => rewritten(bytes)) ?? refuse('unavailable', 'too many pictures are being read: try again');
}

async function rewritten(bytes: Uint8Array): Promise<Logo | Refusal> {
  try {
    for (const write of writers) {
      const written = await write(bytes);
      if (written.bytes.byteLength <= logoMax_bytes) return written;
    }
  } catch {
    const most = `${pixelsMax / 1e6} megapixels`;
    return refuse('invalidRequest', `this is no whole picture of at most ${most}: send a PNG, JPEG or WebP`, '/logo');
  }
  return refuse('invalidRequest', 'the picture has too much detail for a logo: send a simpler or smaller one', '/logo');
}

const decoded = (bytes: Uint8Array, side_px: number): Sharp =>
  sharp(bytes, { limitInputPixels: pixelsMax, failOn: 'error', sequentialRead: true })
    .timeout({ seconds: timeout_s })
    .autoOrient()
    .resize(side_px, side_px, { fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb');

const asPng = async (bytes: Uint8Array): Promise<Logo> =>
  logoOf('image/png', await decoded(bytes, side_px).png({ compressionLevel: 9 }).toBuffer());

const asWebp =
  (side_px: number, quality: number) =>
  async (bytes: Uint8Array): Promise<Logo> =>
    logoOf('image/webp', await decoded(bytes, side_px).webp({ quality }).toBuffer());

/** From the best to the smallest. */
const writers = [asPng, asWebp(side_px, 90), asWebp(side_px, 60), asWebp(side_px / 2, 60)];

const logoOf = (type: Logo['type'], bytes: Uint8Array): Logo => ({
  digest: createHash('sha256').update(bytes).digest('hex'),
  type,
  bytes,
});
