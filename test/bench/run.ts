/** `npm run bench`: measures the product on this machine. Everything happens in a temporary directory, which is removed. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { benchAudit } from './audit.ts';
import { benchBatch } from './batch.ts';
import { benchCalls } from './calls.ts';
import { benchCreate } from './create.ts';
import { benchDetection } from './detection.ts';
import { benchGrown } from './grown.ts';
import { benchIdle } from './idle.ts';
import { benchLatency } from './latency.ts';
import { benchLog } from './log.ts';
import { machine } from './machine.ts';
import { benchMemory } from './memory.ts';
import { benchPages } from './pages.ts';
import { benchPaths } from './paths.ts';
import { benchPayouts } from './payouts.ts';
import { benchRebuild, type Filled, openFilled } from './rebuild.ts';
import { benchScale } from './scale.ts';
import { benchSharedStore } from './sharedStore.ts';
import { benchStoreClients } from './storeClients.ts';
import { benchSweep } from './sweep.ts';
import { benchWatch } from './watch.ts';
import { type BenchWorld, openWorld } from './world.ts';

/**
 * `idle` takes hours; `calls`, `detection`, `payouts` and `memory` take minutes. `log` measures the event store alone,
 * `sweep` and `batch` gas, `audit` the auditor's verifier, `scale` two instances of the API, `sharedStore` a real
 * EventStoreDB. All of these run only on request.
 */
const benches = [
  'create',
  'pages',
  'rebuild',
  'grown',
  'watch',
  'log',
  'storeClients',
  'calls',
  'detection',
  'latency',
  'payouts',
  'memory',
  'idle',
  'sweep',
  'audit',
  'batch',
  'scale',
  'sharedStore',
  'paths',
] as const;

interface Options {
  readonly only?: (typeof benches)[number];
  readonly payments: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly minutes: number;
  readonly pages: number;
  readonly burst: number;
  readonly share?: number;
  readonly beside?: string;
  readonly chains?: string;
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a whole number from 1 on');
  return value;
}

function part(text: string): number {
  const value = Number(text);
  if (!(value >= 0.05 && value <= 1)) throw new InvalidArgumentError('from 0.05 to 1');
  return value;
}

const options = new Command()
  .name('npm run bench --')
  .description('Measures the product on this machine. Ratios compare runs of one call.')
  .addOption(new Option('--only <bench>', 'Run only this benchmark').choices(benches))
  .option('--payments <n>', 'Number of payments in the filled store', count, 100_000)
  .option('--rounds <n>', 'create: number of alternating runs', count, 5)
  .option('--seconds <n>', 'create, calls, detection, latency: length of a run in seconds', count, 6)
  .option('--connections <n>', 'Number of connections of the load', count, 50)
  .option('--beside <directory>', 'log: another checkout whose event store is measured in turn')
  .option('--chains <name>', 'calls and detection: only chains whose names begin with this text')
  .option('--minutes <n>', 'idle: length in minutes', count, 120)
  .option('--pages <n>', 'Number of open pages', count, 500)
  .option('--share <part>', 'scale: limit each API instance to this share of a core, such as 0.2; needs root', part)
  .option('--burst <n>', 'payouts: number of payments paid at the same time', count, 400)
  .addHelpText('after', '\nExample: npm run bench -- --only create --rounds 3')
  .parse()
  .opts<Options>();

if (options.only === 'idle') console.log(`\n${await benchIdle(options)}\n\n${await benchCalls(options)}`);
else if (options.only === 'calls') console.log(`\n${await benchCalls(options)}`);
else if (options.only === 'detection') console.log(`\n${await benchDetection(options)}`);
else if (options.only === 'latency') console.log(`\n${await benchLatency(options)}`);
else if (options.only === 'payouts') console.log(`\n${await benchPayouts(options)}`);
else if (options.only === 'sweep') console.log(`\n${await benchSweep()}`);
else if (options.only === 'audit') console.log(`\n${await benchAudit(options)}`);
else if (options.only === 'paths') console.log(`\n${await benchPaths()}`);
else if (options.only === 'batch') console.log(`\n${await benchBatch()}`);
else if (options.only === 'sharedStore') console.log(`\n${await benchSharedStore(options)}`);
else if (options.only === 'log') console.log(`\n${await benchLog(options)}`);
else if (options.only === 'storeClients') console.log(`\n${await benchStoreClients(options)}`);
else await inOneWorld();

async function inOneWorld(): Promise<void> {
  const world = await openWorld();
  try {
    console.log(`${await machine(world.database)}\n`);
    if (wanted('create')) console.log(`${await benchCreate(world, options)}\n`);
    if (options.only === 'scale') console.log(`${await benchScale(world, options)}\n`);
    if (wanted('pages')) console.log(`${await benchPages(world, options)}\n`);
    if (wanted('watch')) console.log(`${await benchWatch()}\n`);
    if (options.only === 'memory') console.log(`${await benchMemory(world, options)}\n`);
    if (wanted('rebuild') || wanted('grown')) await ofFilledStores(world);
  } finally {
    await world.stop();
  }
  if (wanted('latency')) console.log(`${await benchLatency(options)}\n`);
}

/** The rebuild of the large store fills the read models that later measurements read. A store of a tenth of the size reveals growth. */
async function ofFilledStores(world: BenchWorld): Promise<void> {
  const sizes = wanted('grown') ? [Math.ceil(options.payments / 10), options.payments] : [options.payments];
  const stores: Filled[] = [];
  try {
    for (const size of sizes) {
      const filled = await openFilled(world, size);
      stores.push(filled);
      console.log(`\n${await benchRebuild(world, filled)}\n`);
    }
    if (wanted('grown')) console.log(`${await benchGrown(world, stores)}\n`);
  } finally {
    for (const filled of stores) await filled.stop();
  }
}

function wanted(name: (typeof benches)[number]): boolean {
  return options.only === undefined || options.only === name;
}
