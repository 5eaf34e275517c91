/**
 * `npm run chaos`: runs the service over local chains of all families, while a seeded plan kills, hangs and fills its dependencies.
 * Afterwards every payment has one end, each was paid once, and all money is accounted for; otherwise it exits with 1.
 */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError } from 'commander';
import { summaryOf, withRun } from './report.ts';
import { storm } from './storm.ts';
import { openProcessWorld } from './world.ts';

interface Options {
  readonly payments: number;
  readonly seed: string;
  readonly minutes: number;
  readonly keep?: boolean;
  readonly write?: boolean;
}

const options = new Command()
  .name('npm run chaos --')
  .description('Makes payments while processes, stores, networks and chains fail, and then checks every payment.')
  .option('--payments <n>', 'Number of payments', count, 200)
  .option('--seed <seed>', 'Seed of the orders and faults', '1')
  .option('--minutes <n>', 'Minutes in which payments are created', count, 10)
  .option('--keep', 'Keep the data directory with all logs')
  .option('--write', 'Write the summary into docs/explain/chaos.md')
  .addHelpText('after', '\nExample: npm run chaos -- --payments 50 --seed 7')
  .parse()
  .opts<Options>();

function count(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 10_000) return value;
  throw new InvalidArgumentError('a whole number from 1 to 10000');
}

const document = new URL('../../../docs/explain/chaos.md', import.meta.url);
const dataDir = mkdtempSync(join(tmpdir(), 'payment-intents-chaos-'));
console.log(`data in ${dataDir}`);
const world = await openProcessWorld({
  dataDir,
  keep: options.keep ?? false,
  step: (name) => console.log(`  ✓ ${name}`),
});
const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort(new Error('interrupted')));
const bar = new SingleBar({
  format: '[{bar}] {value}/{total} {what} | {faults} faults, {fault} | {duration_formatted}',
  noTTYOutput: true,
  notTTYSchedule: 10_000,
});
bar.start(options.payments, 0, { what: 'paid', faults: 0, fault: '' });
try {
  const outcome = await storm(world, { ...options, signal: interrupted.signal }, ({ value, ...rest }) => {
    if (value === undefined) bar.update(rest);
    else bar.update(value, rest);
  });
  bar.stop();
  console.log(`\n${summaryOf(outcome)}`);
  if (options.write) writeFileSync(document, withRun(readFileSync(document, 'utf8'), outcome));
  process.exitCode = outcome.findings.length > 0 ? 1 : 0;
} finally {
  bar.stop();
  await world.close();
}
process.exit();
