/** Fills the data directory of an embedded node with the histories of many payments, before the node opens it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SingleBar } from 'cli-progress';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle } from '../../commands/handle.ts';
import { type EventStore, type SealedEvent, StreamConflict } from '../../commands/ports.ts';
import { type Instant, instant } from '../../domain/time.ts';
import { randomIds } from '../../src/process/system.ts';
import { openStorage } from '../../src/store/node/storage.ts';
import { createBell, createWriter, type Writer } from '../../src/store/node/writer.ts';
import { histories } from './histories.ts';

/** Concurrent payments: their events are interleaved in the log, as on a busy day. */
const underWay = 2_000;
const days_ms = 25 * 24 * 60 * 60_000;

/** @returns the number of written events */
export async function fill(dataDir: string, payments: number): Promise<number> {
  mkdirSync(dataDir, { recursive: true });
  const storage = await openStorage(join(dataDir, 'events'));
  const writer = createWriter(storage, createBell());
  const count = { events: 0 };
  /** Event ids by stream and type, for the events that cause webhooks. */
  const ids = new Map<string, string>();
  const clock = runningClock();
  const store = onWriter(writer, (stream, events) => {
    count.events += events.length;
    for (const { id, type } of events)
      if (type === 'PaymentFunded' || type === 'PayoutConfirmed') ids.set(`${stream} ${type}`, id);
  });
  const handle = createHandle({ store, clock, ids: randomIds, codec: eventCodec });
  const { steps } = histories(handle, clock, (stream, type) => ids.get(`${stream} ${type}`) ?? '');
  const bar = new SingleBar({
    format: 'filling  [{bar}] {percentage}% | {value}/{total} payments | {eta_formatted} left',
    noTTYOutput: true,
    notTTYSchedule: 10_000,
  });
  bar.start(payments, 0);
  try {
    for (let first = 0; first < payments; first += underWay) {
      clock.set(Date.now() - days_ms * (1 - first / payments));
      const wave = Array.from({ length: Math.min(underWay, payments - first) }, (_, i) => first + i);
      for (const step of steps) await Promise.all(wave.map(step));
      bar.update(first + wave.length);
    }
  } finally {
    bar.stop();
    await writer.drained();
    await storage.close();
  }
  return count.events;
}

/** A clock that advances by 1 ms at each call. */
function runningClock() {
  let now_ms = 0;
  return {
    now(): Instant {
      now_ms += 1;
      return instant(now_ms);
    },
    async sleep() {},
    set(at_ms: number) {
      now_ms = Math.max(now_ms, at_ms);
    },
  };
}

/** Uses the node's own writer instead of a connection: the log is the same and is written several times faster. */
function onWriter(writer: Writer, written: (stream: string, events: readonly SealedEvent[]) => void): EventStore {
  const bytes = (value: object) => Buffer.from(JSON.stringify(value));
  const never = () => Promise.reject(new Error('a store that is being filled is not read'));
  return {
    async append(stream, expected, events) {
      const proposals = events.map(({ id, type, data, metadata }) => ({
        id,
        type,
        json: true,
        data: bytes(data),
        metadata: bytes(metadata),
      }));
      const outcome = await writer.submit({ kind: 'append', stream, expected, events: proposals });
      if (outcome.kind !== 'done') throw new StreamConflict(stream, expected, null);
      written(stream, events);
      return { revision: BigInt(outcome.revision), position: BigInt(outcome.position ?? 0) };
    },
    read: never,
    tail: never,
    lastEvent: never,
    eventAt: never,
    all: () => {
      throw new Error('a store that is being filled is not followed');
    },
  };
}
