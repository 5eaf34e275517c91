/** Programs with options among the scripts of package.json: `npm run <name> -- --help`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

export interface Program {
  readonly name: string;
  readonly options: readonly string[];
  readonly file: string;
}

const parsesOptions = /from '(commander|\.\/startOptions\.ts)'/;

export const programs: readonly Program[] = Object.entries(
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }).scripts,
).flatMap(([name, script]) => {
  const [, options, file] = /^node ((?:--\S+ )*)(\S+\.ts)$/.exec(script) ?? [];
  if (file === undefined || !parsesOptions.test(readFileSync(join(root, file), 'utf8'))) return [];
  return [{ name, options: (options ?? '').split(' ').filter(Boolean), file }];
});
