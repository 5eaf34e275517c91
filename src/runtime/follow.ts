import type { Batch, EventStore } from '../../commands/ports.ts';

export interface FollowOptions {
  readonly after: bigint | null;
  readonly prefixes: readonly string[];
  /** Most events handed out, and most read ahead. */
  readonly eventsMax: number;
  readonly signal: AbortSignal;
}

/**
 * The log's events, read ahead while the consumer is busy: whatever has come meanwhile is its next batch. So batches are large
 * while catching up or under load, and single events go through at once.
 *
 * Ends when the signal aborts. @throws Unavailable when the subscription breaks
 */
export async function* follow(store: Pick<EventStore, 'all'>, options: FollowOptions): AsyncGenerator<Batch> {
  const { after, prefixes, eventsMax, signal } = options;
  const stop = new AbortController();
  const held: Batch[] = [];
  let ended = false;
  let failure: unknown;
  let [news, room] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const count = () => held.reduce((sum, { events }) => sum + events.length, 0);

  const pump = async () => {
    const source = store.all({ after, prefixes, signal: AbortSignal.any([signal, stop.signal]) });
    for await (const batch of source) {
      held.push(batch);
      news.resolve();
      while (count() >= eventsMax && !stop.signal.aborted) await room.promise;
      if (stop.signal.aborted) return;
    }
  };
  const pumping = pump()
    .catch((error: unknown) => {
      failure = error;
    })
    .finally(() => {
      ended = true;
      news.resolve();
    });

  try {
    for (;;) {
      if (held.length === 0 && !ended) await news.promise;
      if (held.length > 0) {
        const batch = joined(held.splice(0));
        [news, room] = [Promise.withResolvers(), free(room)];
        yield batch;
      } else if (ended) {
        if (failure !== undefined) throw failure;
        return;
      }
    }
  } finally {
    stop.abort();
    free(room);
    await pumping;
  }
}

function free(waited: PromiseWithResolvers<void>): PromiseWithResolvers<void> {
  waited.resolve();
  return Promise.withResolvers();
}

function joined(batches: readonly Batch[]): Batch {
  const last = batches.at(-1) as Batch;
  return batches.length === 1 ? last : { ...last, events: batches.flatMap(({ events }) => events) };
}
