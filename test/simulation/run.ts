/** `npm run simulate`: searches for a run that breaks an invariant (docs/explain/simulation.md). */
import { writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { runMany } from './runMany.ts';
import { runOne } from './runOne.ts';
import { type Habit, habitNames } from './world/habits.ts';

const whole = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number.');
  return Number(text);
};

function habits(text: string): readonly Habit[] {
  const names = text.split(',').filter((name) => name !== '');
  const isHabit = (name: string): name is Habit => (habitNames as readonly string[]).includes(name);
  const unknown = names.find((name) => !isHabit(name));
  if (unknown !== undefined) throw new InvalidArgumentError(`${unknown} is not one of ${habitNames.join(', ')}.`);
  return names.filter(isHabit);
}

interface Options {
  readonly seed?: number;
  readonly seeds: number;
  readonly from: number;
  readonly processes: number;
  readonly trace?: boolean;
  readonly only?: string;
  readonly payments?: number;
  readonly habits?: readonly Habit[];
  readonly crashes?: boolean;
  readonly shrink: boolean;
  readonly json?: boolean;
  readonly summary?: string;
}

const options = new Command()
  .name('simulate')
  .description('Runs the service in a simulated world, by seeds. A failing seed replays exactly.')
  .option('--seeds <count>', 'so many seeds', whole, 200)
  .option('--from <seed>', 'the first one', whole, 1)
  .option('--seed <seed>', 'this one alone', whole)
  .option('--trace', 'with --seed: every line of what happens')
  .option('--only <faults>', 'with --seed: these faults alone, with commas between them; empty: none')
  .option('--payments <count>', 'so many in each world', whole)
  .option('--habits <names>', 'these habits in each world, with commas between them; empty: none', habits)
  .option('--crashes', 'with --seeds: no other faults than a crash at each call, before and after it')
  .option('--no-shrink', 'a failing run is not made smaller')
  .option('--processes <count>', 'side by side', whole, 2)
  .option('--json', 'with --seeds: a line of JSON for each')
  .option('--summary <file>', 'with --seeds: writes what was shown as a page')
  .parse()
  .opts<Options>();

const failed = options.seed === undefined ? await many() : await runOne({ ...options, seed: options.seed });
process.exitCode = failed ? 1 : 0;

async function many(): Promise<boolean> {
  const { summary } = options;
  const shown = (text: string) => {
    if (summary !== undefined) writeFileSync(summary, text);
  };
  const { page, failures } = await runMany({ ...options, shown });
  shown(page);
  const [first] = failures;
  if (!first) return false;
  await runOne({
    ...{ seed: first.seed, shrink: options.shrink },
    ...(options.habits && { habits: options.habits }),
    ...(first.only && { only: first.only.join() }),
  });
  return true;
}
