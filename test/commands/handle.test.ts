import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Codec, verifyChain } from '../../commands/codec.ts';
import { createHandle, type Facts, readStream } from '../../commands/handle.ts';
import { type EventStore, NewerEvent, StreamConflict, Unavailable } from '../../commands/ports.ts';
import { type Decider, type Decision, refuse } from '../../domain/decider.ts';
import { randomIds } from '../../src/process/system.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { minute } from '../support/payments.ts';
import { accepted, Crashed, crashAt, noting, processes } from '../support/processes.ts';

/** A box that takes up to five balls of different names. */
interface Put {
  readonly type: 'Put';
  readonly data: { readonly ball: string };
}
type Box = readonly string[];
const box: Decider<Box, Put> = { category: 'box', initial: [], evolve: (balls, { data }) => [...balls, data.ball] };
const roomFor = 5;
const put =
  (ball: string) =>
  (balls: Box): Decision<Put> => {
    if (balls.includes(ball)) return [];
    return balls.length < roomFor ? [{ type: 'Put', data: { ball } }] : refuse('forbidden', 'the box is full');
  };

const codec: Codec = {
  schemaVersion: () => 3,
  check: (_, { data }) => assert.ok('ball' in data, 'only balls are put'),
  read(stored) {
    if (stored.type !== 'Put') throw new NewerEvent(stored);
    return { type: stored.type, data: stored.data as object };
  },
};
const facts: Facts = { cause: 'worker:test', appId: 'wallet_demo' };

/** Counts reads, so that the effect of a cache is visible. */
function counted(inner: EventStore = memoryEventStore()) {
  const counts = { reads: 0, appends: 0 };
  const store: EventStore = {
    ...inner,
    read: (...args) => {
      counts.reads += 1;
      return inner.read(...args);
    },
    append: (...args) => {
      counts.appends += 1;
      return inner.append(...args);
    },
  };
  return { store, counts };
}

function world(inner?: EventStore) {
  const { store, counts } = counted(inner);
  const world = processes({ store });
  const start = (more = {}) => world.start({ codec, ...more });
  const lastIn = async (stream: string) => (await world.store.read(stream)).at(-1)?.id;
  return { ...world, start, counts, lastIn, handle: start() };
}

describe('handling a command', () => {
  it('appends the decision and returns the state, the revision and the place in the log', async () => {
    const { handle, store, lastIn } = world();
    const first = await handle(box, 'a', put('red'), facts);
    assert.deepEqual(first, {
      state: ['red'],
      revision: 0n,
      lastEventId: await lastIn('box-a'),
      position: await store.tail(),
      at: minute(0),
      appended: 1,
    });
    const second = await handle(box, 'a', put('blue'), facts);
    assert.deepEqual(second, {
      state: ['red', 'blue'],
      revision: 1n,
      lastEventId: await lastIn('box-a'),
      position: await store.tail(),
      at: minute(0),
      appended: 1,
    });
  });

  it('seals each event: when, why, for whom, in which schema, behind which', async () => {
    const { handle, store, time } = world();
    await handle(box, 'a', () => ['red', 'blue'].map((ball): Put => ({ type: 'Put', data: { ball } })), facts);
    time.now = minute(5);
    await handle(box, 'a', put('green'), facts);
    const events = await store.read('box-a');
    assert.deepEqual(
      events.map(({ metadata: { prev, ...rest } }) => rest),
      [minute(0), minute(0), minute(5)].map((at) => ({
        at,
        cause: 'worker:test',
        appId: 'wallet_demo',
        schemaVersion: 3,
      })),
    );
    assert.equal(verifyChain(events), null);
    assert.equal(new Set(events.map(({ id }) => id)).size, 3);
  });

  it('gives its one event the id of the caller, who finds it later', async () => {
    const { handle } = world();
    const eventId = '8f5a0a4e-6a0e-4c38-9c37-3f1f6fbf0d52';
    await handle(box, 'a', put('red'), { ...facts, eventId });
    const met = await accepted(handle(box, 'a', () => [], facts));
    assert.equal(met.lastEventId, eventId);
  });

  it('writes nothing if it is already done or refused', async () => {
    const { handle, typesIn, lastIn } = world();
    await handle(box, 'a', put('red'), facts);
    const again = await handle(box, 'a', put('red'), facts);
    assert.deepEqual(again, {
      state: ['red'],
      revision: 0n,
      lastEventId: await lastIn('box-a'),
      position: null,
      at: minute(0),
      appended: 0,
    });
    const nothing = await handle(box, 'b', () => [], facts);
    assert.deepEqual(nothing, { state: [], revision: null, lastEventId: null, position: null, at: null, appended: 0 });
    assert.deepEqual(await handle(box, 'b', () => refuse('forbidden', 'no'), facts), refuse('forbidden', 'no'));
    assert.deepEqual(await typesIn('box-b'), []);
  });

  it('stores no event that does not fit its schema', async () => {
    const { handle, typesIn } = world();
    const wrong = () => [{ type: 'Put', data: {} }] as unknown as Put[];
    await assert.rejects(handle(box, 'a', wrong, facts), /only balls/);
    assert.deepEqual(await typesIn('box-a'), []);
  });

  it('decides nothing on a stream with an event of a newer version, not even from a cached state', async () => {
    const { handle, start, typesIn } = world();
    await handle(box, 'a', put('red'), facts);
    await start()(box, 'a', () => [{ type: 'Shaken', data: { ball: '' } }] as unknown as Put[], facts);
    for (const deciding of [start(), handle, handle]) {
      await assert.rejects(deciding(box, 'a', put('blue'), facts), NewerEvent);
      await assert.rejects(
        deciding(box, 'a', () => refuse('forbidden', 'no'), facts),
        NewerEvent,
      );
    }
    assert.deepEqual(await typesIn('box-a'), ['Put', 'Shaken']);
  });

  describe('from a cached state', () => {
    // A box from which another process removes the balls.
    const emptied: Decider<Box, Put> = {
      ...box,
      evolve: (balls, e) => (e.data.ball === 'none' ? [] : box.evolve(balls, e)),
    };

    it('needs no read while no other process decides', async () => {
      const { handle, counts } = world();
      await handle(box, 'a', put('red'), facts);
      const { reads } = counts;
      await handle(box, 'a', put('blue'), facts);
      assert.equal(counts.reads, reads);
    });

    it('never uses it for a refusal', async () => {
      const { handle, start } = world();
      for (const ball of ['1', '2', '3', '4', '5']) await handle(emptied, 'a', put(ball), facts);
      await start()(emptied, 'a', () => [{ type: 'Put', data: { ball: 'none' } }], facts);
      assert.deepEqual((await accepted(handle(emptied, 'a', put('6'), facts))).state, ['6']);
    });

    it('never uses it for "already done"', async () => {
      const { handle, start } = world();
      await handle(emptied, 'a', put('red'), facts);
      await start()(emptied, 'a', () => [{ type: 'Put', data: { ball: 'none' } }], facts);
      assert.equal((await accepted(handle(emptied, 'a', put('red'), facts))).appended, 1);
    });

    it('uses it where the caller allows that, and reads if nothing is known', async () => {
      const { handle, start, counts } = world();
      await handle(box, 'a', put('red'), facts);
      await start()(box, 'a', put('blue'), facts);
      const { reads } = counts;
      const known = await accepted(handle(box, 'a', () => [], { ...facts, asKnown: true }));
      assert.deepEqual([known.state, counts.reads - reads], [['red'], 0]);
      const other = await accepted(start()(box, 'a', () => [], { ...facts, asKnown: true }));
      assert.deepEqual([other.state, counts.reads - reads], [['red', 'blue'], 1]);
      assert.deepEqual((await accepted(handle(box, 'a', put('green'), facts))).state, ['red', 'blue', 'green']);
    });

    it('decides again from a fresh read when another process appended first', async () => {
      const { handle, start } = world();
      await handle(box, 'a', put('red'), facts);
      await start()(box, 'a', put('blue'), facts);
      assert.deepEqual((await accepted(handle(box, 'a', put('green'), facts))).state, ['red', 'blue', 'green']);
      assert.deepEqual((await accepted(handle(box, 'a', put('blue'), facts))).appended, 0);
    });

    describe('continues reading behind the cached state', () => {
      /** A log that can be replaced by another one, as in a restore; returns the place of each read. */
      function replaceable() {
        let log = memoryEventStore();
        const from: (bigint | undefined)[] = [];
        const inner: EventStore = {
          append: (...args) => log.append(...args),
          read(stream, options) {
            from.push(options?.from);
            return log.read(stream, options);
          },
          all: (options) => log.all(options),
          tail: () => log.tail(),
          lastEvent: (prefixes, after) => log.lastEvent(prefixes, after),
          eventAt: (position) => log.eventAt(position),
        };
        const replace = (): EventStore => {
          log = memoryEventStore();
          return log;
        };
        return { ...world(inner), from, replace };
      }
      const nothing = () => [];

      it('and no more', async () => {
        const { handle, start, from } = replaceable();
        for (const ball of ['red', 'blue']) await handle(box, 'a', put(ball), facts);
        await start()(box, 'a', put('green'), facts);
        from.length = 0;
        const read = await accepted(handle(box, 'a', nothing, facts));
        assert.deepEqual([read.state, read.revision, from], [['red', 'blue', 'green'], 2n, [1n]]);
      });

      it('after another process appended first', async () => {
        const { handle, start, from } = replaceable();
        await handle(box, 'a', put('red'), facts);
        await start()(box, 'a', put('blue'), facts);
        from.length = 0;
        assert.equal((await accepted(handle(box, 'a', put('green'), facts))).revision, 2n);
        assert.deepEqual(from, [0n]);
      });

      it('from the beginning when the log ends earlier, or differs', async () => {
        const { handle, replace } = replaceable();
        for (const ball of ['red', 'blue']) await handle(box, 'a', put(ball), facts);
        const shorter = replace();
        await processes({ store: shorter }).start({ codec })(box, 'a', put('green'), facts);
        assert.deepEqual((await accepted(handle(box, 'a', nothing, facts))).state, ['green']);
        const other = replace();
        for (const ball of ['one', 'two'])
          await processes({ store: other }).start({ codec })(box, 'a', put(ball), facts);
        assert.deepEqual((await accepted(handle(box, 'a', put('red'), facts))).state, ['one', 'two', 'red']);
        replace();
        assert.deepEqual((await accepted(handle(box, 'a', nothing, facts))).state, []);
      });

      it('from the beginning when more events arrived than a page holds', async () => {
        const { handle, start } = replaceable();
        const balls = Array.from({ length: 600 }, (_, i) => `${i}`);
        await handle(box, 'a', put('red'), facts);
        await start()(box, 'a', () => balls.map((ball): Put => ({ type: 'Put', data: { ball } })), facts);
        assert.deepEqual((await accepted(handle(box, 'a', nothing, facts))).state, ['red', ...balls]);
      });

      it('and decides nothing on events that are not chained to it', async () => {
        const { handle, store, typesIn } = replaceable();
        await handle(box, 'a', put('red'), facts);
        const metadata = { prev: 'f'.repeat(64), at: minute(0), cause: 'worker:test', appId: null, schemaVersion: 3 };
        await store.append('box-a', 0n, [
          { id: randomIds.eventId(), type: 'Put', data: { ball: 'blue' }, metadata: metadata as never },
        ]);
        await assert.rejects(handle(box, 'a', put('red'), facts), { name: 'ChainBroken' });
        await assert.rejects(handle(box, 'a', put('green'), facts), { name: 'ChainBroken' });
        assert.deepEqual(await typesIn('box-a'), ['Put', 'Put']);
      });
    });

    it('keeps a bounded number of streams', async () => {
      const { start, counts } = world();
      const handle = start({ cachedStreams: 1 });
      for (const instance of ['a', 'b', 'c']) await handle(box, instance, put('red'), facts);
      const readsFor = async (instance: string) => {
        const before = counts.reads;
        await handle(box, instance, put('blue'), facts);
        return counts.reads - before;
      };
      assert.deepEqual([await readsFor('c'), await readsFor('b'), await readsFor('a')], [0, 0, 1]);
    });
  });

  describe('in a stream that should be new', () => {
    it('appends without a read', async () => {
      const { handle, counts } = world();
      await handle(box, 'a', put('red'), { ...facts, expectNew: true });
      assert.deepEqual(counts, { reads: 0, appends: 1 });
    });

    it('finds the existing events if it is not', async () => {
      const { start, handle, lastIn } = world();
      await start()(box, 'a', put('red'), facts);
      const met = await accepted(handle(box, 'a', put('red'), { ...facts, expectNew: true }));
      assert.deepEqual(met, {
        state: ['red'],
        revision: 0n,
        lastEventId: await lastIn('box-a'),
        position: null,
        at: minute(0),
        appended: 0,
      });
    });

    it('does not try to append an event that it knows to be there', async () => {
      const { handle, counts } = world();
      const isNew = { ...facts, expectNew: true };
      for (let times = 0; times < 2; times += 1) await handle(box, 'a', put('red'), isNew);
      assert.deepEqual(counts, { reads: 1, appends: 1 });
    });

    it('refuses only after a read', async () => {
      const { handle, counts } = world();
      await handle(box, 'a', () => refuse('forbidden', 'no'), { ...facts, expectNew: true });
      assert.equal(counts.reads, 1);
    });
  });

  describe('under concurrency', () => {
    it('makes each decision once, whatever the order of steps', async () => {
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), async (order) => {
          const inner = memoryEventStore({ at: (name) => order.schedule(Promise.resolve(), name).then(() => {}) });
          const { start } = world(inner);
          const [one, other] = [start(), start()];
          const answers = Promise.all([
            one(box, 'a', put('red'), { ...facts, expectNew: true }),
            other(box, 'a', put('red'), { ...facts, expectNew: true }),
            one(box, 'a', put('blue'), facts),
            other(box, 'a', put('green'), facts),
          ]);
          await order.waitIdle();
          const handled = await answers;
          const appended = handled.map((answer) => ('refused' in answer ? 0 : answer.appended));
          const events = inner.read('box-a');
          await order.waitIdle();
          assert.equal(
            appended.reduce((sum, count) => sum + count, 0),
            3,
          );
          assert.deepEqual((await events).map(({ data }) => (data as Put['data']).ball).sort(), [
            'blue',
            'green',
            'red',
          ]);
          assert.equal(verifyChain(await events), null);
        }),
        { numRuns: 100 },
      );
    });

    it('gives up after a bounded number of conflicts, and states when to try again', async () => {
      const { store, counts } = counted({
        ...memoryEventStore(),
        append: async (stream, expected) => {
          throw new StreamConflict(stream, expected, 9n);
        },
      });
      const pauses: number[] = [];
      const clock = { now: () => minute(0), sleep: async (duration_ms: number) => void pauses.push(duration_ms) };
      const handle = createHandle({ store, clock, ids: randomIds, codec });
      await assert.rejects(
        handle(box, 'a', put('red'), facts),
        (error) => error instanceof Unavailable && error.retryAfter_s > 0,
      );
      assert.equal(counts.appends, 8);
      assert.deepEqual(
        pauses,
        [...pauses].sort((a, b) => a - b),
        'it waits longer each time',
      );
    });
  });

  describe('during failures', () => {
    it('passes each append’s crash points by the names of its events', async () => {
      const points: string[] = [];
      const { start } = world();
      await start({ crash: noting(points) })(box, 'a', put('red'), facts);
      assert.deepEqual(points, ['Put.beforeAppend', 'Put.afterAppend']);
    });

    it('has done nothing or all of it, and the next run finds that', async () => {
      for (const [point, appendedNext] of [
        ['Put.beforeAppend', 1],
        ['Put.afterAppend', 0],
      ] as const) {
        const { start, typesIn } = world();
        await assert.rejects(start({ crash: crashAt(point) })(box, 'a', put('red'), facts), Crashed);
        assert.equal((await accepted(start()(box, 'a', put('red'), facts))).appended, appendedNext, point);
        assert.deepEqual(await typesIn('box-a'), ['Put']);
      }
    });

    it('forgets the state of a stream when the store fails', async () => {
      let broken = false;
      const inner = memoryEventStore();
      const { handle, counts } = world({
        ...inner,
        append: async (...args) => {
          if (broken) throw new Unavailable('the store is away');
          return inner.append(...args);
        },
      });
      await handle(box, 'a', put('red'), facts);
      broken = true;
      await assert.rejects(handle(box, 'a', put('blue'), facts), Unavailable);
      broken = false;
      const { reads } = counts;
      await handle(box, 'a', put('blue'), facts);
      assert.equal(counts.reads, reads + 1);
    });
  });

  it('treats the end of a stream as truncated when older events were hidden: it has as many events as requested, or all', async () => {
    const { start, store } = world();
    for (const ball of ['1', '2', '3']) await start()(box, 'a', put(ball), facts);
    const hiding: Pick<EventStore, 'read'> = {
      read: async (stream, options) => (await store.read(stream, options)).filter(({ revision }) => revision > 0n),
    };
    assert.equal((await readStream(hiding, 'box-a', { window: 2 })).length, 2);
    assert.equal((await readStream(store, 'box-a', { window: 10 })).length, 3);
    await assert.rejects(readStream(hiding, 'box-a', { window: 10 }), { name: 'ChainBroken' });
  });

  it('reads only the end of a stream where that is enough, and the hash chain continues', async () => {
    const { start, store } = world();
    const latest: Decider<Box, Put> = { ...box, window: 2, evolve: (balls, e) => [...balls, e.data.ball].slice(-2) };
    for (const ball of ['1', '2', '3', '4']) await start()(latest, 'a', put(ball), facts);
    const read = await accepted(start()(latest, 'a', () => [], facts));
    assert.deepEqual([read.state, read.revision], [['3', '4'], 3n]);
    assert.equal(verifyChain(await store.read('box-a')), null);
  });

  it('reads streams of more than one page', async () => {
    const { handle, start } = world();
    const balls = Array.from({ length: 1_201 }, (_, i) => `${i}`);
    await handle(box, 'a', () => balls.map((ball): Put => ({ type: 'Put', data: { ball } })), facts);
    const read = await accepted(start()(box, 'a', () => [], facts));
    assert.deepEqual([read.state, read.revision], [balls, 1_200n]);
  });
});
