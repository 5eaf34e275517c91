/** Assets of pages: named by their content, immutable, compressed once. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { encodingOf } from '../../src/api/accept.ts';
import { assetName, assets, readAssetName } from '../../web/parts/assets.ts';
import { paths } from '../../web/parts/paths.ts';
import { startWorld, type World } from './world.ts';

interface Told {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

describe('HTTP: assets of pages', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  /** Sends a request without a client that decodes the answer. */
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<Told>((resolve, reject) => {
      const sent = request(`${world.url}${path}`, { method, headers }, async (answer) => {
        const pieces: Buffer[] = [];
        for await (const piece of answer) pieces.push(piece as Buffer);
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(pieces) });
      });
      sent.on('error', reject).end();
    });
  const look = paths.asset('look.css');
  const content = () => Buffer.from(assets.get('look.css')?.content ?? '');

  it('are named by their content and cached permanently', async () => {
    const { status, headers, bytes } = await ask(look);
    assert.match(look, /\/look\.[0-9a-f]{12}\.css$/);
    assert.deepEqual([status, headers['cache-control']], [200, 'public, max-age=31536000, immutable']);
    assert.equal(headers['content-encoding'], undefined);
    assert.deepEqual(bytes, content());
  });

  it('are as small as the browser can decode, with an entity tag for each form', async () => {
    const [plain, gzip, br] = [
      await ask(look),
      await ask(look, { 'accept-encoding': 'gzip' }),
      await ask(look, { 'accept-encoding': 'gzip, deflate, br, zstd' }),
    ];
    assert.deepEqual([gzip.headers['content-encoding'], br.headers['content-encoding']], ['gzip', 'br']);
    assert.deepEqual(gunzipSync(gzip.bytes), content());
    assert.deepEqual(brotliDecompressSync(br.bytes), content());
    assert.ok(br.bytes.length < gzip.bytes.length && gzip.bytes.length < plain.bytes.length / 3);
    assert.equal(new Set([plain, gzip, br].map(({ headers }) => headers['etag'])).size, 3);
    for (const { headers, bytes } of [plain, gzip, br]) {
      assert.equal(headers['vary'], 'Accept-Encoding');
      assert.equal(Number(headers['content-length']), bytes.length);
    }
    assert.equal((await ask(look, { 'accept-encoding': 'br;q=0, *;q=0' })).headers['content-encoding'], undefined);
  });

  it('answer HEAD with the headers alone, and 304 if the client has this form', async () => {
    const headers = { 'accept-encoding': 'br' };
    const whole = await ask(look, headers);
    const head = await ask(look, headers, 'HEAD');
    assert.deepEqual([head.status, head.bytes.length], [200, 0]);
    assert.equal(head.headers['content-length'], whole.headers['content-length']);
    const tag = String(whole.headers['etag']);
    const held = await ask(look, { ...headers, 'if-none-match': `"other", W/${tag}` });
    assert.deepEqual([held.status, held.bytes.length, held.headers['etag']], [304, 0, tag]);
    assert.match(String(held.headers['cache-control']), /immutable/);
    assert.equal((await ask(look, { 'if-none-match': tag })).status, 200, 'the tag of another form');
  });

  it('are not cached permanently under another hash or none: an instance of another version may have rendered the page', async () => {
    for (const name of ['look.css', 'look.000000000000.css']) {
      const { status, headers, bytes } = await ask(`/dashboard/assets/${name}`);
      assert.deepEqual([status, headers['cache-control']], [200, 'no-cache'], name);
      assert.deepEqual(bytes, content());
    }
  });

  it('are found by no other name', async () => {
    for (const name of ['look.css.map', 'look.00.css', 'nothing.000000000000.css', 'constructor', '..%2fpackage.json'])
      assert.equal((await ask(`/dashboard/assets/${name}`)).status, 404, name);
    assert.throws(() => assetName('nothing.css'), /no nothing\.css/);
  });

  it('refer to each other by permanent names', () => {
    for (const { file, content: bytes } of assets.values()) {
      const text = Buffer.from(bytes).toString();
      for (const [, imported = ''] of text.matchAll(/(?:from|import)\s*\(?'\.\/([^']+)'/g)) {
        const { file: named, hash } = readAssetName(imported);
        assert.ok(hash !== null && assetName(named) === imported, `${file} imports ${imported}`);
      }
      assert.doesNotMatch(text, /url\(/, `${file} loads what nobody named`);
    }
  });
});

describe('the encoding of an answer', () => {
  const offered = ['br', 'gzip'] as const;

  it('is the best that the header accepts', () => {
    assert.equal(encodingOf('gzip, deflate, br', offered), 'br');
    assert.equal(encodingOf('GZIP;q=0.5', offered), 'gzip');
    assert.equal(encodingOf('*', offered), 'br');
    assert.equal(encodingOf('*, br;q=0', offered), 'gzip');
    for (const none of [undefined, '', 'identity', 'br;q=0, gzip;q=0', 'deflate', 'brotli', 'br;q=x'])
      assert.equal(encodingOf(none, offered), null, none);
  });
});
