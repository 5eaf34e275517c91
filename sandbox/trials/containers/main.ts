/**
 * `npm run compose:check`: both compose files in containers, with payments over local chains while containers are
 * killed, frozen and cut off. Ends with 1 if anything is lost or paid twice, and if there is no container engine.
 */
import { Command, Option } from 'commander';
import { type Engine, findEngine } from './engine.ts';
import { buildStandIns, standIns } from './images.ts';
import { isWell, reportOf } from './report.ts';
import type { ShapeName } from './shapes.ts';
import { type Trialled, trial } from './trial.ts';
import { openContainerWorld } from './world.ts';

interface Options {
  readonly only?: ShapeName;
  readonly faults?: string;
  readonly localImages?: boolean;
  readonly keep?: boolean;
}

const options = new Command()
  .name('npm run compose:check --')
  .description('Runs docker-compose.yml and docker-compose.scale.yml, and makes payments while containers fail.')
  .addOption(new Option('--only <file>', 'Run only one of the two files').choices(['one', 'scale']))
  .option('--faults <pattern>', 'Run only faults whose names match')
  .option(
    '--local-images',
    'Build replacements of the base images from this Debian machine, for a machine that cannot pull images',
  )
  .option('--keep', 'Keep containers, volumes and the directory')
  .addHelpText('after', '\nExample: npm run compose:check -- --only one')
  .parse()
  .opts<Options>();

const began = performance.now();
const step = (text: string): void =>
  console.log(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${text}`);
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    step('interrupted: taking everything down');
    stopping.abort(new Error('interrupted'));
  });

const engine = await findEngine();
if ('missing' in engine) {
  console.error(`Nothing was tried: ${engine.missing}`);
  process.exit(1);
}
step(engine.says);
const found: (readonly [ShapeName, Trialled])[] = [];
let failed: unknown;
try {
  if (options.localImages) await buildStandIns(engine, step);
  for (const name of options.only ? [options.only] : (['one', 'scale'] as const))
    found.push([name, await tried(engine, name)]);
} catch (error) {
  failed = error;
}
if (found.length > 0) console.log(`\n${reportOf(found)}\n`);
if (options.localImages)
  console.log(
    `Stand-ins, for no image could be pulled:\n${Object.entries(standIns)
      .map(([name, { says }]) => `- ${name}: ${says}`)
      .join('\n')}`,
  );
if (failed) console.error(failed instanceof Error ? failed.message : failed);
const ok = failed === undefined && found.every(([, each]) => isWell(each));
console.log(ok ? '\nNothing was lost.' : '\nNot well.');
process.exit(ok ? 0 : 1);

async function tried(on: Engine, name: ShapeName): Promise<Trialled> {
  const { signal } = stopping;
  const { localImages: isLocal = false, keep = false, faults } = options;
  const world = await openContainerWorld({ engine: on, name, isLocal, keep, signal, step });
  try {
    return await trial(world, { signal, step, onlyFaults: faults === undefined ? undefined : new RegExp(faults) });
  } finally {
    await world.close();
  }
}
