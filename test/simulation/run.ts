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
  readonly resume?: string;
}

const options = new Command()
  .name('npm run simulate --')
  .description('Runs the service in simulated worlds, one per seed. A failing seed replays exactly.')
  .option('--seeds <count>', 'Number of seeds', whole, 200)
  .option('--from <seed>', 'First seed', whole, 1)
  .option('--seed <seed>', 'Run only this seed', whole)
  .option('--trace', 'With --seed: print every step')
  .option('--only <faults>', 'With --seed: only these faults, separated by commas; empty: none')
  .option('--payments <count>', 'Number of payments in each world', whole)
  .option('--habits <names>', 'Habits of each world, separated by commas; empty: none', habits)
  .option('--crashes', 'With --seeds: only crashes, before and after each call')
  .option('--no-shrink', 'Do not shrink a failing run')
  .option('--processes <count>', 'Number of processes', whole, 2)
  .option('--json', 'With --seeds: print one line of JSON per seed')
  .option('--summary <file>', 'With --seeds: write the summary page to this file')
  .option('--resume <file>', 'With --seeds: continue an interrupted run that wrote this file')
  .addHelpText('after', '\nExample: npm run simulate -- --seeds 50 --from 1')
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
