/** `npm run rebuild`: fills read models anew from the event log, beside the live ones, then switches. The service may run on. */
import { join, resolve } from 'node:path';
import { SingleBar } from 'cli-progress';
import { Command, Option } from 'commander';
import { eventCodec } from '../../commands/codec.ts';
import type { ProjectionSet } from '../../projections/projection.ts';
import { projectionSets } from '../../projections/sets.ts';
import { openEventStore } from '../eventstore/client.ts';
import { NodeNotStarted, spawnEmbeddedNode } from '../eventstore/node/spawn.ts';
import { type Database, openDatabase } from '../postgres/database.ts';
import { migrate } from '../postgres/migrate.ts';
import { readConnections } from '../runtime/connections.ts';
import { type RebuildDeps, rebuild } from '../runtime/rebuild.ts';
import { runProgram, untilInterrupted } from './program.ts';

interface Options {
  readonly set?: string;
  readonly database?: string;
  readonly eventstore?: string;
  readonly data: string;
}

/** Indexes of millions of rows take their time. */
const statementTimeout_ms = 60 * 60_000;

const options = new Command()
  .name('rebuild')
  .description('Rebuilds read models from the event log. Nothing is sent or paid by it.')
  .addOption(new Option('--set <name>', 'only this set').choices(projectionSets.map(({ name }) => name)))
  .addOption(new Option('--database <url>', 'default: that of the running service').env('DATABASE_URL'))
  .addOption(new Option('--eventstore <url>', 'default: that of the running service').env('EVENTSTORE_URL'))
  .addOption(new Option('--data <directory>', "the service's data directory").env('DATA_DIR').default('./data'))
  .parse()
  .opts<Options>();

await runProgram(() => main(options));

async function main({ set: only, ...where }: Options): Promise<void> {
  const signal = untilInterrupted('Interrupted: run it again, it goes on where it stopped.');
  const { databaseUrl, eventStoreUrl, close } = await connections(where);
  const database = openDatabase({ url: databaseUrl, applicationName: 'rebuild', statementTimeout_ms });
  const store = openEventStore({ url: eventStoreUrl });
  try {
    await migrate(database);
    for (const set of projectionSets.filter(({ name }) => only === undefined || name === only)) {
      await withProgress({ store, database, codec: eventCodec, set, signal });
    }
  } finally {
    await store.close();
    await database.close();
    await close();
  }
}

/** As given; else those of the service that runs on the data directory; else the embedded event store, started for this. */
async function connections({ database, eventstore, data }: Omit<Options, 'set'>) {
  const running = await readConnections(resolve(data));
  const databaseUrl = database ?? running?.databaseUrl;
  if (!databaseUrl) {
    throw new Error(`No service has run on ${resolve(data)}: start one, or set DATABASE_URL and EVENTSTORE_URL.`);
  }
  if (eventstore) return { databaseUrl, eventStoreUrl: eventstore, close: async () => {} };
  try {
    const node = await spawnEmbeddedNode({ dataDir: join(resolve(data), 'eventstore'), patience_ms: 0 });
    return { databaseUrl, eventStoreUrl: node.url, close: () => node.stop() };
  } catch (error) {
    if (!(error instanceof NodeNotStarted) || error.code !== 'directoryInUse' || !running) throw error;
    return { databaseUrl, eventStoreUrl: running.eventStoreUrl, close: async () => {} };
  }
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
    console.log(`Read models "${deps.set.name}": generation ${number} is live.`);
  } finally {
    bar.stop();
  }
}
