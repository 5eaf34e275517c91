/** A follower that stays while its store is restarted: it subscribes again from the last position that it was given. */
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreDBClient, type Position, streamNameFilter } from '@eventstore/db-client';
import { Unavailable } from '../../../commands/ports.ts';
import type { OpenEventStore } from '../../../src/store/client.ts';
import { within } from '../../../src/store/read.ts';
import { patience_ms } from '../../support/patience.ts';

export interface Follower {
  /** Resolves with the ids of all events so far, in their order, once the event with this id is among them. */
  until(id: string): Promise<readonly string[]>;
}

const retryPause_ms = 50;

function collector() {
  const ids: string[] = [];
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  let wanted: string | null = null;
  let isDone = false;
  const found = Promise.withResolvers<void>();
  return {
    /** True once nobody waits for more. */
    get isDone() {
      return isDone;
    },
    add(id: string): void {
      ids.push(id);
      if (id !== wanted) return;
      isDone = true;
      found.resolve();
    },
    fail: failed.reject,
    async until(id: string): Promise<readonly string[]> {
      wanted = id;
      if (ids.includes(id)) found.resolve();
      try {
        await within(Promise.race([found.promise, failed.promise]), patience_ms, 'following through restarts');
        return ids;
      } finally {
        isDone = true;
      }
    },
  };
}

/** Through the official client's `subscribeToAll`. */
export function officialFollower(url: string, prefixes: readonly string[], after: bigint): Follower {
  const client = EventStoreDBClient.connectionString(url);
  const collected = collector();
  let position: Position = { commit: after, prepare: after };

  async function follow(): Promise<void> {
    const subscription = client.subscribeToAll({
      fromPosition: position,
      filter: streamNameFilter({
        prefixes: [...prefixes],
        // Events that were sent before may still wait to be read.
        checkpointReached: async (_, reached) => {
          if (subscription.readableLength === 0) position = reached;
        },
      }),
    });
    for await (const { event } of subscription) {
      if (!event?.position) continue;
      position = event.position;
      collected.add(event.id);
      if (collected.isDone) break;
    }
  }

  async function run(): Promise<void> {
    while (!collected.isDone) {
      await follow().catch(() => sleep(retryPause_ms));
    }
  }
  void run()
    .catch(collected.fail)
    .finally(() => client.dispose());
  return { until: collected.until };
}

/** Through the product's adapter. Anything but an outage ends it. */
export function productFollower(store: OpenEventStore, prefixes: readonly string[], after: bigint): Follower {
  const collected = collector();
  const leave = new AbortController();
  let reached = after;

  async function follow(): Promise<void> {
    for await (const { events, position } of store.all({ after: reached, prefixes, signal: leave.signal })) {
      for (const { id } of events) collected.add(id);
      reached = position;
      if (collected.isDone) leave.abort();
    }
  }

  async function run(): Promise<void> {
    while (!collected.isDone) {
      try {
        await follow();
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        await sleep(retryPause_ms);
      }
    }
  }
  void run().catch(collected.fail);
  return {
    async until(id) {
      const ids = await collected.until(id);
      leave.abort();
      return ids;
    },
  };
}
