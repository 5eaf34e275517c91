/** What tools stand on that run without the service's whole configuration: its stores, and its master key. */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadEnvFile } from 'node:process';
import type { ChainBroken } from '../commands/codec.ts';
import type { EventStore } from '../commands/ports.ts';
import { createLines } from '../src/chains/node/lines.ts';
import { type Chains, openChains } from '../src/chains/open.ts';
import { type Config, readConfig } from '../src/config.ts';
import { type Core, openCore } from '../src/core.ts';
import { createReader } from '../src/environment/reader.ts';
import { readConnections } from '../src/lib/connections.ts';
import { systemClock } from '../src/process/system.ts';
import { parseMasterKey } from '../src/security/secretBox.ts';
import { NodeNotStarted, spawnEmbeddedNode } from '../src/store/node/spawn.ts';
import { sealedStore, trustIn } from '../src/store/sealed.ts';
import { socketOf } from '../src/store/wire.ts';
import { printError } from './print.ts';

export interface Where {
  readonly database?: string;
  readonly eventstore?: string;
  readonly data: string;
}

/** From the environment, or the file that it names; empty when it is nowhere. @throws Error for a file that cannot be read */
export function secretFrom(name: string): string {
  const problems: string[] = [];
  const text = createReader(process.env, problems).text(name, '');
  if (problems.length > 0) throw new Error(problems.join());
  return text;
}

/** Events are believed as the service believes them, so its key is needed. */
export function masterKeyOf(data: string, name: 'MASTER_KEY' | 'MASTER_KEY_OLD' = 'MASTER_KEY'): Uint8Array {
  for (const file of ['.env', join(data, 'service.env')]) if (existsSync(file)) loadEnvFile(file);
  const text = secretFrom(name);
  const whose = name === 'MASTER_KEY' ? 'that of the service' : 'that of the service until now';
  if (text === '') throw new Error(`${name} is required, ${whose}: it verifies the seals of the events`);
  return parseMasterKey(text);
}

/**
 * As given, or named by the environment or its files; else those of the service that runs on the data directory, or ran there last; else
 * the embedded event store, started for this.
 *
 * @param running what to do when the embedded event store runs already
 * @throws NodeNotStarted
 */
export async function connections(where: Where, running: 'join' | 'refuse') {
  const databaseUrl = await databaseUrlOf(where);
  return { databaseUrl, ...(await eventStoreOf(where, running)) };
}

/** Postgres alone, found in the same way. */
export async function databaseUrlOf({ database, data }: Pick<Where, 'database' | 'data'>): Promise<string> {
  const last = await readConnections(resolve(data));
  const url = database || secretFrom('DATABASE_URL') || last?.databaseUrl;
  if (!url) {
    throw new Error(
      `${resolve(data)} is not the data directory of a service: start one, or set DATABASE_URL and EVENTSTORE_URL.`,
    );
  }
  return url;
}

/** The event store alone, found in the same way. @throws NodeNotStarted */
export async function eventStoreOf(
  { eventstore, data }: Pick<Where, 'eventstore' | 'data'>,
  running: 'join' | 'refuse',
) {
  const last = await readConnections(resolve(data));
  const used = secretFrom('EVENTSTORE_URL') || secretFrom('EVENTSTORE_DEFAULT_URL') || last?.eventStoreUrl;
  // A store of its own would be empty beside the one that the service uses elsewhere; a socket is that of a node of its own.
  const elsewhere = used && socketOf(used) === null ? used : undefined;
  const named = eventstore || elsewhere;
  if (named) return { eventStoreUrl: named, close: async () => {} };
  try {
    const node = await spawnEmbeddedNode({ dataDir: join(resolve(data), 'eventstore'), patience_ms: 0 });
    return { eventStoreUrl: node.url, close: () => node.stop() };
  } catch (error) {
    if (!(error instanceof NodeNotStarted) || error.code !== 'directoryInUse' || !last || running === 'refuse')
      throw error;
    return { eventStoreUrl: last.eventStoreUrl, close: async () => {} };
  }
}

/**
 * What is set already, then `.env`, then what a service that runs on the data directory has left there.
 * @throws ConfigError
 */
export function readEnvironment(): Config {
  const dataDir = process.env['DATA_DIR'] ?? './data';
  for (const file of ['.env', join(dataDir, 'service.env')]) if (existsSync(file)) loadEnvFile(file);
  return readConfig(process.env);
}

/** Opens the core for one piece of work and closes it, however the work ends. */
export async function withCore<T>(work: (core: Core) => Promise<T>): Promise<T> {
  const core = await openCore(readEnvironment(), systemClock);
  try {
    return await work(core);
  } finally {
    await core.close();
  }
}

/** The log as the service believes it; what is not sealed by it is told on the error stream. @throws Unavailable */
export async function believed(store: EventStore, masterKey: Uint8Array): Promise<EventStore> {
  const tell = ({ message }: ChainBroken): void => printError(message);
  const trust = await trustIn(store, { masterKey, tell });
  return sealedStore(store, { tell, trust: () => trust });
}

/** Opens the configured chains for a tool that only queries nodes: nothing is read from the service's memory. */
export function chainsAlone(config: Config): Chains['chains'] {
  const nobody = async () => [];
  const needs = { lines: createLines(), takeOwners: nobody, watch: () => ({ open: nobody, late: nobody }) };
  return openChains(config, needs).chains;
}
