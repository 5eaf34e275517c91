import type { Batch, EventStore } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';

export interface FollowOptions {
  readonly after: bigint | null;
  readonly prefixes: readonly string[];
  /** While catching up, a batch is not handed out with fewer events. */
  readonly eventsMin: number;
  /** Reading ahead stops at so many, rounded up to the store's batch. */
  readonly eventsMax: number;
  readonly signal: AbortSignal;
}

/**
 * The log's events, read ahead while the consumer is busy. All events that have arrived are the next batch: batches are
 * large while catching up or under load, and a single event is handed out at once.
 *
 * Ends when the signal aborts. @throws Unavailable when the subscription breaks
 */
export async function* follow(store: Pick<EventStore, 'all'>, options: FollowOptions): AsyncGenerator<Batch> {
  const { after, prefixes, eventsMin, eventsMax, signal } = options;
  const stop = new AbortController();
  let held: (Batch & { events: StoredEvent[] }) | null = null;
  let [news, room] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let ended = false;
  let failure: unknown;

  const readAhead = async () => {
    const source = store.all({ after, prefixes, signal: AbortSignal.any([signal, stop.signal]) });
    for await (const { events, position, live } of source) {
      held = { events: held?.events ?? [], position, live };
      held.events.push(...events);
      if (live || held.events.length >= eventsMin) news.resolve();
      if (held.events.length >= eventsMax) await room.promise;
      if (stop.signal.aborted) return;
    }
  };
  const reading = readAhead()
    .catch((error: unknown) => {
      failure = error;
    })
    .finally(() => {
      ended = true;
      news.resolve();
    });

  try {
    for (;;) {
      await news.promise;
      const batch: Batch | null = held;
      if (!batch) break;
      held = null;
      room.resolve();
      room = Promise.withResolvers();
      if (!ended) news = Promise.withResolvers();
      yield batch;
    }
    if (failure !== undefined) throw failure;
  } finally {
    stop.abort();
    room.resolve();
    await reading;
  }
}
