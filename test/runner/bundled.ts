/** Loaded first by every process that a whole run starts: a program that was bundled runs from its bundle. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const list = new URL(import.meta.url).searchParams.get('list') ?? '';
const program = process.argv[1] ?? '';
// Other conditions choose other modules, which were not bundled.
const isOrdinary = !process.execArgv.some((option) => option.startsWith('--conditions'));

if (program.endsWith('.ts') && isOrdinary) {
  const bundles: Readonly<Record<string, string>> = JSON.parse(readFileSync(list, 'utf8'));
  const bundle = bundles[program];
  const source = pathToFileURL(program).href;
  if (bundle) {
    const hooks = registerHooks({
      resolve(specifier, context, next) {
        if (specifier !== source) return next(specifier, context);
        // Hooks that stay registered cost a start 30 ms: Node calls them for each module.
        hooks.deregister();
        return { url: pathToFileURL(bundle).href, format: 'module', shortCircuit: true };
      },
    });
  }
}
