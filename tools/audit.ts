/** `npm run audit`: whether the log, the chains and the read models say the same. It reads alone: nothing is signed, appended or sent. */
import { Command, InvalidArgumentError } from 'commander';
import { Registry } from 'prom-client';
import type { ChainBroken } from '../commands/codec.ts';
import { epochMs, type Instant, instant } from '../domain/time.ts';
import { projectionSets } from '../projections/sets.ts';
import { openLines } from '../src/chains/node/metrics.ts';
import { openChains } from '../src/chains/open.ts';
import type { Config } from '../src/config.ts';
import { openDatabase } from '../src/postgres/database.ts';
import { systemClock } from '../src/process/system.ts';
import { openEventStore } from '../src/store/client.ts';
import { sealedStore, type Trust, trustIn } from '../src/store/sealed.ts';
import { auditDirectory, leaveLast } from '../src/workers/audit/last.ts';
import type { Witness } from './audit/chains.ts';
import { mixed } from './audit/collector.ts';
import type { KeptHead } from './audit/heads.ts';
import { auditReadModels, type ReadModelsReport } from './audit/readModels.ts';
import {
  byWordLines,
  closedNetworkLines,
  findingLines,
  restTexts,
  summaryText,
  sumsTables,
  type WholeReport,
} from './audit/report.ts';
import { runAudit } from './audit/run.ts';
import { paymentStory } from './audit/story.ts';
import { type Bars, openBars } from './auditBars.ts';
import { storyLines } from './auditStory.ts';
import { connections, masterKeyOf } from './connections.ts';
import { readEnvironment } from './core.ts';
import { print, printError, printJson, printTable } from './print.ts';
import { runProgram, untilInterrupted } from './program.ts';
import { believedBy, witnessOf } from './roles_audit.ts';

interface Options {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly logOnly: boolean;
  readonly readModels: boolean;
  readonly seals: boolean;
  readonly patience: number;
  readonly head: readonly KeptHead[];
  readonly headKey?: string;
  readonly directory?: string;
}

/** Rows of millions are sorted. */
const statementTimeout_ms = 60 * 60_000;

const minutes = (text: string): number => {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('whole minutes');
  return Number(text);
};

/** Each costs a root over all streams. */
const keptHeadsMax = 16;

function keptHead(text: string, before: readonly KeptHead[]): readonly KeptHead[] {
  const [, number, root] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (number === undefined || root === undefined) throw new InvalidArgumentError('number:root, as it was published');
  if (before.length === keptHeadsMax) throw new InvalidArgumentError(`${keptHeadsMax} at most`);
  return [...before, { number: Number(number), root }];
}

const program = new Command()
  .name('audit')
  .description(
    'Whether chains, log and read models say the same; exit code 1 where they do not, 2 where parts could not be looked at, 3 where it did not come to its end.',
  )
  .option('--json', 'for machines: smallest units', false)
  .option('--quiet', 'leave the outcome in last.json of its directory, and say nothing', false)
  .option('--log-only', 'ask no chain', false)
  .option('--no-read-models', 'leave read models out')
  .option('--no-seals', 'without MASTER_KEY: hashes, heads and chains alone')
  .option('--patience <minutes>', 'what is younger may be under way', minutes, 60)
  .option('--head <number:root>', 'a signed head that you have kept; may be given again', keptHead, [])
  .option('--head-key <key>', 'that the first head must be signed with, as hex')
  .option('--directory <directory>', 'its own files; default: audit in the data directory')
  .action((options: Options) =>
    runProgram(() =>
      auditAll(options).catch((error: unknown) => {
        process.exitCode = 3;
        throw error;
      }),
    ),
  );
program
  .command('payment <id>')
  .description('one payment’s story, with block, transaction, event and hash of each step')
  .action((id: string) => runProgram(() => tellPayment(id, program.opts<Options>())));
await program.parseAsync();

interface World {
  readonly config: Config;
  readonly store: ReturnType<typeof openEventStore>;
  readonly trust: Trust | null;
  readonly witnesses: readonly Witness[];
  readonly databaseUrl: string;
}

/** Nothing of the service is opened that could write: no core, no handle, no signer. */
async function inWorld<T>({ logOnly, seals }: Options, work: (world: World) => Promise<T>): Promise<T> {
  const config = readEnvironment();
  const { databaseUrl, eventStoreUrl, close } = await connections({ data: config.dataDir }, 'join');
  const store = openEventStore({ url: eventStoreUrl });
  const nobody = { open: async () => [], late: async () => [] };
  try {
    const needs = { lines: openLines(new Registry()), takeOwners: async () => [], watch: () => nobody };
    const chains = logOnly ? [] : [...openChains(config, needs).chains.values()];
    const tell = ({ message }: ChainBroken): void => printError(message);
    const trust = seals ? await trustIn(store, { masterKey: masterKeyOf(config.dataDir), tell }) : null;
    return await work({ config, store, trust, databaseUrl, witnesses: chains.map(witnessOf) });
  } finally {
    await store.close();
    await close();
  }
}

function settledIn({ patience }: Options): Instant {
  return instant(epochMs(systemClock.now()) - patience * 60_000);
}

async function auditAll(options: Options): Promise<void> {
  const signal = untilInterrupted('Interrupted: run it again, it goes on where it stopped.');
  await inWorld(options, async (world) => {
    const { config, store, trust, witnesses } = world;
    const directory = options.directory ?? auditDirectory(config.dataDir);
    const bars = openBars(options.json || options.quiet);
    try {
      const settledBefore = settledIn(options);
      const report = await runAudit({
        log: store,
        believed: trust && believedBy(trust),
        witnesses,
        directory,
        now: systemClock.now,
        patience_ms: options.patience * 60_000,
        approvalFrom_microUsd: config.withdrawals.approval_usd * 1_000_000n,
        keptHeads: options.head,
        ...(options.headKey !== undefined && { headKey: options.headKey }),
        progress: bars.tell,
        signal,
      });
      const readModels = options.readModels ? await auditRows(world, { bars, signal, settledBefore }) : null;
      bars.stop();
      leave(directory, { ...report, readModels }, options);
      show({ ...report, readModels }, options);
    } finally {
      bars.stop();
    }
  });
}

async function auditRows(
  { databaseUrl, store, trust }: World,
  { bars, ...how }: { readonly bars: Bars; readonly signal: AbortSignal; readonly settledBefore: Instant },
): Promise<ReadModelsReport> {
  const database = openDatabase({ url: databaseUrl, applicationName: 'audit', statementTimeout_ms });
  // As the service believes it: what it leaves out is in no row, and a finding of its own.
  const believed = trust ? sealedStore(store, { tell: () => {}, trust: () => trust }) : store;
  try {
    const reports: ReadModelsReport[] = [];
    for (const set of projectionSets) {
      const progress = (part: string, done: number) => bars.show(`${set.name}, ${part}`, done, '');
      reports.push(await auditReadModels({ store: believed, database, set, ...how, progress }));
    }
    return {
      rows: reports.reduce((sum, { rows }) => sum + rows, 0),
      tables: reports.reduce((sum, { tables }) => sum + tables, 0),
      findings: reports.flatMap(({ findings }) => findings),
      found: reports.reduce((sum, { found }) => sum + found, 0),
      kinds: Object.assign({}, ...reports.map(({ kinds }) => kinds)),
    };
  } finally {
    await database.close();
  }
}

function shownOf({ findings, readModels }: WholeReport) {
  return [...findings, ...(readModels?.findings ?? [])];
}

function foundIn({ found, readModels }: WholeReport): number {
  return found + (readModels?.found ?? 0);
}

/** For the role that watches how old the last audit is: one that leaves parts out is none. */
function leave(directory: string, report: WholeReport, { logOnly, readModels, seals }: Options): void {
  if (logOnly || !readModels || !seals) return;
  const told = mixed(shownOf(report)).map(({ code, stream }) => `${code} ${stream}`);
  leaveLast(directory, { at: systemClock.now(), findings: foundIn(report), told, gaps: report.gaps.length });
}

function show(report: WholeReport, { json, quiet }: Options): void {
  const found = foundIn(report);
  if (found > 0) process.exitCode = 1;
  else if (report.gaps.length > 0) process.exitCode = 2;
  if (json) printJson(report);
  else if (!quiet) tellAll(report);
}

function tellAll(report: WholeReport): void {
  const tables = sumsTables(report);
  if (report.payments.length > 0) printTable(tables.payments);
  if (report.accounts.length > 0) printTable(tables.accounts);
  for (const finding of shownOf(report)) printError(...findingLines(finding));
  for (const line of restTexts(report)) printError(line);
  for (const { of, why } of report.gaps) printError(`not looked at: ${of}: ${why}`);
  for (const line of closedNetworkLines(report)) print(line);
  for (const line of byWordLines(report)) print(line);
  print(summaryText(report));
  const { readModels } = report;
  if (readModels)
    print(
      `${readModels.rows} rows of ${readModels.tables} tables: ${readModels.found === 0 ? 'each follows from the log' : `${readModels.found} do not follow from the log`}.`,
    );
}

async function tellPayment(id: string, options: Options): Promise<void> {
  await inWorld(options, async ({ store, trust, witnesses }) => {
    const settledBefore = settledIn(options);
    const believed = trust && believedBy(trust);
    const story = await paymentStory(id, {
      log: store,
      believed,
      witnesses,
      settledBefore,
      signal: AbortSignal.timeout(120_000),
    });
    if (!story) throw new Error(`there is no payment ${id} in the log`);
    if (story.findings.length > 0) process.exitCode = 1;
    if (options.json) printJson(story);
    else for (const line of storyLines(story)) print(line);
  });
}
