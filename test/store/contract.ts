import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type Appended, type EventBatchRead, type EventStore, StreamConflict } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { event, events, freshCategory, idsOf } from './events.ts';

const positionOf = ({ position }: Appended): bigint => position;

/** Duties of every adapter of the EventStore port. */
export function eventStoreContract(open: () => Promise<EventStore>): void {
  let store: EventStore;
  let category: string;
  const stream = (): string => `${category}-${randomUUID()}`;

  before(async () => {
    store = await open();
  });
  beforeEach(() => {
    category = freshCategory();
  });

  describe('append', () => {
    it('begins a stream with no_stream and continues it at the exact revision', async () => {
      const name = stream();
      const first = await store.append(name, 'no_stream', events(2));
      assert.equal(first.revision, 1n);
      const second = await store.append(name, 1n, events(1));
      assert.equal(second.revision, 2n);
      assert.ok(second.position > first.position);
    });

    it('refuses any other revision and states the stream’s revision', async () => {
      const name = stream();
      const conflict = async (expected: bigint | 'no_stream', actual: bigint | null): Promise<void> => {
        await assert.rejects(store.append(name, expected, [event()]), (error) => {
          assert.ok(error instanceof StreamConflict);
          assert.deepEqual([error.stream, error.expected, error.actual], [name, expected, actual]);
          return true;
        });
      };
      await conflict(0n, null);
      await store.append(name, 'no_stream', events(3));
      await conflict('no_stream', 2n);
      await conflict(0n, 2n);
      await conflict(7n, 2n);
      assert.equal((await store.read(name)).length, 3);
    });

    it('answers the identical append again as it did at first, and writes nothing', async () => {
      const name = stream();
      const [first, second] = [events(2), events(3)];
      const answers = [await store.append(name, 'no_stream', first), await store.append(name, 1n, second)];
      assert.deepEqual(await store.append(name, 'no_stream', first), answers[0]);
      assert.deepEqual(await store.append(name, 1n, second), answers[1]);
      assert.deepEqual(idsOf(await store.read(name)), idsOf([...first, ...second]));
    });

    it('treats a partly known append as another one', async () => {
      const name = stream();
      const [a, b] = [event(), event()];
      await store.append(name, 'no_stream', [a]);
      await assert.rejects(store.append(name, 'no_stream', [a, b]), StreamConflict);
      await store.append(name, 0n, [b]);
      await assert.rejects(store.append(name, 'no_stream', [a, event()]), StreamConflict);
      assert.deepEqual(await store.append(name, 'no_stream', [a, b]), await store.append(name, 0n, [b]));
    });

    it('lets exactly one of many competing appends win', async () => {
      const name = stream();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, () => store.append(name, 'no_stream', [event()])),
      );
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      assert.equal((await store.read(name)).length, 1);
    });

    it('never appends nothing', async () => {
      await assert.rejects(store.append(stream(), 'no_stream', []), { name: 'InvariantBroken' });
    });
  });

  describe('read', () => {
    it('returns stored events', async () => {
      const name = stream();
      const data = { text: 'ü€\u0000💶', list: [1, null, { deep: true }], amount: '100000000000000000000' };
      const written = event('Described', data);
      const { position } = await store.append(name, 'no_stream', [written]);
      assert.deepEqual(await store.read(name), [{ ...written, stream: name, revision: 0n, position }]);
    });

    it('is empty for a stream that does not exist', async () => {
      assert.deepEqual(await store.read(stream()), []);
    });

    it('goes both ways, from a revision, inclusive, and stops at max', async () => {
      const name = stream();
      await store.append(name, 'no_stream', events(5));
      const revisions = async (options: Parameters<EventStore['read']>[1]): Promise<bigint[]> =>
        (await store.read(name, options)).map(({ revision }) => revision);
      assert.deepEqual(await revisions({}), [0n, 1n, 2n, 3n, 4n]);
      assert.deepEqual(await revisions({ from: 3n }), [3n, 4n]);
      assert.deepEqual(await revisions({ from: 1n, max: 2 }), [1n, 2n]);
      assert.deepEqual(await revisions({ from: 9n }), []);
      assert.deepEqual(await revisions({ backwards: true }), [4n, 3n, 2n, 1n, 0n]);
      assert.deepEqual(await revisions({ backwards: true, from: 3n, max: 2 }), [3n, 2n]);
      assert.deepEqual(await revisions({ backwards: true, from: 9n, max: 1 }), [4n]);
    });
  });

  describe('all', () => {
    /** Reads batches until `enough` returns true, then stops. */
    async function follow(
      after: bigint | null,
      enough: (events: readonly StoredEvent[], batch: EventBatchRead) => boolean,
      prefixes = [`${category}-`],
    ): Promise<{ events: readonly StoredEvent[]; batches: readonly EventBatchRead[] }> {
      const leave = new AbortController();
      const batches: EventBatchRead[] = [];
      const seen: StoredEvent[] = [];
      for await (const batch of store.all({ after, prefixes, signal: leave.signal })) {
        batches.push(batch);
        seen.push(...batch.events);
        if (enough(seen, batch)) leave.abort();
      }
      return { events: seen, batches };
    }
    const untilLive = (_: unknown, batch: EventBatchRead): boolean => batch.live;

    it('catches up in log order with the streams of its prefixes only, then is live', async () => {
      const [one, other] = [stream(), `other${stream()}`];
      await store.append(one, 'no_stream', events(3));
      await store.append(other, 'no_stream', events(2));
      await store.append(one, 2n, events(1));
      const { events: seen, batches } = await follow(null, untilLive);
      assert.deepEqual(seen, await store.read(one));
      assert.equal(batches.at(-1)?.live, true);
      assert.deepEqual(idsOf((await follow(null, untilLive, [`${category}-`, `other${category}-`])).events).length, 6);
    });

    it('continues strictly after a position', async () => {
      const name = stream();
      const { position } = await store.append(name, 'no_stream', events(3));
      const { events: later } = await follow(position, untilLive);
      assert.deepEqual(later, []);
      const [, second] = await store.read(name);
      assert.deepEqual(
        idsOf((await follow(second!.position, untilLive)).events),
        idsOf(await store.read(name)).slice(2),
      );
    });

    it('delivers what is appended while it is live, once and in order', async () => {
      const name = stream();
      let appended = false;
      const { events: seen } = await follow(null, (list, batch) => {
        if (batch.live && !appended) {
          appended = true;
          void (async () => {
            for (let n = 0; n < 50; n++) await store.append(name, n === 0 ? 'no_stream' : BigInt(n - 1), events(1));
          })();
        }
        return list.length === 50;
      });
      assert.deepEqual(seen, await store.read(name));
    });

    it('never reports a position ahead of its events, and always advances', async () => {
      const writers = Array.from({ length: 20 }, async () => {
        const name = stream();
        for (let n = 0; n < 20; n++) await store.append(name, n === 0 ? 'no_stream' : BigInt(3 * n - 1), events(3));
      });
      const seen: StoredEvent[] = [];
      let position: bigint | null = null;
      while (seen.length < 1_200) {
        // Stops after each batch and continues at its position, like a consumer that crashes.
        const { batches } = await follow(position, (list) => list.length > 0);
        for (const batch of batches) {
          assert.ok(batch.position >= (position ?? 0n));
          for (const { position: at } of batch.events) assert.ok(at > (position ?? 0n) && at <= batch.position);
          seen.push(...batch.events);
          position = batch.position;
        }
      }
      await Promise.all(writers);
      assert.equal(new Set(idsOf(seen)).size, 1_200);
      assert.equal(seen.length, 1_200);
    });

    it('reaches the end of the log even when the last events are none of its own', async () => {
      await store.append(`other${stream()}`, 'no_stream', events(3));
      let end: Promise<bigint> | undefined;
      let reached = 0n;
      const leave = new AbortController();
      for await (const batch of store.all({ after: null, prefixes: [`${category}-`], signal: leave.signal })) {
        // The batch at the end can arrive before the answer to the append: each batch waits for that answer.
        reached = batch.position;
        if (end !== undefined && reached >= (await end)) leave.abort();
        else if (batch.live) end ??= store.append(`other${stream()}`, 'no_stream', events(1)).then(positionOf);
      }
      assert.ok(end !== undefined && reached >= (await end));
    });

    it('ends at once when it was aborted before it began', async () => {
      const batches = store.all({ after: null, prefixes: ['x'], signal: AbortSignal.abort() });
      for await (const batch of batches) assert.fail(`${batch.events.length} events after the end`);
    });
  });

  describe('tail', () => {
    it('is the position of the last event', async () => {
      const { position } = await store.append(stream(), 'no_stream', events(2));
      assert.ok((await store.tail()) >= position);
    });
  });

  describe('lastEvent', () => {
    it('is the newest event of the named streams, whatever others have written since', async () => {
      const [own, other] = [stream(), `other${stream()}`];
      const appended = events(2);
      const { position } = await store.append(own, 'no_stream', appended);
      const last = { position, eventId: appended[1]?.id };
      assert.deepEqual(await store.lastEvent([own]), last);
      await store.append(other, 'no_stream', events(3));
      assert.deepEqual(await store.lastEvent([own]), last);
      assert.deepEqual(await store.lastEvent([other, own], position - 1n), await store.lastEvent([other]));
    });

    it('is none if the newest of these streams is no later than the position', async () => {
      const [own, other] = [stream(), `other${stream()}`];
      const first = await store.append(own, 'no_stream', events(1));
      await store.append(other, 'no_stream', events(3));
      assert.equal(await store.lastEvent([own], first.position), null);
      assert.equal(await store.lastEvent(['nobody-']), null);
      const [second] = events(1);
      assert.ok(second);
      const { position } = await store.append(own, 0n, [second]);
      await store.append(other, 2n, events(1));
      assert.deepEqual(await store.lastEvent([own], first.position), { position, eventId: second.id });
    });
  });

  describe('eventAt', () => {
    it('is the event at exactly this position, and none between events or behind the last', async () => {
      const [first, second] = events(2);
      assert.ok(first && second);
      const { position } = await store.append(stream(), 'no_stream', [first, second]);
      assert.deepEqual(await store.eventAt(position), { position, eventId: second.id });
      assert.equal(await store.eventAt(position - 1n), null);
      assert.equal(await store.eventAt(position + 1n), null);
      assert.equal(await store.eventAt((await store.tail()) + 1_000_000n), null);
      assert.equal(await store.eventAt(0n), null);
    });
  });
}
