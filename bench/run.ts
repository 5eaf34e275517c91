/** `npm run bench`: measures the product on this machine. Everything happens in a temporary directory, which is removed. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { benchCreate } from './create.ts';
import { machine } from './machine.ts';
import { benchRebuild, openFilled } from './rebuild.ts';
import { openWorld } from './world.ts';

const benches = ['create', 'rebuild'] as const;

interface Options {
  readonly only?: (typeof benches)[number];
  readonly payments: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a whole number from 1 on');
  return value;
}

const options = new Command()
  .name('bench')
  .description('Measures the product on this machine; ratios are taken side by side in one run.')
  .addOption(new Option('--only <bench>', 'only this one').choices(benches))
  .option('--payments <n>', 'payments in the filled store', count, 100_000)
  .option('--rounds <n>', 'alternating runs of create', count, 5)
  .option('--seconds <n>', 'length of a run of create', count, 6)
  .option('--connections <n>', 'connections of the load', count, 50)
  .parse()
  .opts<Options>();

const world = await openWorld();
try {
  console.log(`${await machine(world.database)}\n`);
  if (wanted('create')) console.log(`${await benchCreate(world, options)}\n`);
  if (wanted('rebuild')) {
    const filled = await openFilled(world, options.payments);
    try {
      console.log(`\n${await benchRebuild(world, filled)}\n`);
    } finally {
      await filled.stop();
    }
  }
} finally {
  await world.stop();
}

function wanted(name: (typeof benches)[number]): boolean {
  return options.only === undefined || options.only === name;
}
