import {
  type Appended,
  type CrashPoint,
  type EventBatchRead,
  type EventStore,
  type ReadOptions,
  type SealedEvent,
  StreamConflict,
} from '../../commands/ports.ts';
import { assert, placeOf, type StoredEvent } from '../../domain/decider.ts';

/** Positions are sparse, as in the real store: nobody may compute the next one. */
const positionStep = 64n;
const maxBatch = 500;

/** Converts an event through JSON like a store, so that only storable values survive. */
const stored = (stream: string, revision: bigint, position: bigint, event: SealedEvent): StoredEvent => {
  const { data, metadata } = JSON.parse(JSON.stringify({ data: event.data, metadata: event.metadata }));
  return { stream, revision, position, id: event.id, type: event.type, data, metadata };
};

/** Answer of the identical append that wrote `there`, if there was one: ids are compared, not contents. */
function writtenBefore(there: readonly StoredEvent[], events: readonly SealedEvent[]): Appended | null {
  const last = there.at(-1);
  const same = there.length === events.length && there.every((event, i) => event.id === events[i]?.id);
  return same && last ? { revision: last.revision, position: last.position } : null;
}

/**
 * The event store in memory, for simulations and tests: same port, same semantics, nothing durable.
 * @param at called as `append.before`, `append.after`, `read`, `tail`, `lastEvent` and `eventAt`; its errors and waits reach the caller of
 * the store
 */
export function memoryEventStore({ at = () => {} }: { at?: CrashPoint } = {}): EventStore {
  const log: StoredEvent[] = [];
  const streams = new Map<string, StoredEvent[]>();
  let grown = Promise.withResolvers<void>();

  const tailNow = (): bigint => log.at(-1)?.position ?? 0n;

  function write(stream: string, expected: bigint | 'no_stream', events: readonly SealedEvent[]): Appended {
    const history = streams.get(stream) ?? [];
    const first = expected === 'no_stream' ? 0 : Number(expected) + 1;
    const repeated = writtenBefore(history.slice(first, first + events.length), events);
    if (repeated) return repeated;
    if (first !== history.length) {
      throw new StreamConflict(stream, expected, history.length === 0 ? null : BigInt(history.length - 1));
    }
    for (const event of events) {
      const next = stored(stream, BigInt(history.length), tailNow() + positionStep, event);
      history.push(next);
      log.push(next);
    }
    streams.set(stream, history);
    grown.resolve();
    grown = Promise.withResolvers();
    return { revision: BigInt(history.length - 1), position: tailNow() };
  }

  return {
    async append(stream, expected, events) {
      assert(events.length > 0, `an append to ${stream} holds at least one event`);
      await at('append.before');
      const appended = write(stream, expected, events);
      await at('append.after');
      return appended;
    },

    async read(stream, { from, backwards = false, max }: ReadOptions = {}) {
      await at('read');
      const history = streams.get(stream) ?? [];
      const wanted = backwards
        ? history.slice(0, from === undefined ? undefined : Number(from) + 1).reverse()
        : history.slice(Number(from ?? 0n));
      return wanted.slice(0, max);
    },

    async *all({ after, prefixes, signal }): AsyncIterable<EventBatchRead> {
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      let next = log.findIndex((event) => event.position > (after ?? 0n));
      if (next < 0) next = log.length;
      let position = after ?? 0n;
      let live = false;
      while (!signal.aborted) {
        if (live && next === log.length) {
          await Promise.race([grown.promise, aborted]);
          continue;
        }
        const page = log.slice(next, next + maxBatch);
        next += page.length;
        live = next === log.length;
        position = page.at(-1)?.position ?? position;
        yield { events: page.filter((event) => prefixes.some((p) => event.stream.startsWith(p))), position, live };
      }
    },

    async tail() {
      await at('tail');
      return tailNow();
    },

    async lastEvent(prefixes, after = 0n) {
      await at('lastEvent');
      const found = log.findLast(({ stream }) => prefixes.some((prefix) => stream.startsWith(prefix)));
      return found && found.position > after ? placeOf(found) : null;
    },

    async eventAt(position) {
      await at('eventAt');
      const found = log.find((event) => event.position === position);
      return found ? placeOf(found) : null;
    },
  };
}
