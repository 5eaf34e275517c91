/** The whole log, as an auditor reads it. */
import { join } from 'node:path';
import { streamPrefixes } from '../../commands/codec.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { openEventStore } from '../../src/store/client.ts';
import { spawnEmbeddedNode } from '../../src/store/node/spawn.ts';

export type History = ReadonlyMap<string, readonly StoredEvent[]>;

/** Every event by stream, in order, of a stopped service: read by a node of its own on the data directory. */
export async function historyOf(dataDir: string): Promise<History> {
  const node = await spawnEmbeddedNode({ dataDir: join(dataDir, 'eventstore') });
  try {
    return await historyAt(node.url);
  } finally {
    await node.stop();
  }
}

/** Every event by stream, in order, of the event store at a URL. */
export async function historyAt(url: string): Promise<History> {
  const store = openEventStore({ url });
  try {
    const events: StoredEvent[] = [];
    const { signal } = new AbortController();
    for await (const batch of store.all({ after: null, prefixes: streamPrefixes, signal })) {
      events.push(...batch.events);
      if (batch.live) break;
    }
    return Map.groupBy(events, ({ stream }) => stream);
  } finally {
    await store.close();
  }
}
