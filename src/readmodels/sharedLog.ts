/** One subscription for all followers of the log's end: each event is read, and its seal checked, once for all of them. */
import type { EventBatchRead, EventStore } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';

/** Number of newest events kept for busy followers. A follower that falls behind them reads separately until it has caught up. */
const keptDefault = 10_000;

/**
 * Same interface as `store.all`. Each reader catches up separately; readers at the end share the next events. A broken subscription is
 * reported to all of its readers.
 * @param keptMax kept events, plus one batch of the store
 */
export function sharedLog(store: Pick<EventStore, 'all'>, keptMax = keptDefault): Pick<EventStore, 'all'> {
  const tails = new Map<string, Tail>();

  function openTail(of: string, prefixes: readonly string[], after: bigint): void {
    const tail = createTail(after, keptMax, () => tails.delete(of));
    tails.set(of, tail);
    void tail.fill(store, prefixes);
  }

  return {
    async *all({ after: begin, prefixes, signal }) {
      const of = prefixes.join('\n');
      let after = begin;
      while (!signal.aborted) {
        const tail = tails.get(of);
        if (tail && after !== null && tail.has(after)) {
          for await (const batch of tail.read(after, signal)) {
            after = batch.position;
            yield batch;
          }
          continue;
        }
        let live = false;
        for await (const batch of store.all({ after, prefixes, signal })) {
          after = batch.position;
          ({ live } = batch);
          yield batch;
          // Not before: a reader that expects more events waits for them.
          if (live && (tails.get(of)?.has(after) ?? true)) break;
        }
        if (live && after !== null && !signal.aborted && !tails.has(of)) openTail(of, prefixes, after);
      }
    },
  };
}

type Tail = ReturnType<typeof createTail>;

/** Newest batches of one subscription, and their readers. */
function createTail(after: bigint, keptMax: number, ended: () => void) {
  const stop = new AbortController();
  const kept: EventBatchRead[] = [];
  let kept_events = 0;
  /** Everything after this position is kept. */
  let begin = after;
  let end = after;
  /** Number of batches before the first kept one. */
  let dropped = 0;
  let readers = 0;
  let over = false;
  let failure: unknown;
  let news = Promise.withResolvers<void>();

  function tell(): void {
    news.resolve();
    news = Promise.withResolvers();
  }

  function keep(batch: EventBatchRead): void {
    kept.push(batch);
    kept_events += weightOf(batch);
    end = batch.position;
    while (kept_events > keptMax && kept.length > 1) {
      const oldest = kept.shift() as EventBatchRead;
      kept_events -= weightOf(oldest);
      begin = oldest.position;
      dropped += 1;
    }
  }

  function leave(): void {
    readers -= 1;
    if (readers === 0) stop.abort();
  }

  return {
    has: (position: bigint): boolean => !over && !stop.signal.aborted && position >= begin && position <= end,

    /** Reads on until no reader uses its batches, or the subscription breaks. */
    async fill(from: Pick<EventStore, 'all'>, prefixes: readonly string[]): Promise<void> {
      try {
        // An empty log has no positions yet.
        const options = { after: after === 0n ? null : after, prefixes, signal: stop.signal };
        for await (const batch of from.all(options)) {
          keep(batch);
          tell();
        }
      } catch (error) {
        failure = error;
      }
      over = true;
      ended();
      tell();
    },

    /** Merges all new events into one batch. Ends when the next one is no longer kept. @throws the error that broke the subscription */
    async *read(position: bigint, signal: AbortSignal): AsyncGenerator<EventBatchRead> {
      readers += 1;
      signal.addEventListener('abort', tell, { once: true });
      let next = dropped + firstBehind(kept, position);
      try {
        const newest = kept.at(-1);
        if (newest?.live && next === dropped + kept.length) yield { events: [], position, live: true };
        while (!signal.aborted && next >= dropped) {
          const batches = kept.slice(next - dropped);
          next += batches.length;
          const last = batches.at(-1);
          if (last) yield { ...last, events: eventsBehind(batches, position) };
          else if (over && failure !== undefined) throw failure;
          else if (over) return;
          else await news.promise;
        }
      } finally {
        signal.removeEventListener('abort', tell);
        leave();
      }
    },
  };
}

/** A batch with only a position counts as well. */
const weightOf = ({ events }: EventBatchRead): number => Math.max(1, events.length);

function firstBehind(batches: readonly EventBatchRead[], position: bigint): number {
  const at = batches.findLastIndex((batch) => batch.position <= position);
  return at + 1;
}

/** A joining reader may be in the middle of a batch. */
const eventsBehind = (batches: readonly EventBatchRead[], position: bigint): readonly StoredEvent[] =>
  batches.flatMap(({ events }) =>
    (events[0]?.position ?? 0n) > position ? events : events.filter((each) => each.position > position),
  );
