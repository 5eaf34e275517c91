import {
  type AllStreamResolvedEvent,
  BACKWARDS,
  END,
  FORWARDS,
  type ResolvedEvent,
  START,
} from '@eventstore/db-client';
import type { EventStore, ReadOptions } from '../../commands/ports.ts';
import { assert, type EventMetadata, type StoredEvent } from '../../domain/decider.ts';
import { type AppendLimits, createAppending } from './append.ts';
import { collect, createLimiter, isMissingStream, type Limiter, type Limits } from './calls.ts';
import { connect, readLastOfAll } from './connection.ts';
import { followAll } from './subscription.ts';

export interface EventStoreOptions extends Partial<AppendLimits> {
  /** `esdb://host:port?tls=false`, or a cluster's `esdb+discover://…` with credentials inside. */
  readonly url: string;
  readonly read_ms?: number;
  /** Callers on behalf of a request. */
  readonly requests?: Limits;
  /** Callers that carry on payments: their queue is never full of requests. */
  readonly workers?: Limits;
}

export interface OpenEventStore extends EventStore {
  /** The same store, with the queue that is kept for workers. */
  readonly workers: EventStore;
  /** Appends still under way end with their outcome unknown: let callers finish first. */
  close(): Promise<void>;
}

/** An unbounded read of a longer stream is a mistake: it must be read in pages. */
const readLimit = 10_000;

/** About 100 appends in flight in all: more only add waiting. */
const defaults = {
  attempt_ms: 5_000,
  append_ms: 20_000,
  read_ms: 10_000,
  requests: { inFlight: 84, queued: 2_000, wait_ms: 2_000 },
  workers: { inFlight: 16, queued: 10_000, wait_ms: 20_000 },
};

/**
 * The event store behind `@eventstore/db-client` 6.2.1, with what that client leaves to its caller: a time limit on
 * appends, resending after an unknown outcome, bounded concurrency, typed errors. Nothing is connected before first use.
 *
 * Open one per process: when a connection breaks, the client fails the pending appends of all its instances. (They would
 * be sent again; it only costs time.)
 */
export function openEventStore(options: EventStoreOptions): OpenEventStore {
  const { url, read_ms, requests, workers, ...limits } = { ...defaults, ...options };
  const connection = connect(url, read_ms);
  const { client, reach, mustBeUp, reading } = connection;

  async function read(
    stream: string,
    { from, backwards = false, max }: ReadOptions = {},
  ): Promise<readonly StoredEvent[]> {
    const wanted = {
      direction: backwards ? BACKWARDS : FORWARDS,
      fromRevision: from ?? (backwards ? END : START),
      maxCount: max ?? readLimit + 1,
    } as const;
    const resolved = await reading(() =>
      collect(client.readStream(stream, wanted), read_ms, `reading ${stream}`),
    ).catch((error) => {
      if (isMissingStream(error)) return [];
      throw error;
    });
    const whole = max !== undefined || resolved.length <= readLimit;
    assert(whole, `stream ${stream} is longer than ${readLimit} events: read it in pages`);
    return resolved.map(storedEvent);
  }

  const append = createAppending(connection, limits, read);
  const behind = (limited: Limiter): EventStore => ({
    async append(stream, expected, events) {
      assert(events.length > 0, `an append to ${stream} holds at least one event`);
      mustBeUp();
      return limited(() => append(stream, expected, events));
    },
    read,
    all: (wanted) => followAll(client, wanted),
    async tail() {
      const [last] = await reading(() => readLastOfAll(client, read_ms));
      return last?.event?.position?.commit ?? 0n;
    },
  });

  return {
    ...behind(createLimiter('request', requests)),
    workers: behind(createLimiter('worker', workers)),
    async close() {
      reach.close();
      await client.dispose();
    },
  };
}

/** An event as the client hands it over → as this product knows it. */
function storedEvent(resolved: ResolvedEvent | AllStreamResolvedEvent): StoredEvent {
  const { event } = resolved;
  assert(
    event?.position !== undefined,
    'a store of version 22.6 or later tells the position of every event it returns',
  );
  return {
    stream: event.streamId,
    revision: event.revision,
    position: event.position.commit,
    id: event.id,
    type: event.type,
    data: event.data,
    metadata: event.metadata as unknown as EventMetadata,
  };
}
