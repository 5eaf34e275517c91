/**
 * Measures the cost of other applications' events in an event store that a service shares with them.
 * `EVENTSTOREDB=<program> npm run bench -- --only sharedStore --seconds 30` runs a real EventStoreDB and an idle
 * service with all roles and one chain. Another application writes small events into streams of its own. The table has
 * one row per rate: processor time of the service, of the event store and of Postgres, and Postgres commits per second
 * without this program's own queries.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { cpuSeconds, loadText, machine, ownCpuSeconds } from './machine.ts';
import { startRealEventStore } from './realEventStore.ts';
import { type Server, startServer } from './servers.ts';
import { table, whole } from './table.ts';
import { type BenchWorld, openWorld } from './world.ts';

/** Events per second that the other application writes. */
const rates = [0, 20, 200, 1_000];
/** The service has caught up, and compiled what it uses, when the first window begins. */
const warmUp_ms = 10_000;
const settle_ms = 3_000;
const tick_ms = 10;
/** Streams of the other application, written in turn. */
const streams = 50;

interface Usage {
  readonly at_ms: number;
  readonly service_s: number;
  readonly eventStore_s: number;
  readonly postgres_s: number;
  readonly commits: number;
}

/** @returns a table with a row for each rate */
export async function benchSharedStore({ seconds }: { readonly seconds: number }): Promise<string> {
  const world = await openWorld({ startStore: startRealEventStore });
  try {
    const about = await machine(world.database);
    const service = await startServer('src/main.ts', world.env);
    try {
      await sleep(warmUp_ms);
      const rows: (readonly string[])[] = [];
      for (const rate of rates) rows.push(await measure(world, service, rate, seconds));
      return `${about}\n\n${table(head, rows)}\n${seconds} s each; load of the machine after: ${loadText()}`;
    } finally {
      await service.stop();
    }
  } finally {
    await world.stop();
  }
}

const head = [
  'events/s of another application',
  'written/s',
  'service, % of a core',
  'event store, % of a core',
  'Postgres, % of a core',
  'Postgres commits/s',
];

async function measure(world: BenchWorld, service: Server, rate: number, seconds: number): Promise<readonly string[]> {
  const application = writeEvents(world.eventStore.url, rate);
  try {
    await sleep(settle_ms);
    const [before, writtenBefore] = [await usage(world, service), application.written()];
    await sleep(seconds * 1_000);
    const [after, written] = [await usage(world, service), application.written() - writtenBefore];
    const passed_s = (after.at_ms - before.at_ms) / 1_000;
    const percent = (of: (usage: Usage) => number) => (((of(after) - of(before)) / passed_s) * 100).toFixed(1);
    return [
      whole(rate),
      whole(written / passed_s),
      percent(({ service_s }) => service_s),
      percent(({ eventStore_s }) => eventStore_s),
      percent(({ postgres_s }) => postgres_s),
      ((after.commits - before.commits) / passed_s).toFixed(1),
    ];
  } finally {
    await application.stop();
  }
}

async function usage({ database, eventStore, postgres }: BenchWorld, service: Server): Promise<Usage> {
  const [row] = await database.query<{ commits: number }>(
    'SELECT xact_commit::float8 AS commits FROM pg_stat_database WHERE datname = current_database()',
  );
  return {
    at_ms: performance.now(),
    service_s: ownCpuSeconds(service.pid),
    eventStore_s: ownCpuSeconds(eventStore.pid),
    postgres_s: cpuSeconds([postgres]),
    commits: row?.commits ?? 0,
  };
}

/** Appends single events at a constant rate until it is stopped: each tick those that are due. A failed append ends the measurement. */
function writeEvents(url: string, rate: number) {
  const client = EventStoreDBClient.connectionString(url);
  const ending = new AbortController();
  let written = 0;
  const append = (item: number) =>
    client.appendToStream(`inventory-${item % streams}`, jsonEvent({ type: 'ItemCounted', data: { item, left: 7 } }));
  async function write(): Promise<void> {
    const begun_ms = performance.now();
    while (!ending.signal.aborted) {
      const due = Math.floor(((performance.now() - begun_ms) / 1_000) * rate);
      await Promise.all(Array.from({ length: due - written }, (_, index) => append(written + index)));
      written = due;
      await sleep(tick_ms);
    }
  }
  const done = write();
  // The failure is reported by `stop`.
  done.catch(() => {});
  return {
    written: () => written,
    async stop() {
      ending.abort();
      await done;
      await client.dispose();
    },
  };
}
