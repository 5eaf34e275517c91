/** `npm run audit`: compares the log, the chains and the read models. Read-only: signs, appends and sends nothing. */

import { MultiBar, Presets } from 'cli-progress';
import { Command, InvalidArgumentError } from 'commander';
import { Registry } from 'prom-client';
import type { ChainBroken } from '../commands/codec.ts';
import { chainOf } from '../domain/chains.ts';
import { epochMs, type Instant, instant } from '../domain/time.ts';
import { projectionSets } from '../projections/sets.ts';
import type { OpenChain } from '../src/chains/family.ts';
import { openLines } from '../src/chains/node/metrics.ts';
import { openChains } from '../src/chains/open.ts';
import type { Config } from '../src/config.ts';
import { systemClock } from '../src/process/system.ts';
import { openEventStore } from '../src/store/client.ts';
import { sealedStore, type Trust, trustIn } from '../src/store/sealed.ts';
import { auditDirectory, leaveLast } from '../src/workers/audit/nightly.ts';
import { booksAccountsOf } from '../src/workers/treasury/index.ts';
import type { Witness } from './audit/chains.ts';
import type { Believed } from './audit/entry.ts';
import { mixed } from './audit/findings.ts';
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
import { type AuditProgress, runAudit } from './audit/run.ts';
import { auditStory, storyLines } from './audit/story.ts';
import { connections, masterKeyOf, openToolDatabase, readEnvironment } from './connections.ts';
import { print, printError, printJson, printTable } from './print.ts';
import { addExamples, runProgram, untilInterrupted } from './program.ts';

interface Bars {
  tell(progress: AuditProgress): void;
  show(part: string, done: number | null, note: string): void;
  stop(): void;
}

/** Prints the progress of an audit on the terminal: a bar for each step, with its rate. */
function openBars(quiet: boolean): Bars {
  const bars = new MultiBar(
    {
      format: '{part} [{bar}] {percentage}% | {note}',
      noTTYOutput: !quiet,
      notTTYSchedule: 5_000,
      stream: process.stderr,
      hideCursor: true,
    },
    Presets.shades_classic,
  );
  const shown = new Map<string, { readonly bar: ReturnType<MultiBar['create']>; readonly began_ms: number }>();
  const draw = (part: string, done: number | null, note: string, count: number): void => {
    if (quiet) return;
    const known = shown.get(part) ?? {
      bar: bars.create(1_000, 0, { part: part.padEnd(20), note: '' }),
      began_ms: performance.now(),
    };
    shown.set(part, known);
    const seconds = (performance.now() - known.began_ms) / 1_000;
    const rate = count > 0 && seconds > 0.2 ? `${count} | ${Math.round(count / seconds)}/s` : note;
    known.bar.update(Math.round((done ?? 0) * 1_000), { note: rate });
  };
  return {
    tell: ({ part, done, count }) => draw(part, done, '', count),
    show: (part, done, note) => draw(part, done, note, 0),
    stop: () => bars.stop(),
  };
}

/** Starts this much earlier than the service's own time, because clocks differ. */
const earlier_ms = 10 * 60_000;

const believedBy = ({ seals, begun, former }: Trust): Believed => ({
  begun,
  sealsAt: (position) => former.find(({ until }) => position <= until)?.seals ?? seals,
});

/** The chain's nodes, without cursors and read models. */
function witnessOf(chain: OpenChain): Witness {
  const { rail, history, ingester } = chain;
  const { chainId } = rail;
  const [first = 'head'] = ingester.passes;
  return {
    chainId,
    family: chainOf(chainId).family,
    accounts: (signal) => booksAccountsOf(chain, signal),
    history,
    async blockAt(at, signal) {
      const early = new Date(epochMs(at) - earlier_ms).toISOString() as typeof at;
      return (await ingester.start(first, early, signal)).blockNumber;
    },
    // If payments share the treasury's own address, its history includes all of them.
    ...(ingester.sharedAddresses.length === 0 && { deposits: history.transfersOf ?? oneByOne(history) }),
  };
}

const pageMax = 500;

const oneByOne = (history: Witness['history']): NonNullable<Witness['deposits']> =>
  async function* oneByOneOf(addresses, range, signal) {
    for (const account of addresses) {
      let after: string | null = null;
      do {
        const asked = { account, ...range, order: 'oldestFirst', max: pageMax, after } as const;
        const page = await history.transactions(asked, signal);
        for (const transaction of page.transactions) yield { address: account, transaction };
        after = page.next;
      } while (after !== null);
    }
  };

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

/** Sorting millions of rows takes time. */
const statementTimeout_ms = 60 * 60_000;

const minutes = (text: string): number => {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('Use whole minutes, at most 99999.');
  return Number(text);
};

/** Each costs a root over all streams. */
const keptHeadsMax = 16;

function keptHead(text: string, before: readonly KeptHead[]): readonly KeptHead[] {
  const [, number, root] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (number === undefined || root === undefined) throw new InvalidArgumentError('Use number:root, as published.');
  if (before.length === keptHeadsMax) throw new InvalidArgumentError(`Use --head at most ${keptHeadsMax} times.`);
  return [...before, { number: Number(number), root }];
}

const program = new Command()
  .name('npm run audit --')
  .description(
    'Compares chains, log and read models. Exit code 1: they differ. 2: some parts were not readable. 3: the audit did not finish.',
  )
  .option('--json', 'Print JSON with amounts in smallest units', false)
  .option('--quiet', 'Print nothing; write the result to last.json in the directory', false)
  .option('--log-only', 'Query no chain', false)
  .option('--no-read-models', 'Do not check read models')
  .option('--no-seals', 'Check hashes, heads and chains only; needs no MASTER_KEY')
  .option('--patience <minutes>', 'Minutes in which work can still be in progress', minutes, 60)
  .option('--head <number:root>', 'Signed log head that you kept; can be repeated', keptHead, [])
  .option('--head-key <key>', 'Public key, as hex, that must have signed the first head')
  .option('--directory <directory>', 'Directory of the audit’s own files; default: audit in the data directory')
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
  .description('Print the history of a payment, with block, transaction, event and hash of each step.')
  .action((id: string) => runProgram(() => tellPayment(id, program.opts<Options>())));
addExamples(program, {
  '': '--log-only --json',
  payment: '9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11',
});

await program.parseAsync();

interface World {
  readonly config: Config;
  readonly store: ReturnType<typeof openEventStore>;
  readonly trust: Trust | null;
  readonly witnesses: readonly Witness[];
  readonly databaseUrl: string;
}

/** Opens nothing of the service that could write: no core, no handle, no signer. */
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
  const database = openToolDatabase({ url: databaseUrl, applicationName: 'audit', statementTimeout_ms });
  // The service's own view: an event that it skips is in no row, and a separate finding.
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

/** For the role that watches the last audit's age: a partial audit does not count. */
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
    const story = await auditStory(id, {
      log: store,
      believed,
      witnesses,
      settledBefore,
      signal: AbortSignal.timeout(120_000),
    });
    if (!story) throw new Error(`the log has no payment ${id}`);
    if (story.findings.length > 0) process.exitCode = 1;
    if (options.json) printJson(story);
    else for (const line of storyLines(story)) print(line);
  });
}
