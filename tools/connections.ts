/** Dependencies of tools without the service's whole configuration: its stores and its master key. */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadEnvFile } from 'node:process';
import type { ChainBroken } from '../commands/codec.ts';
import type { EventStore } from '../commands/ports.ts';
import { createLines } from '../src/chains/node/limiter.ts';
import { type Chains, openChains } from '../src/chains/open.ts';
import { type Config, readConfig } from '../src/config.ts';
import { type Core, openCore } from '../src/core.ts';
import { createReader } from '../src/environment/reader.ts';
import { readConnections } from '../src/lib/connections.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../src/postgres/database.ts';
import { systemClock } from '../src/process/system.ts';
import { parseMasterKey } from '../src/security/masterKey.ts';
import { embedded } from '../src/store/address.ts';
import { NodeNotStarted, spawnEmbeddedNode } from '../src/store/node/spawn.ts';
import { sealedStore, trustIn } from '../src/store/sealed.ts';
import { socketOf } from '../src/store/wire.ts';
import { printError } from './print.ts';

export interface StoreLocation {
  readonly database?: string;
  readonly eventstore?: string;
  readonly data: string;
}

/** From the environment, or the file that it names; empty if it is in neither. @throws Error for an unreadable file */
export function secretFrom(name: string): string {
  const problems: string[] = [];
  const text = createReader(process.env, problems).text(name, '');
  if (problems.length > 0) throw new Error(problems.join());
  return text;
}

/** Tools trust events as the service does, so they need its key. */
export function masterKeyOf(data: string, name: 'MASTER_KEY' | 'MASTER_KEY_OLD' = 'MASTER_KEY'): Uint8Array {
  for (const file of ['.env', join(data, 'service.env')]) if (existsSync(file)) loadEnvFile(file);
  const text = secretFrom(name);
  const whose = name === 'MASTER_KEY' ? 'that of the service' : 'that of the service until now';
  if (text === '') throw new Error(`${name} is required, ${whose}: it verifies the seals of the events`);
  return parseMasterKey(text);
}

/**
 * Stores from options, the environment or its files; otherwise those of the service that runs on the data directory, or ran there last;
 * otherwise the embedded event store, started for this.
 *
 * @param running what to do if the embedded event store runs already
 * @throws NodeNotStarted
 */
export async function connections(where: StoreLocation, running: 'join' | 'refuse') {
  const databaseUrl = await databaseUrlOf(where);
  return { databaseUrl, ...(await eventStoreOf(where, running)) };
}

/** Finds only Postgres in the same way. */
export async function databaseUrlOf({ database, data }: Pick<StoreLocation, 'database' | 'data'>): Promise<string> {
  const last = await readConnections(resolve(data));
  const url = database || secretFrom('DATABASE_URL') || last?.databaseUrl;
  if (!url) {
    throw new Error(
      `${resolve(data)} is not the data directory of a service: start one, or set DATABASE_URL and EVENTSTORE_URL.`,
    );
  }
  return url;
}

/** Finds only the event store in the same way. @throws NodeNotStarted */
export async function eventStoreOf(
  { eventstore, data }: Pick<StoreLocation, 'eventstore' | 'data'>,
  running: 'join' | 'refuse',
) {
  const last = await readConnections(resolve(data));
  const set = secretFrom('EVENTSTORE_URL') || secretFrom('EVENTSTORE_DEFAULT_URL');
  const used = set === embedded ? undefined : set || last?.eventStoreUrl;
  // A new embedded store would be empty beside the store that the service uses elsewhere; a socket belongs to an embedded node.
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
 * Set variables first, then `.env`, then the file of a service that runs on the data directory.
 * @throws ConfigError
 */
export function readEnvironment(): Config {
  const dataDir = process.env['DATA_DIR'] ?? './data';
  for (const file of ['.env', join(dataDir, 'service.env')]) if (existsSync(file)) loadEnvFile(file);
  return readConfig(process.env);
}

/** Opens the core for some work and always closes it. Commands decide as workers do: they wait longer for a busy event store than requests. */
export async function withCore<T>(work: (core: Core) => Promise<T>): Promise<T> {
  const core = await openCore(readEnvironment(), systemClock);
  try {
    return await work({ ...core, handle: core.workHandle });
  } finally {
    await core.close();
  }
}

/** The log as the service trusts it; reports unsealed events on the error stream. @throws Unavailable */
export async function verifiedStore(store: EventStore, masterKey: Uint8Array): Promise<EventStore> {
  const tell = ({ message }: ChainBroken): void => printError(message);
  const trust = await trustIn(store, { masterKey, tell });
  return sealedStore(store, { tell, trust: () => trust });
}

/** Opens the configured chains for a tool that only queries nodes: nothing is read from the service's memory. */
export function openChainsOnly(config: Config): Chains['chains'] {
  const nobody = async () => [];
  const needs = { lines: createLines(), takeOwners: nobody, watch: () => ({ open: nobody, late: nobody }) };
  return openChains(config, needs).chains;
}

/** An operator waits longer for a busy server than a request does. */
const connecting_ms = 30_000;

/** Opens the service's database for a command of an operator. */
export const openToolDatabase = (options: DatabaseOptions): Database => openDatabase({ connecting_ms, ...options });
