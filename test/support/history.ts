/** The whole log of a stopped service, as an auditor reads it: a node of its own on the data directory. */
import { join } from 'node:path';
import { streamPrefixes } from '../../commands/codec.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { openEventStore } from '../../src/eventstore/client.ts';
import { spawnEmbeddedNode } from '../../src/eventstore/node/spawn.ts';

/** Every event by stream, in order. */
export async function historyOf(dataDir: string): Promise<ReadonlyMap<string, readonly StoredEvent[]>> {
  const node = await spawnEmbeddedNode({ dataDir: join(dataDir, 'eventstore') });
  const store = openEventStore({ url: node.url });
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
    await node.stop();
  }
}
