/**
 * `npm run rules`: reads all imports once, then checks them by the rules of .dependency-cruiser.cjs and looks for circles of folders.
 * Folders build on each other in one direction. The files that wire rooms (docs/generate/rooms.json) are left out of that: they know every room,
 * and .dependency-cruiser.cjs says who is allowed to import them.
 */
import { cruise, format, type ICruiseResult } from 'dependency-cruiser';
import readOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import list from '../../docs/generate/rooms.json' with { type: 'json' };
import { folderCycles } from './folderCycles.ts';

const layers = ['domain', 'commands', 'projections', 'queries', 'src', 'web', 'tools', 'sandbox', 'contracts'];
const folders = [...layers, 'test/simulation', 'test/mutants'];
const leftOut = new RegExp(`${list.wiring}|^test/support/|[.]test[.]ts$`);

const { output } = await cruise(folders, await readOptions('./.dependency-cruiser.cjs'));
if (typeof output === 'string') throw new Error('dependency-cruiser returned a report in place of its result');

const report = await format(output, { outputType: 'err' });
process.stdout.write(String(report.output));
const cycles = folderCycles(ownFiles(output), leftOut);
for (const cycle of cycles) process.stdout.write(`  error no-folder-cycles: ${cycle.join(', ')} import each other\n`);
process.exitCode = report.exitCode > 0 || cycles.length > 0 ? 1 : 0;

/** The files of the repository among the modules: no package and nothing of node's own. */
function ownFiles({ modules }: ICruiseResult) {
  return modules
    .filter(
      ({ coreModule, couldNotResolve, matchesDoNotFollow }) => !coreModule && !couldNotResolve && !matchesDoNotFollow,
    )
    .map(({ source, dependencies }) => ({ source, imports: dependencies.map(({ resolved }) => resolved) }));
}
