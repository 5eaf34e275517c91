/**
 * `npm run compose:check`: both compose files in containers, with payments over local chains while containers are
 * killed, frozen and cut off. Ends with 1 if anything is lost or paid twice, and if there is no container engine.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { type Chains, startChains } from './chains.ts';
import { type Engine, findEngine } from './engine.ts';
import { buildEventStore, buildStandIns, standIns } from './images.ts';
import { putKey } from './operator.ts';
import { openProject, type Project, removeDirectory } from './project.ts';
import { isWell, reportOf } from './report.ts';
import { environment, type Keys, newKeys, signerEnvironment } from './settings.ts';
import { type Shape, type ShapeName, shapes } from './shapes.ts';
import { type Trialled, trial } from './trial.ts';

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
  const shape = shapes[name];
  step(`── ${shape.file}`);
  const directory = mkdtempSync(join(tmpdir(), `payment-intents-compose-${name}-`));
  const keys = newKeys();
  try {
    const chains = await startChains({ directory: join(directory, 'chains'), gateway: await gatewayOf(on), ...keys });
    try {
      return await onChains(on, shape, directory, keys, chains);
    } finally {
      await chains.stop();
    }
  } finally {
    if (options.keep) step(`left: ${directory}`);
    else await removeDirectory(on, directory);
  }
}

/** Address of this machine for containers of any network. */
async function gatewayOf(on: Engine): Promise<string> {
  return (await on.docker(['network', 'inspect', 'bridge', '--format', '{{(index .IPAM.Config 0).Gateway}}'])).trim();
}

async function onChains(on: Engine, shape: Shape, directory: string, keys: Keys, chains: Chains): Promise<Trialled> {
  const isLocal = options.localImages ?? false;
  const project = await openProject({
    ...{ engine: on, shape, directory, isLocal, signal: stopping.signal, chainsCaFile: chains.caFile },
    env: environment(shape, keys, chains, isLocal),
    signerEnv: shape.hasSigner ? signerEnvironment(chains) : null,
  });
  try {
    await begin(project, isLocal, keys.treasury);
    return await trial(project, {
      ...{ keys, chains, signal: stopping.signal, step },
      onlyFaults: options.faults === undefined ? undefined : new RegExp(options.faults),
    });
  } finally {
    if (!options.keep) await project.down('volumes too').catch((error: Error) => console.error(error.message));
  }
}

async function begin(project: Project, isLocal: boolean, treasury: Hex): Promise<void> {
  await project.down('volumes too');
  step('building the image');
  await project.compose('build', project.shape.ours[0] ?? '');
  if (isLocal) await buildEventStore(project.engine, step);
  if (project.shape.hasSigner) {
    step('passwords, certificates, and the treasury’s key in its keystore');
    await project.compose('run', '--rm', 'prepare');
    await putKey(project, treasury, privateKeyToAddress(treasury));
  }
  step('up');
  await project.up();
  await project.untilHealthy();
  step('all is healthy');
}
