/**
 * `npm test`: the specs of the gate in a few concurrent processes, types, lint and rules beside them, and one report.
 * `--full` (`npm run test:full`) adds the spec files and cases of the full suite. With files as arguments it runs only
 * those, each once and in this order, and `--bundled` starts programs from bundles as a whole run does. `--times FILE`
 * writes wall and processor seconds of each file as JSON. `--require-real-store` fails unless every spec of the real
 * event store has run, `--require-real-nodes` unless every spec of the real chain nodes has. `npx mocha` runs a single
 * spec.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundlePrograms } from './runner/bundles.ts';
import { checks, runChecks } from './runner/checks.ts';
import { blockTimeAt, measuredPace, shardsAt } from './runner/pace.ts';
import { endProcessesIn, filesIn, haveEnded, processesIn } from './runner/remains.ts';
import { createReport } from './runner/report.ts';
import { missingSpecs, realNodes, realStore } from './runner/required.ts';
import { runShards, type Work } from './runner/shards.ts';
import { isWorld, sharedWorldOf, specFiles } from './runner/specFiles.ts';
import { writeTimes } from './runner/timesFile.ts';

/** Runs of a given size on chains of a given pace need no measurement. */
const isGiven = process.env['BLOCK_TIME_S'] !== undefined && process.argv.includes('--shards');
const pace = isGiven ? 1 : measuredPace();
/** Specs wait more than they work: twice as many shards as processors. Each has a Postgres and chains of its own. */
const defaultShards = shardsAt(pace, Math.min(2 * availableParallelism(), 6));
/** Specs share the event store that a run is given: its log has one writer at a time. */
const givenStoreShards = 1;
/** A world keeps more than one processor busy while it starts. The other shards have the small specs meanwhile. */
const worldShards = Math.max(availableParallelism(), 2);

const { values, positionals } = parseArgs({
  options: {
    shards: { type: 'string' },
    bundled: { type: 'boolean' },
    full: { type: 'boolean', default: process.env['SUITE'] === 'full' },
    times: { type: 'string' },
    'require-real-store': { type: 'boolean' },
    'require-real-nodes': { type: 'boolean' },
  },
  allowPositionals: true,
});
const isWhole = positionals.length === 0;
// Shards inherit both (test/support/suite.ts).
process.env['SUITE'] = values.full ? 'full' : 'gate';
process.env['BLOCK_TIME_S'] ??= String(blockTimeAt(pace));
const files = isWhole ? specFiles(values) : [...new Set(positionals)];
const count = process.env['EVENTSTORE_URL'] ? givenStoreShards : Number(values.shards ?? defaultShards);

const folder = mkdtempSync(join(tmpdir(), 'payment-intents-suite-'));
chmodSync(folder, 0o755);
const programOptions = isWhole || values.bundled ? [await bundlePrograms()] : [];
let stopping = false;
const report = createReport(files.length + (isWhole ? checks.length : 0), print);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);

const ran: Work[] = [];
const [missed] = await Promise.all([
  runShards({
    files,
    count,
    worlds: { include: isWorld, shards: worldShards },
    together: sharedWorldOf,
    folder,
    programOptions,
    onWork: addWork,
  }),
  isWhole ? runChecks(addWork) : undefined,
]);
for (const file of missed) report.fail(file, 'was run by no shard');
const required = [
  ...(values['require-real-store'] ? [realStore] : []),
  ...(values['require-real-nodes'] ? [realNodes] : []),
];
for (const server of required) for (const why of missingSpecs(ran, server)) report.fail(server.name, why);
if (files.length === 0) report.fail('the suite', 'has no spec file');
await lookForRemains();
if (values.times) writeTimes(values.times, ran);
process.exitCode = report.close();

function addWork(work: Work): void {
  ran.push(work);
  report.add(work);
}

function print(line: string): void {
  if (!stopping) process.stdout.write(`${line}\n`);
}

async function lookForRemains(): Promise<void> {
  await haveEnded(folder);
  for (const { pid, command } of processesIn(folder)) report.fail('left running', `pid ${pid}: ${command}`);
  for (const file of filesIn(folder)) report.fail('left in the temporary directory', file);
  await clear();
}

async function clear(): Promise<void> {
  await endProcessesIn(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** On Ctrl-C the specs are interrupted, so the runner ends their processes. */
async function stop(): Promise<void> {
  print('\nstopping …');
  // A failure until now may be the reason for the stop.
  report.close();
  stopping = true;
  await clear();
  process.exit(130);
}
