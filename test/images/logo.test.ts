import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { type Logo, pictureMax_bytes } from '../../commands/ports.ts';
import { isRefusal } from '../../domain/decider.ts';
import { readLogo } from '../../src/images/logo.ts';

const plain = (width: number, height: number): Sharp =>
  sharp({ create: { width, height, channels: 4, background: '#b5432a80' } });

async function taken(bytes: Uint8Array): Promise<Logo> {
  const logo = await readLogo(bytes);
  if (isRefusal(logo)) assert.fail(logo.message);
  return logo;
}

async function refused(bytes: Uint8Array): Promise<RegExp | string> {
  const logo = await readLogo(bytes);
  assert.ok(isRefusal(logo), 'it is taken');
  return `${logo.refused} ${logo.pointer}`;
}

const crcTable = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});
const crcOf = (bytes: Buffer) =>
  (bytes.reduce((crc, byte) => (crcTable[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8), 0xffffffff) ^ 0xffffffff) >>> 0;

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  crc.writeUInt32BE(crcOf(body));
  return Buffer.concat([length, body, crc]);
}

/** A PNG with one bit per pixel, whose header states this size regardless of its rows. */
function pngOf(width: number, height: number, rows: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 1;
  const pixels = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * rows), { level: 9 });
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

describe('a logo', () => {
  it('is a picture that the service encodes, from any of three formats', async () => {
    for (const bytes of [
      await plain(40, 20).png().toBuffer(),
      await plain(40, 20).jpeg().toBuffer(),
      await plain(40, 20).webp().toBuffer(),
    ]) {
      const logo = await taken(bytes);
      const { format, width, height } = await sharp(logo.bytes).metadata();
      assert.deepEqual([logo.type, format, width, height], ['image/png', 'png', 40, 20]);
      assert.equal(logo.digest, createHash('sha256').update(logo.bytes).digest('hex'));
    }
  });

  it('is at most 512 pixels wide and high and 100,000 bytes, whatever it contains', async () => {
    const wide = await taken(await plain(2_000, 1_000).png().toBuffer());
    const large = await sharp(wide.bytes).metadata();
    assert.deepEqual([large.width, large.height], [512, 256]);
    const raw = { width: 520, height: 520, channels: 3 } as const;
    const noise = await sharp(randomBytes(520 * 520 * 3), { raw })
      .jpeg({ quality: 95 })
      .toBuffer();
    const { type, bytes } = await taken(noise);
    assert.equal(type, 'image/webp');
    assert.ok(bytes.byteLength <= 100_000, String(bytes.byteLength));
    // The size of a phone's photograph.
    const photograph = await sharp(randomBytes(2_000 * 1_500 * 3), {
      raw: { width: 2_000, height: 1_500, channels: 3 },
    })
      .jpeg({ quality: 85 })
      .toBuffer();
    assert.ok(
      photograph.byteLength > 2_000_000 && photograph.byteLength < pictureMax_bytes,
      String(photograph.byteLength),
    );
    assert.ok((await taken(photograph)).bytes.byteLength <= 100_000);
  });

  it('contains no data of its sender: no EXIF, no profile, no text, nothing behind its end', async () => {
    const secret = 'geheim-4711';
    const sent = await plain(30, 30)
      .withExif({ IFD0: { ImageDescription: secret }, IFD3: { GPSLatitude: '47/1' } })
      .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${secret}</x:xmpmeta>`)
      .png()
      .toBuffer();
    const { bytes } = await taken(Buffer.concat([sent, Buffer.from(`<script>${secret}</script>`)]));
    assert.ok(sent.includes(secret));
    assert.ok(!Buffer.from(bytes).includes(secret));
    const { exif, xmp, icc } = await sharp(bytes).metadata();
    assert.deepEqual([exif, xmp, icc], [undefined, undefined, undefined]);
  });

  it('has its camera’s orientation', async () => {
    const sideways = await plain(40, 20).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const { width, height } = await sharp((await taken(sideways)).bytes).metadata();
    assert.deepEqual([width, height], [20, 40]);
  });

  it('is no picture that decompresses to more than its limit, and none of another format', async () => {
    const svg = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>',
    );
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from('not a picture'),
      svg,
      await plain(9, 9).gif().toBuffer(),
      await plain(9, 9).tiff().toBuffer(),
      (await plain(300, 300).png().toBuffer()).subarray(0, 200),
      pngOf(30_000, 30_000, 3_000),
      pngOf(0x7fffffff, 0x7fffffff, 1),
      pngOf(4_000, 4_000, 10),
      Buffer.alloc(pictureMax_bytes + 1),
    ])
      assert.equal(await refused(bytes), 'invalidRequest /logo');
  });

  it('waits for a few others, not for many', async () => {
    const bytes = await plain(600, 600).png().toBuffer();
    const answers = await Promise.all(Array.from({ length: 40 }, () => readLogo(bytes)));
    const turnedAway = answers.filter((answer) => isRefusal(answer) && answer.refused === 'unavailable');
    assert.equal(turnedAway.length, 28);
    assert.equal(new Set(answers.flatMap((answer) => (isRefusal(answer) ? [] : [answer.digest]))).size, 1);
  });
});
