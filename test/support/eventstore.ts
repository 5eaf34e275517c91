import { type OpenEventStore, openEventStore } from '../../src/store/client.ts';
import { spawnEmbeddedNode } from '../../src/store/node/spawn.ts';
import { givenEventStore, onStop } from './hooks.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

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
  const url = givenEventStore ?? (await startNode());
  const store = openEventStore({ url });
  onStop(() => store.close());
  return { url, store };
}

async function startNode(): Promise<string> {
  const node = await spawnEmbeddedNode({ dataDir: temporaryDirectory() });
  onStop(() => node.stop());
  return node.url;
}
