/**
 * `npm run mutants`: applies known bugs of other systems one by one, each to a copy of the tree; the specs named for
 * each must fail. A surviving mutant means that a spec is missing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError } from 'commander';
import { knownMutants } from './known.ts';
import type { NamedMutant } from './mutant.ts';
import { withInvariants, withTrials } from './report.ts';
import { isCaught, runsOf, type Trial, tryMutants } from './trial.ts';

interface Options {
  readonly only?: readonly string[];
  readonly atOnce: number;
  readonly write?: boolean;
}

const atOnceMax = 8;

const options = new Command()
  .name('npm run mutants --')
  .description('Inserts known bugs one by one and checks that a spec finds each of them.')
  .option('--only <names...>', 'Run only these mutants')
  .option('--at-once <n>', `Number of mutants at the same time, 1 to ${atOnceMax}`, count, 2)
  .option('--write', 'Write the findings into docs/explain/safety.md and docs/contribute/known-bugs.md')
  .addHelpText('after', '\nExample: npm run mutants -- --only acceptUnbounded')
  .parse()
  .opts<Options>();

function count(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= atOnceMax) return value;
  throw new InvalidArgumentError(`a whole number from 1 to ${atOnceMax}`);
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const safety = new URL('../../docs/explain/safety.md', import.meta.url);
const knownBugs = new URL('../../docs/contribute/known-bugs.md', import.meta.url);

const trials = await tried(await chosen());
for (const trial of trials) console.log(inWords(trial));
const survivors = trials.filter((trial) => !isCaught(trial));
console.log(
  survivors.length === 0
    ? `\nAll ${trials.length} are caught.`
    : `\n${survivors.length} of ${trials.length} survive: ${survivors.map(({ mutant }) => mutant.name).join(', ')}`,
);
if (options.write && survivors.length === 0) {
  writeFileSync(safety, withInvariants(readFileSync(safety, 'utf8')));
  writeFileSync(knownBugs, withTrials(readFileSync(knownBugs, 'utf8'), trials, await knownMutants()));
}
process.exitCode = survivors.length > 0 ? 1 : 0;

async function chosen(): Promise<readonly NamedMutant[]> {
  const all = await knownMutants();
  const { only } = options;
  const unknown = only?.filter((name) => all.every((mutant) => mutant.name !== name)) ?? [];
  if (unknown.length === 0) return all.filter(({ name }) => only?.includes(name) ?? true);
  throw new Error(`no mutant is called ${unknown.join(', ')}: their names are those of the files in mutants/known`);
}

async function tried(mutants: readonly NamedMutant[]): Promise<readonly Trial[]> {
  const bar = new SingleBar({
    format: '[{bar}] {value}/{total} | {duration_formatted} | {what}',
    noTTYOutput: true,
    notTTYSchedule: 10_000,
  });
  bar.start(runsOf(mutants), 0, { what: '' });
  try {
    return await tryMutants({ root, mutants, atOnce: options.atOnce, done: (what) => bar.increment(1, { what }) });
  } finally {
    bar.stop();
  }
}

function inWords(trial: Trial): string {
  const { mutant, run, sound, simulated } = trial;
  const seconds = `${(run.took_ms / 1_000).toFixed(1)} s`;
  const mark = isCaught(trial) ? '✓' : '✗';
  if (sound && sound.ended !== 'green') return `${mark} ${mutant.name}: its specs fail without it, too: ${said(sound)}`;
  if (simulated === null) return `${mark} ${mutant.name}: seed ${mutant.seed} of the simulation finds it no more`;
  const inWorlds = simulated === undefined ? '' : `, and seed ${mutant.seed}: ${simulated}`;
  return `${mark} ${mutant.name} (${seconds}): ${said(run)}${inWorlds}`;
}

function said(run: Trial['run']): string {
  if (run.ended === 'red') return `“${run.title}”`;
  return run.ended === 'green' ? `SURVIVES, ${run.passes} tests pass` : `the specs could not be run: ${run.said}`;
}
