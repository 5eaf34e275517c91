/** `npm run replay -- …`: one stream, or all read models, as of a moment. Sends, signs and appends nothing. */

import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError, Option } from 'commander';
import { eventCodec } from '../commands/codec.ts';
import type { EventStore } from '../commands/ports.ts';
import { type AsOf, parseAsOf } from '../domain/asOf.ts';
import { checkReplayName, dropReplay } from '../projections/replays.ts';
import type { Database } from '../src/postgres/database.ts';
import { type LeafChange, replay, replayStream, type StreamStep } from '../src/readmodels/replay.ts';
import { openEventStore } from '../src/store/client.ts';
import {
  connections,
  databaseUrlOf,
  eventStoreOf,
  masterKeyOf,
  openToolDatabase,
  verifiedStore,
} from './connections.ts';
import { print, printJson } from './print.ts';
import { runProgram, untilInterrupted } from './program.ts';

const widths = { number: 5, position: 12, at: 24, type: 20 };
const valueMax = 66;

const columns = (number: string, position: string, at: string, type: string, change: string): string =>
  [
    number.padStart(widths.number),
    position.padStart(widths.position),
    at.padEnd(widths.at),
    type.padEnd(widths.type),
    change,
  ]
    .join('  ')
    .trimEnd();

export const rule = '─'.repeat(120);

/**
 * Formats an event as lines of a table: the event, and one line per change.
 * @param isFirst adds the table's head
 */
export function linesOf({ stored, known, changes }: StreamStep, isFirst: boolean): readonly string[] {
  const head = isFirst ? [columns('#', 'position', 'time', 'event', 'changed')] : [];
  const what = known ? changes.map(changeText) : ['(an event of a newer version of this service)'];
  const [first = '(nothing)', ...more] = what;
  const { revision, position, metadata, type } = stored;
  return [
    ...head,
    rule,
    columns(revision.toString(), position.toString(), metadata.at, type, first),
    ...more.map((change) => columns('', '', '', '', change)),
  ];
}

function changeText({ field, before, after }: LeafChange): string {
  if (before === null) return `${field} = ${short(after)}`;
  return after === null ? `${field}: ${short(before)} is gone` : `${field}: ${short(before)} → ${short(after)}`;
}

/** Signed bytes are long, and merchants' texts may be. */
function short(text: string | null): string {
  const whole = text ?? '';
  return whole.length > valueMax ? `${whole.slice(0, valueMax)}…` : whole;
}

/** For programs: not shortened. */
export const recordOf = ({ stored, link, changes, state }: StreamStep) => ({
  stream: stored.stream,
  revision: stored.revision.toString(),
  position: stored.position.toString(),
  type: stored.type,
  at: stored.metadata.at,
  cause: stored.metadata.cause,
  previous: stored.metadata.prev,
  link,
  changes,
  state,
});

interface Options {
  readonly until?: AsOf;
  readonly stream?: string;
  readonly into?: string;
  readonly drop?: string;
  readonly json?: boolean;
  readonly database?: string;
  readonly eventstore?: string;
  readonly data: string;
}

/** Indexes of millions of rows take their time. */
const statementTimeout_ms = 60 * 60_000;

function momentOf(text: string): AsOf {
  const moment = parseAsOf(text);
  if (!moment) throw new InvalidArgumentError('Use a position in the log, or a time such as 2026-11-22T10:00:00Z.');
  return moment;
}

const options = new Command()
  .name('npm run replay --')
  .description('Prints the state at a past time, computed from the events. Sends, signs and appends nothing.')
  .option('--until <moment>', 'Time with an offset, or position in the log; default: the whole log', momentOf)
  .addOption(
    new Option('--stream <name>', 'Print one stream, such as payment-<id>: its state after each event').conflicts([
      'into',
      'drop',
    ]),
  )
  .addOption(new Option('--into <schema>', 'Write all read models into a new Postgres schema').conflicts('drop'))
  .option('--drop <schema>', 'Remove a schema that --into created')
  .addOption(new Option('--json', 'With --stream: print one JSON object per event').conflicts(['into', 'drop']))
  .addOption(new Option('--database <url>', 'Default: the URL of the running service').env('DATABASE_URL'))
  .addOption(new Option('--eventstore <url>', 'Default: the URL of the running service').env('EVENTSTORE_URL'))
  .addOption(new Option('--data <directory>', 'Data directory of the service').env('DATA_DIR').default('./data'))
  .addHelpText(
    'after',
    '\nExample: npm run replay -- --stream payment-9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11 --until 2026-11-01T00:00:00Z',
  )
  .parse()
  .opts<Options>();

await runProgram(() => main(options));

async function main({ stream, into, drop, ...given }: Options): Promise<void> {
  if (stream !== undefined) return await showStream(stream, given);
  if (into !== undefined) return await fill(into, given);
  if (drop !== undefined) return await remove(drop, given);
  throw new Error('Add --stream <name>, --into <schema> or --drop <schema>. See --help.');
}

async function showStream(stream: string, { until = undefined, json = false, ...where }: Options): Promise<void> {
  const { eventStoreUrl, close } = await eventStoreOf(where, 'join');
  await withStore(eventStoreUrl, where.data, async (store) => {
    let shown = 0;
    for await (const step of replayStream({ store, codec: eventCodec }, stream, until ?? null)) {
      if (json) printJson(recordOf(step), null);
      else print(...linesOf(step, shown === 0));
      shown += 1;
    }
    if (shown === 0)
      throw new Error(`${stream} has no event before this moment: check its name, or use a later moment`);
    if (!json) print(rule, `${shown} events.`);
  }).finally(close);
}

async function fill(into: string, { until, ...where }: Options): Promise<void> {
  checkReplayName(into);
  const signal = untilInterrupted('Interrupted: run it again, it goes on where it stopped.');
  const { databaseUrl, eventStoreUrl, close } = await connections(where, 'join');
  const database = openToolDatabase({ url: databaseUrl, applicationName: 'replay', statementTimeout_ms });
  await withStore(eventStoreUrl, where.data, (store) =>
    withProgress((onProgress) =>
      replay({ store, database, codec: eventCodec, signal, into, until: until ?? null, onProgress }),
    ),
  ).finally(async () => {
    await database.close();
    await close();
  });
}

async function remove(schema: string, where: Options): Promise<void> {
  const database: Database = openToolDatabase({
    url: await databaseUrlOf(where),
    applicationName: 'replay',
    statementTimeout_ms,
  });
  try {
    print((await dropReplay(database, schema)) ? `Schema ${schema} is gone.` : `There is no schema ${schema}.`);
  } finally {
    await database.close();
  }
}

async function withStore(url: string, data: string, work: (store: EventStore) => Promise<void>): Promise<void> {
  const opened = openEventStore({ url });
  try {
    await work(await verifiedStore(opened, masterKeyOf(data)));
  } finally {
    await opened.close();
  }
}

type OnProgress = NonNullable<Parameters<typeof replay>[0]['onProgress']>;

async function withProgress(work: (onProgress: OnProgress) => ReturnType<typeof replay>): Promise<void> {
  const bar = new SingleBar({
    format: 'replay [{bar}] {percentage}% | {events} events | {rate} events/s | {duration_formatted}',
    noTTYOutput: true,
    notTTYSchedule: 2_000,
  });
  const begun_ms = performance.now();
  bar.start(1_000, 0, { events: '0', rate: '–' });
  try {
    const filled = await work(({ events, position, tail }) => {
      const seconds = (performance.now() - begun_ms) / 1_000;
      const done = tail === 0n || position >= tail ? 1_000 : Number((position * 1_000n) / tail);
      bar.update(done, { events: events.toString(), rate: Math.round(Number(events) / seconds).toString() });
    });
    bar.update(1_000);
    bar.stop();
    const upTo =
      filled.position === null ? 'before the first event' : `up to position ${filled.position}, written ${filled.at}`;
    print(
      `Schema ${filled.schema} holds all read models ${upTo}: SELECT * FROM ${filled.schema}.payments; it says so itself in ${filled.schema}.replay.`,
    );
  } finally {
    bar.stop();
  }
}
