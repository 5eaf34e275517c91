/** `npm run export -- <subject>`: exports payments, transfers or events into files for a warehouse or a spreadsheet. Read-only. */
import { join } from 'node:path';
import { SingleBar } from 'cli-progress';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { streamPrefixes } from '../commands/codec.ts';
import { type EventStore, Unavailable } from '../commands/ports.ts';
import { smaller } from '../domain/money.ts';
import { parseInstant } from '../domain/time.ts';
import type { Database } from '../src/postgres/database.ts';
import { systemClock } from '../src/process/system.ts';
import { openEventStore } from '../src/store/client.ts';
import { databaseUrlOf, eventStoreOf, masterKeyOf, openToolDatabase, verifiedStore } from './connections.ts';
import { columnsOf, exportView, type Format, formats, type Subject, subjects } from './export/formats.ts';
import { eventsOfLog, rowsOfChanges } from './export/log.ts';
import {
  ExportError,
  type Exported,
  type ExportManifest,
  type RowSource,
  readExportManifest,
  rowsIn,
  rowsOfPeriod,
  runExport,
} from './export/run.ts';
import { print } from './print.ts';
import { runProgram, untilInterrupted } from './program.ts';

interface Options {
  readonly from?: string;
  readonly to?: string;
  readonly after?: string;
  readonly format: Format;
  readonly out?: string;
  readonly partRows: number;
  readonly database?: string;
  readonly eventstore?: string;
  readonly data: string;
}

/** A scan of a table of millions is one statement if few of its rows match. */
const statementTimeout_ms = 60 * 60_000;

function timeOf(text: string): string {
  const at = parseInstant(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (at === undefined)
    throw new InvalidArgumentError('Use a day in UTC such as 2026-11-01, or a time with an offset.');
  return at;
}

function positionOf(text: string): string {
  if (!/^\d{1,19}$/.test(text)) throw new InvalidArgumentError('Use a position in the log: digits only.');
  return BigInt(text).toString();
}

function countOf(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('Use a number from 1 to 9999999.');
  return Number(text);
}

const program = new Command()
  .name('npm run export --')
  .description(
    'Exports payments, transfers or events as files. Without --from and --to, run it again to add the changes to the directory.',
  )
  .addArgument(new Argument('<subject>', 'Subject to export').choices(subjects))
  .addOption(new Option('--format <format>', 'Format of the files').choices(formats).default('csv'))
  .option('--from <time>', 'Start of the period: time of creation of a payment, of a transfer, or of an event', timeOf)
  .option('--to <time>', 'End of the period, exclusive', timeOf)
  .option(
    '--after <position>',
    'Export changes after this position in the log; default: from the first event',
    positionOf,
  )
  .option('--out <directory>', 'Directory to write; default: exports/<subject>-<format> in the data directory')
  .option('--part-rows <number>', 'Approximate number of rows per file', countOf, 100_000)
  .addOption(new Option('--database <url>', 'Default: the URL of the running service').env('DATABASE_URL'))
  .addOption(new Option('--eventstore <url>', 'Default: the URL of the running service').env('EVENTSTORE_URL'))
  .addOption(new Option('--data <directory>', 'Data directory of the service').env('DATA_DIR').default('./data'))
  .action((subject: Subject, options: Options) => runProgram(() => main(subject, options)));
program.addHelpText(
  'after',
  '\nExample: npm run export -- payments --format parquet --from 2026-11-01T00:00:00Z --to 2026-12-01T00:00:00Z',
);
await program.parseAsync();

async function main(subject: Subject, options: Options): Promise<void> {
  const signal = untilInterrupted('Interrupted: run it again, it goes on where it stopped.');
  const directory = options.out ?? join(options.data, 'exports', `${subject}-${options.format}`);
  const exports = exportedBy(subject, options, directory);
  await withSource(exports, { ...options, directory }, signal, async (source, known) => {
    const bar = new SingleBar({
      format: `${subject} [{bar}] {percentage}% | {rows} rows | {duration_formatted}`,
      noTTYOutput: true,
      notTTYSchedule: 2_000,
    });
    bar.start(1_000, 0, { rows: 0 });
    try {
      const { manifest, added } = await runExport({
        ...{ directory, exports, source, signal, partRows: options.partRows, ...(known && { known }) },
        onProgress: ({ rows, share }) => bar.update(Math.round(share * 1_000), { rows }),
      });
      bar.update(1_000, { rows: rowsIn(manifest) });
      bar.stop();
      const upTo = exports.by === 'log' ? `, up to position ${manifest.upTo ?? 0}` : '';
      print(
        `${directory} holds ${rowsIn(manifest)} rows in ${manifest.parts.length} files, ${added} of them new${upTo}.`,
      );
    } finally {
      bar.stop();
    }
  });
}

/** Events and changes are exported by log; rows of a period by time. */
function exportedBy(subject: Subject, { from, to, after, format }: Options, directory: string): Exported {
  const ofPeriod = subject !== 'events' && (from !== undefined || to !== undefined);
  if (ofPeriod && after !== undefined) throw new Error(`--after cannot be combined with --from and --to`);
  const before = readExportManifest(directory)?.exports;
  // An interrupted export keeps its end.
  const end = to ?? (ofPeriod ? (before?.by === 'period' ? before.to : systemClock.now()) : null);
  const begin = after ?? (before?.by === 'log' ? before.after : null);
  return {
    subject,
    format,
    by: ofPeriod ? 'period' : 'log',
    from: from ?? null,
    to: end,
    after: ofPeriod ? null : begin,
  };
}

async function withSource(
  exports: Exported,
  { directory, ...where }: Options & { readonly directory: string },
  signal: AbortSignal,
  work: (source: RowSource, known?: ExportManifest['known']) => Promise<void>,
): Promise<void> {
  if (exports.by === 'period') return await withDatabase(where, (database) => work(sourceOfPeriod(database, exports)));
  await withStore(where, async (store) => {
    const until = await store.tail();
    await mustContinue(store, until, directory);
    const known = await knownEvent(store);
    const deps = { store, signal, prefixes: streamPrefixes };
    if (exports.subject === 'events') return await work(eventsOfLog({ ...deps, until }, exports), known);
    const view = exportView[exports.subject];
    await withDatabase(where, async (database) => {
      const end = smaller(await checkpoint(database), until);
      await work(rowsOfChanges({ ...deps, until: end }, database, view, columnsOf[exports.subject]), known);
    });
  });
}

/** @throws ExportError if the directory has an export of another log */
async function mustContinue(store: EventStore, end: bigint, directory: string): Promise<void> {
  const { upTo, exports, known } = readExportManifest(directory) ?? { upTo: null };
  if (upTo === null || exports.by !== 'log') return;
  const found = known ? await store.eventAt(BigInt(known.position)) : null;
  // The manifests of older versions name no event.
  const isKnown = known === undefined || found?.eventId === known.eventId;
  if (isKnown && BigInt(upTo) <= end) return;
  const why = isKnown ? `this log ends at ${end}` : `event ${known?.eventId} is not at position ${known?.position}`;
  throw new ExportError(
    `${directory} holds another log up to position ${upTo} (${why}): it was restored from a backup, or EVENTSTORE_URL names another log. Name another directory with --out`,
  );
}

/** Last event of ours in the log; undefined if too many events of other applications follow it. */
async function knownEvent(store: EventStore): Promise<ExportManifest['known']> {
  const last = await store.lastEvent(streamPrefixes).catch((error: unknown) => {
    if (error instanceof Unavailable) return null;
    throw error;
  });
  return last ? { position: last.position.toString(), eventId: last.eventId } : undefined;
}

function sourceOfPeriod(database: Database, exports: Exported): RowSource {
  const { subject } = exports;
  if (subject === 'events') throw new Error('events are exported by log');
  return rowsOfPeriod(database, exportView[subject], columnsOf[subject], exports);
}

/** Position of all read models. */
async function checkpoint(database: Database): Promise<bigint> {
  const [row] = await database.query<{ position: bigint | null }>(
    `SELECT min(coalesce(position, 0)) AS position FROM ops.projections WHERE status = 'active'`,
  );
  return row?.position ?? 0n;
}

async function withDatabase(where: Options, work: (database: Database) => Promise<void>): Promise<void> {
  const url = await databaseUrlOf(where);
  const database = openToolDatabase({ url, applicationName: 'export', connectionsMax: 1, statementTimeout_ms });
  await work(database).finally(() => database.close());
}

async function withStore(where: Options, work: (store: EventStore) => Promise<void>): Promise<void> {
  const { eventStoreUrl, close } = await eventStoreOf(where, 'join');
  const opened = openEventStore({ url: eventStoreUrl });
  try {
    await work(await verifiedStore(opened, masterKeyOf(where.data)));
  } finally {
    await opened.close();
    await close();
  }
}
