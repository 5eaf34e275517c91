/** `import.meta` in a bundle: modules of the project keep the paths of their sources, beside which they find files and programs. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

const root = join(import.meta.dirname, '..');
const folders = ['domain', 'commands', 'projections', 'queries', 'src', 'web', 'tools', 'contracts', 'sandbox'];

export interface OwnPlaces {
  readonly plugin: Plugin;
  /** True for a source that asks for its place only since this plugin was made: a bundle of it needs a new one. */
  lacks(file: string): boolean;
}

/** The bundler asks only for sources with `import.meta`, and keeps all others in memory: asking for each would take half of its time. */
export function ownPlaces(): OwnPlaces {
  const sources = globSync(`{${folders.join()}}/**/*.ts`, { cwd: root, exclude: (name) => name === 'node_modules' });
  const known = new Set(sources.map((file) => join(root, file)).filter(asksForPlace));
  const filter = new RegExp(`^(?:${[...known].map(literal).join('|')})$`);
  return {
    plugin: {
      name: 'own places',
      setup({ onLoad }) {
        onLoad({ filter }, ({ path }) => ({ contents: withPlace(path), loader: 'ts' }));
      },
    },
    lacks: (file) => !known.has(file) && asksForPlace(file),
  };
}

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

const asksForPlace = (file: string): boolean => sourceOf(file).includes('import.meta.');

const withPlace = (file: string): string =>
  sourceOf(file)
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(file)))
    .replaceAll('import.meta.filename', JSON.stringify(file))
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href));

/** Empty for a file that has just been removed. */
function sourceOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
