import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenEventStore, openEventStore } from '../../src/eventstore/client.ts';
import { spawnEmbeddedNode } from '../../src/eventstore/node/spawn.ts';
import { onStop } from './hooks.ts';

export interface SharedEventStore {
  readonly url: string;
  readonly store: OpenEventStore;
}

let shared: Promise<SharedEventStore> | undefined;

/** One event store for the whole run: the one EVENTSTORE_URL names, else an embedded node in a temporary directory. */
export function sharedEventStore(): Promise<SharedEventStore> {
  shared ??= start();
  return shared;
}

async function start(): Promise<SharedEventStore> {
  const url = process.env['EVENTSTORE_URL'] ?? (await startNode());
  const store = openEventStore({ url });
  onStop(() => store.close());
  return { url, store };
}

async function startNode(): Promise<string> {
  const dataDir = await temporaryDirectory();
  const node = await spawnEmbeddedNode({ dataDir });
  onStop(() => node.stop());
  return node.url;
}

/** A directory that is removed when the run ends. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'payment-intents-'));
  onStop(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
