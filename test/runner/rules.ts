/**
 * `npm run rules`: reads all imports once, then checks them by the rules of .dependency-cruiser.cjs and finds cycles of
 * folders. Folders build on each other in one direction. Files that wire rooms (docs/generate/rooms.json) are exempt:
 * they know every room, and .dependency-cruiser.cjs lists the files that may import them.
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

/** The repository's files among the modules, without packages and Node's own modules. */
function ownFiles({ modules }: ICruiseResult) {
  return modules
    .filter(
      ({ coreModule, couldNotResolve, matchesDoNotFollow }) => !coreModule && !couldNotResolve && !matchesDoNotFollow,
    )
    .map(({ source, dependencies }) => ({ source, imports: dependencies.map(({ resolved }) => resolved) }));
}
