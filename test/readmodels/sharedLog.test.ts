import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { type EventBatchRead, type EventStore, Unavailable } from '../../commands/ports.ts';
import { sharedLog } from '../../src/readmodels/sharedLog.ts';
import { event } from '../store/events.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';

const prefixes = ['ours-'];

/** A store that counts its subscriptions, which a spec can break. A subscription delivers events first, then the caught-up signal. */
function countedStore() {
  const store = memoryEventStore();
  const open = new Set<AbortController>();
  const counted: Pick<EventStore, 'all'> = {
    async *all(options) {
      const broken = new AbortController();
      open.add(broken);
      try {
        const signal = AbortSignal.any([options.signal, broken.signal]);
        for await (const batch of store.all({ ...options, signal })) {
          yield { ...batch, live: false };
          await turn();
          if (batch.live) yield { events: [], position: batch.position, live: true };
        }
        if (broken.signal.aborted) throw new Unavailable('the connection was lost');
      } finally {
        open.delete(broken);
      }
    },
  };
  let written = 0;
  return {
    all: counted.all,
    open,
    /** @param stream another prefix: no reader here receives it */
    async write(stream = `ours-${written}`): Promise<void> {
      written += 1;
      await store.append(stream, 'no_stream', [event()]);
    },
    breakAll: () => {
      for (const each of open) each.abort();
    },
  };
}

const turns = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await turn();
};

/** Follows until it is stopped, with pauses; keeps the error that broke it. */
function reader(log: Pick<EventStore, 'all'>, pause: () => number = () => 0, after: bigint | null = null) {
  const stop = new AbortController();
  const seen: string[] = [];
  const batches: EventBatchRead[] = [];
  let failure: unknown;
  const ended = (async () => {
    for await (const batch of log.all({ after, prefixes, signal: stop.signal })) {
      batches.push(batch);
      seen.push(...batch.events.map(({ stream }) => stream));
      await turns(pause());
    }
  })().catch((error: unknown) => {
    failure = error;
  });
  return {
    seen,
    batches,
    failure: () => failure,
    async end() {
      stop.abort();
      await ended;
    },
  };
}

describe('a log with several followers', () => {
  it('is followed by one subscription once all have caught up; each receives everything, once', async () => {
    const store = countedStore();
    for (let n = 0; n < 5; n += 1) await store.write();
    const log = sharedLog(store);
    const [one, two] = [reader(log), reader(log)];
    await turns(20);
    assert.equal(store.open.size, 1);
    await store.write();
    await store.write('theirs-1');
    await store.write();
    await turns(20);
    const all = ['ours-0', 'ours-1', 'ours-2', 'ours-3', 'ours-4', 'ours-5', 'ours-7'];
    assert.deepEqual([one.seen, two.seen], [all, all]);
    assert.equal(one.batches.at(-1)?.live, true);
    assert.equal(one.batches.at(-1)?.position, two.batches.at(-1)?.position);
    assert.equal(store.open.size, 1);
    await one.end();
    await store.write();
    await turns(10);
    assert.equal(two.seen.at(-1), 'ours-8');
    await two.end();
    await turns(5);
    assert.equal(store.open.size, 0, 'who leaves last ends the subscription');
  });

  it('loses and repeats nothing, however slow a reader is, however little is kept, wherever it begins', async () => {
    const pauses = fc.infiniteStream(fc.nat(6));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ pause: pauses, joins: fc.nat(30), from: fc.nat(12) }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.record({ after: fc.nat(5), ours: fc.boolean() }), { minLength: 1, maxLength: 30 }),
        async (readers, kept, writes) => {
          const store = countedStore();
          const log = sharedLog(store, kept);
          const started = readers.map(async ({ pause, joins, from }) => {
            await turns(joins);
            // Places that the reader has recorded: the position of an event, or the log's beginning.
            const before = reader(store);
            await turns(4);
            await before.end();
            const positions = before.batches.flatMap(({ events }) => events.map(({ position }) => position));
            const after = positions[from] ?? null;
            const missed = after === null ? [] : before.seen.slice(0, from + 1);
            return { missed, reading: reader(log, () => pause.next().value ?? 0, after) };
          });
          const expected: string[] = [];
          for (const [n, { after, ours }] of writes.entries()) {
            await turns(after);
            await store.write(ours ? `ours-${n}` : `theirs-${n}`);
            if (ours) expected.push(`ours-${n}`);
          }
          for (const { missed, reading } of await Promise.all(started)) {
            for (let tries = 0; missed.length + reading.seen.length < expected.length && tries < 500; tries += 1)
              await turn();
            assert.deepEqual([...missed, ...reading.seen], expected);
            await turns(40);
            assert.equal(reading.batches.at(-1)?.live, true, 'it is told that it has caught up');
            const positions = reading.batches.map(({ position }) => position);
            assert.deepEqual(
              positions,
              positions.toSorted((a, b) => Number(a - b)),
            );
            await reading.end();
          }
          await turns(5);
          assert.equal(store.open.size, 0);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('reports a break to all followers; they may follow it again', async () => {
    const store = countedStore();
    await store.write();
    const log = sharedLog(store);
    const readers = [reader(log), reader(log)];
    await turns(20);
    store.breakAll();
    await turns(20);
    for (const { failure } of readers) assert.equal((failure() as Error | undefined)?.name, 'Unavailable');
    const again = reader(log, () => 0, readers[0]?.batches.at(-1)?.position ?? null);
    await store.write();
    await turns(20);
    assert.deepEqual(again.seen, ['ours-1']);
    await again.end();
  });

  it('is followed from its first event on if it is empty', async () => {
    const store = countedStore();
    const log = sharedLog(store);
    const readers = [reader(log), reader(log)];
    await turns(10);
    await store.write();
    await turns(20);
    for (const { seen } of readers) assert.deepEqual(seen, ['ours-0']);
    for (const each of readers) await each.end();
  });
});
