/** `npm run rebuild`: rebuilds read models from the event log, beside the live ones, then switches. The service may keep running. */
import { SingleBar } from 'cli-progress';
import { Command, Option } from 'commander';
import { eventCodec } from '../commands/codec.ts';
import type { EventStore } from '../commands/ports.ts';
import type { ProjectionSet } from '../projections/projection.ts';
import { projectionSets } from '../projections/sets.ts';
import { makeAnalytics } from '../src/postgres/analytics.ts';
import type { Database } from '../src/postgres/database.ts';
import { migrate } from '../src/postgres/migrate.ts';
import { findLost, forgetLost } from '../src/readmodels/logSetBack.ts';
import { type RebuildDeps, rebuild } from '../src/readmodels/rebuild.ts';
import { openEventStore } from '../src/store/client.ts';
import { connections, masterKeyOf, openToolDatabase, verifiedStore } from './connections.ts';
import { print, printError } from './print.ts';
import { runProgram, untilInterrupted } from './program.ts';

interface Options {
  readonly set?: string;
  readonly logRestored?: boolean;
  readonly database?: string;
  readonly eventstore?: string;
  readonly data: string;
}

/** Indexes of millions of rows take their time. */
const statementTimeout_ms = 60 * 60_000;

const options = new Command()
  .name('npm run rebuild --')
  .description('Rebuilds read models from the event log. Sends and pays nothing.')
  .addOption(new Option('--set <name>', 'Rebuild only this set').choices(projectionSets.map(({ name }) => name)))
  .addOption(
    new Option(
      '--log-restored',
      'After a restore from a backup: rebuild all sets, and restart scans at the end of the log',
    ).conflicts('set'),
  )
  .addOption(new Option('--database <url>', 'Default: the URL of the running service').env('DATABASE_URL'))
  .addOption(new Option('--eventstore <url>', 'Default: the URL of the running service').env('EVENTSTORE_URL'))
  .addOption(new Option('--data <directory>', 'Data directory of the service').env('DATA_DIR').default('./data'))
  .addHelpText('after', '\nExample: npm run rebuild -- --set reports')
  .parse()
  .opts<Options>();

await runProgram(() => main(options));

async function main({ set: only, logRestored = false, ...where }: Options): Promise<void> {
  const signal = untilInterrupted('Interrupted: run it again, it goes on where it stopped.');
  const { databaseUrl, eventStoreUrl, close } = await connections(where, 'join');
  const database = openToolDatabase({ url: databaseUrl, applicationName: 'rebuild', statementTimeout_ms });
  const opened = openEventStore({ url: eventStoreUrl });
  try {
    await migrate(database);
    const store = await verifiedStore(opened, masterKeyOf(where.data));
    if (logRestored) await scanAgain(database, store);
    for (const set of projectionSets.filter(({ name }) => only === undefined || name === only)) {
      await withProgress({ store, database, codec: eventCodec, set, signal, logRestored });
    }
    await makeAnalytics(database, null).catch(({ message }: Error) =>
      printError(`The views for analysts are made once all read models are of this version: ${message}`),
    );
  } finally {
    await opened.close();
    await database.close();
    await close();
  }
}

/** @throws if the log has every event that Postgres knows: then nothing must be forgotten */
async function scanAgain(
  database: Database,
  store: Pick<EventStore, 'tail' | 'eventAt' | 'lastEvent' | 'read'>,
): Promise<void> {
  const { projections, followers } = await findLost(database, store);
  if (projections.length + followers.length === 0)
    throw new Error('The log is not older than Postgres: rebuild without --log-restored.');
  await forgetLost(database, await store.tail(), followers);
  print('Scans of all chains restart at the end of the restored log.');
}

async function withProgress(deps: Omit<RebuildDeps, 'onProgress'> & { database: Database; set: ProjectionSet }) {
  const bar = new SingleBar({
    format: `${deps.set.name.padEnd(8)} [{bar}] {percentage}% | {events} events | {rate} events/s | {duration_formatted}`,
    noTTYOutput: true,
    notTTYSchedule: 2_000,
  });
  const begun_ms = performance.now();
  bar.start(1_000, 0, { events: '0', rate: '–' });
  try {
    const { number } = await rebuild({
      ...deps,
      onProgress({ events, position, tail }) {
        const seconds = (performance.now() - begun_ms) / 1_000;
        const done = tail === 0n || position >= tail ? 1_000 : Number((position * 1_000n) / tail);
        bar.update(done, { events: events.toString(), rate: Math.round(Number(events) / seconds).toString() });
      },
    });
    bar.update(1_000);
    bar.stop();
    print(`Read models "${deps.set.name}": generation ${number} is live.`);
  } finally {
    bar.stop();
  }
}
