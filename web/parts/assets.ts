/** The stylesheets, modules and drawings of pages: read once and named by their content, so that browsers cache them without revalidation. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export const encodings = ['br', 'gzip'] as const;
export type Encoding = (typeof encodings)[number];

export interface WebAsset {
  /** Name in pages: `look.0123456789ab.css`. */
  readonly name: string;
  /** File name in web/: `look.css`. */
  readonly file: string;
  readonly type: string;
  readonly content: Uint8Array;
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const web = join(import.meta.dirname, '..');
const hashDigits = 12;

/** Returns the files of web/ for browsers, by file name. */
function readAssets(): ReadonlyMap<string, WebAsset> {
  const paths = readdirSync(web, { recursive: true, encoding: 'utf8' }).filter((path) => extname(path) in types);
  const sources = new Map(paths.map((path) => [basename(path), readFileSync(join(web, path), 'utf8')]));
  const assets = new Map<string, WebAsset>();
  const underway = new Set<string>();

  /** Modules import each other by name: a module's hash covers those of all that it imports. */
  function assetOf(file: string, source: string): WebAsset {
    const known = assets.get(file);
    if (known) return known;
    if (underway.has(file)) throw new Error(`${file} imports itself: assets are named by their content`);
    underway.add(file);
    const text = extname(file) === '.js' ? withNames(source) : source;
    const content = Buffer.from(text);
    const hash = createHash('sha256').update(content).digest('hex').slice(0, hashDigits);
    const extension = extname(file);
    const name = `${basename(file, extension)}.${hash}${extension}`;
    const asset = { name, file, type: types[extension] ?? '', content };
    assets.set(file, asset);
    return asset;
  }

  const withNames = (source: string): string =>
    source.replace(/'\.\/([\w-]+\.js)'/g, (whole, file: string) => {
      const imported = sources.get(file);
      return imported === undefined ? whole : `'./${assetOf(file, imported).name}'`;
    });

  for (const [file, source] of sources) assetOf(file, source);
  return assets;
}

export const assets = readAssets();

/** @param file of web/, by its name alone @throws for an unknown file: a page would contain a broken reference */
export function assetName(file: string): string {
  const asset = assets.get(file);
  if (!asset) throw new Error(`web/ has no ${file} that pages could load`);
  return asset.name;
}

/** Splits `look.0123456789ab.css` into the file and its hash; the hash is null for `look.css`. */
export function readAssetName(name: string): { readonly file: string; readonly hash: string | null } {
  const [, stem, hash, extension] = /^([\w-]+)\.([0-9a-f]{12})(\.\w+)$/.exec(name) ?? [];
  return hash === undefined ? { file: name, hash: null } : { file: `${stem}${extension}`, hash };
}

const [brotli, zip] = [promisify(brotliCompress), promisify(gzip)];

/** Compresses to the smallest size, on separate threads. */
export async function compressed(content: Uint8Array): Promise<Readonly<Record<Encoding, Uint8Array>>> {
  const { BROTLI_PARAM_MODE, BROTLI_PARAM_SIZE_HINT, BROTLI_MODE_TEXT, Z_BEST_COMPRESSION } = constants;
  const params = { [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT, [BROTLI_PARAM_SIZE_HINT]: content.byteLength };
  const [br, gzipped] = await Promise.all([brotli(content, { params }), zip(content, { level: Z_BEST_COMPRESSION })]);
  return { br, gzip: gzipped };
}
