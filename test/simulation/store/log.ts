/** The event store of a run, as its server has it: exact revisions, repeated appends answered as the first one was. */
import type { Appended, EventBatchRead, SealedEvent } from '../../../commands/ports.ts';
import { StreamConflict } from '../../../commands/ports.ts';
import { type LogPlace, placeOf, type StoredEvent } from '../../../domain/decider.ts';

/** Positions are sparse, as in the real store. */
const positionStep = 64n;
/** Appends after which the store writes a record of its own, as after an election: it has a position, and is no event. */
const appendsPerRecord = 16;
const pageMost = 500;

export interface SimulatedLog {
  append(stream: string, expected: bigint | 'no_stream', events: readonly SealedEvent[]): Appended;
  stream(name: string): readonly StoredEvent[];
  /** The next events behind a position. */
  after(position: bigint, prefixes: readonly string[]): EventBatchRead;
  tail(): bigint;
  /** The last event of streams whose names begin with a prefix; null when none is behind the position. */
  lastEvent(prefixes: readonly string[], after: bigint): LogPlace | null;
  /** The event at exactly this position. */
  eventAt(position: bigint): LogPlace | null;
  all(): readonly StoredEvent[];
  /** Called whenever the log has grown. @returns what ends it */
  onGrown(grown: () => void): () => void;
  /** Restores a backup: events after the position are lost. */
  cutBack(position: bigint): void;
}

/** @param appended receives each event as it is written */
export function createLog(appended: (event: StoredEvent) => void): SimulatedLog {
  let log: StoredEvent[] = [];
  const streams = new Map<string, StoredEvent[]>();
  const listeners = new Set<() => void>();
  const tail = (): bigint => log.at(-1)?.position ?? 0n;
  /** Position of the last record, whether it is an event or the store's own. */
  let end = 0n;
  let appends = 0;

  function behind(position: bigint): number {
    let [from, to] = [0, log.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((log[middle]?.position ?? 0n) > position) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  return {
    append(stream, expected, events) {
      const history = streams.get(stream) ?? [];
      const first = expected === 'no_stream' ? 0 : Number(expected) + 1;
      const there = history.slice(first, first + events.length);
      const lastThere = there.at(-1);
      if (lastThere && there.length === events.length && there.every(({ id }, at) => id === events[at]?.id))
        return { revision: lastThere.revision, position: lastThere.position };
      if (first !== history.length)
        throw new StreamConflict(stream, expected, history.length === 0 ? null : BigInt(history.length - 1));
      for (const { id, type, data, metadata } of events) {
        const copied = JSON.parse(JSON.stringify({ data, metadata })) as Pick<StoredEvent, 'data' | 'metadata'>;
        const place = { stream, revision: BigInt(history.length), position: end + positionStep };
        end = place.position;
        const stored: StoredEvent = { ...place, id, type, ...copied };
        history.push(stored);
        log.push(stored);
        appended(stored);
      }
      streams.set(stream, history);
      const outcome = { revision: BigInt(history.length - 1), position: tail() };
      appends += 1;
      if (appends % appendsPerRecord === 0) end += positionStep;
      for (const grown of [...listeners]) grown();
      return outcome;
    },
    stream: (name) => streams.get(name) ?? [],
    after(position, prefixes) {
      const from = behind(position);
      const page = log.slice(from, from + pageMost);
      const live = from + page.length >= log.length;
      const events = page.filter(({ stream }) => prefixes.some((prefix) => stream.startsWith(prefix)));
      const reached = live ? end : (page.at(-1)?.position ?? position);
      return { events, position: live && end < position ? position : reached, live };
    },
    tail,
    lastEvent(prefixes, after) {
      const found = log.findLast(({ stream }) => prefixes.some((prefix) => stream.startsWith(prefix)));
      return found && found.position > after ? placeOf(found) : null;
    },
    eventAt(position) {
      const found = log[behind(position) - 1];
      return found?.position === position ? placeOf(found) : null;
    },
    all: () => log,
    onGrown(grown) {
      listeners.add(grown);
      return () => listeners.delete(grown);
    },
    cutBack(position) {
      log = log.filter((event) => event.position <= position);
      // The store that starts on the backup writes a record of its own.
      end = tail() + positionStep;
      streams.clear();
      for (const event of log) streams.set(event.stream, [...(streams.get(event.stream) ?? []), event]);
    },
  };
}
