/** Rebuild of the read models of a filled log: the product's own rebuild, from the node's process into durable Postgres. */
import { join } from 'node:path';
import { eventCodec } from '../../commands/codec.ts';
import { projectionSets } from '../../projections/sets.ts';
import { type Database, openDatabase } from '../../src/postgres/database.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { rebuild } from '../../src/readmodels/rebuild.ts';
import { openEventStore } from '../../src/store/client.ts';
import { type EmbeddedNode, spawnEmbeddedNode } from '../../src/store/node/spawn.ts';
import { fill } from './fill.ts';
import { cpuSeconds, loadText } from './machine.ts';
import { table, whole } from './table.ts';
import type { BenchWorld } from './world.ts';

export interface Filled {
  readonly payments: number;
  readonly events: number;
  readonly node: EmbeddedNode;
  /** The node's log file, which it maps into its memory. */
  readonly logFile: string;
  readonly database: Database;
  stop(): Promise<void>;
}

const statementTimeout_ms = 10 * 60_000;

/** Opens a separate log with this number of payments, and an empty database. Not part of any measurement. */
export async function openFilled(world: BenchWorld, payments: number): Promise<Filled> {
  const dataDir = join(world.dataDir, `filled-${payments}`, 'eventstore');
  const events = await fill(dataDir, payments);
  const node = await spawnEmbeddedNode({ dataDir });
  const name = `filled_${payments}`;
  await world.database.query(`CREATE DATABASE ${name}`);
  const url = new URL(world.env['DATABASE_URL'] ?? '');
  url.pathname = `/${name}`;
  const database = openDatabase({ url: url.href, applicationName: 'bench', statementTimeout_ms });
  await migrate(database);
  return {
    payments,
    events,
    node,
    logFile: join(dataDir, 'events', 'data.mdb'),
    database,
    async stop() {
      await database.close();
      await node.stop();
    },
  };
}

/** @returns a table with a row for each projection set */
export async function benchRebuild(world: BenchWorld, { payments, events, node, database }: Filled): Promise<string> {
  const rows: (readonly string[])[] = [];
  const pids = { 'this process': process.pid, 'event store': node.pid, Postgres: world.postgres };
  for (const set of projectionSets) {
    const store = openEventStore({ url: node.url });
    const cpu = () => Object.values(pids).map((pid) => cpuSeconds(pid === process.pid ? [] : [pid]));
    const [before, own] = [cpu(), process.cpuUsage()];
    const began_ms = performance.now();
    let read_s = Number.NaN;
    await rebuild({
      store,
      database,
      codec: eventCodec,
      set,
      signal: new AbortController().signal,
      onProgress: ({ position, tail }) => {
        if (position >= tail && Number.isNaN(read_s)) read_s = (performance.now() - began_ms) / 1_000;
      },
    });
    const all_s = (performance.now() - began_ms) / 1_000;
    await store.close();
    const { user, system } = process.cpuUsage(own);
    const [, nodes_s = 0, postgres_s = 0] = cpu().map((seconds, i) => seconds - (before[i] ?? 0));
    const per = (seconds: number) => ((seconds * 1e6) / events).toFixed(1);
    const costs = [per((user + system) / 1e6), per(nodes_s), per(postgres_s)];
    rows.push([set.name, whole(events), whole(events / read_s), whole(events / all_s), ...costs]);
  }
  const head = [
    'rebuild',
    'events',
    'events/s read',
    'events/s in all',
    ...Object.keys(pids).map((name) => `CPU µs ${name}`),
  ];
  return `${table(head, rows)}\n${whole(payments)} payments; in all: with indexes, statistics and the switch; load of the machine after: ${loadText()}`;
}
