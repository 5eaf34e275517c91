import assert from 'node:assert/strict';
import fc from 'fast-check';
import { eventCodec } from '../../commands/codec.ts';
import { verifyHeads } from '../../commands/heads/chain.ts';
import { newestHead } from '../../commands/heads/sign.ts';
import { createHeadTree } from '../../src/postgres/headTree.ts';
import { followForHeads, open, signHeads } from '../../src/workers/heads/heads.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { memoryTree } from '../support/memoryTree.ts';
import { minute } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { isFull } from '../support/suite.ts';
import { dying, headKeys, headWorld, signal } from './headWorld.ts';

const numbersOf = (entries: readonly { readonly data: { readonly number: number } }[]) =>
  entries.map(({ data }) => data.number);

describe('the worker that signs heads', () => {
  it('signs after a number of events, or after a time when there are fewer, and nothing when nothing happened', async () => {
    const world = headWorld();
    for (const stream of ['payment-1', 'payment-2', 'payment-1', 'merchant-a', 'payment-3']) await world.grow(stream);
    const deps = world.deps();
    const held = await open(deps);
    await signHeads(deps, held, signal);
    assert.deepEqual(numbersOf(await world.entries()), [1]);
    await signHeads(deps, held, signal);
    assert.deepEqual(numbersOf(await world.entries()), [1]);
    world.time.now = minute(1);
    await signHeads(deps, held, signal);
    world.time.now = minute(9);
    await signHeads(deps, held, signal);
    assert.deepEqual(numbersOf(await world.entries()), [1, 2]);
    await world.audit();
  });

  it('continues where the head before ended, whichever process signed it', async () => {
    const world = headWorld();
    for (let round = 0; round < 6; round += 1) {
      for (const stream of ['payment-1', `payment-${round}`, 'treasury-1-a', 'link-x']) await world.grow(stream);
      await world.look();
    }
    assert.equal((await world.entries()).length, 6);
    await world.audit();
  });

  it('never forks: two instances that die anywhere, in any order, sign one chain that follows from the log', async () => {
    const step = fc.record({
      grow: fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 9 }),
      dies: fc.option(fc.nat(14), { nil: null }),
      both: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        let at = dying(Number.POSITIVE_INFINITY);
        const world = headWorld({ store: memoryEventStore({ at: (name) => at(name) }) });
        for (const { grow, dies, both } of steps) {
          at = () => {};
          for (const name of grow) await world.grow(`payment-${name}`);
          at = dying(dies ?? Number.POSITIVE_INFINITY);
          const looks = both ? [world.look(), world.look()] : [world.look()];
          await Promise.allSettled(looks);
        }
        at = () => {};
        await world.look({ every: { events: 1, duration_ms: 0 } });
        await world.audit();
      }),
      { numRuns: isFull ? 50 : 15 },
    );
  });

  it('signs the same bytes again when the tree was lost behind a head: the head remains, nothing is signed twice', async () => {
    const world = headWorld();
    for (const stream of ['payment-1', 'payment-2', 'payment-3', 'payment-4']) await world.grow(stream);
    await world.look();
    const before = await world.entries();
    await world.look({ tree: memoryTree() });
    assert.deepEqual(await world.entries(), before);
    await world.grow('payment-1');
    await world.look({ tree: memoryTree(), every: { events: 1, duration_ms: 0 } });
    assert.equal((await world.entries()).length, 2);
    await world.audit();
  });

  it('creates the tree again when its rows differ from the signed root', async () => {
    const database = await freshDatabase();
    const tree = createHeadTree(database);
    const world = headWorld({ tree });
    for (let n = 0; n < 40; n += 1) await world.grow(`payment-${n % 10}`);
    await world.look();
    assert.equal((await world.entries()).length, 10);
    await database.query(`UPDATE ops.head_leaves SET link = sha256('forged')`);
    for (let n = 0; n < 4; n += 1) await world.grow(`payment-${n}`);
    const stop = new AbortController();
    let failures = 0;
    const failed = () => {
      failures += 1;
    };
    const clock = {
      now: () => minute(0),
      sleep: async () => {
        if ((await world.entries()).length > 10) stop.abort();
      },
    };
    await followForHeads(world.deps({ clock, failed }), stop.signal);
    assert.equal(failures, 1);
    await world.audit();
  });

  it('signs no further head, and reports it, when the log differs from the signed root', async () => {
    const world = headWorld();
    for (let n = 0; n < 8; n += 1) await world.grow(`payment-${n}`);
    await world.look();
    const other = headWorld();
    for (let n = 0; n < 8; n += 1) await other.grow(`payment-${n}`);
    const forged = { ...world.store, all: other.store.all };
    const alarms: string[] = [];
    const stop = new AbortController();
    const clock = { now: () => minute(0), sleep: async () => stop.abort() };
    const deps = world.deps({
      store: forged,
      tree: memoryTree(),
      clock,
      alarm: (message) => void alarms.push(message),
    });
    await followForHeads(deps, stop.signal);
    assert.match(String(alarms), /up to position \d+ is not what head \d was signed for/);
    assert.equal((await world.entries()).length, 2);
  });

  it('lets the former key state that another follows, and signs nothing when it is missing', async () => {
    const world = headWorld();
    const every = { events: 1, duration_ms: 0 };
    await world.grow('payment-1');
    await world.look({ every });
    await world.grow('payment-1');
    await assert.rejects(world.look({ every, keys: async () => headKeys(2) }), { name: 'HeadKeyMissing' });
    await world.look({ every, keys: async () => headKeys(2, { former: [headKeys(1).current] }) });
    await world.grow('payment-1');
    await world.look({ every, keys: async () => headKeys(3, { lost: 'stolen with the machine' }) });
    const entries = await world.entries();
    const types = entries.map(({ type }) => type);
    assert.deepEqual(types, ['HeadSigned', 'HeadKeyChanged', 'HeadSigned', 'HeadKeyLost', 'HeadSigned']);
    assert.deepEqual(
      verifyHeads(entries).map(({ number, problem }) => [number, problem]),
      [[4, 'lost']],
    );
  });

  it('omits events that do not follow their predecessor, and reports them', async () => {
    const world = headWorld();
    const every = { events: 1, duration_ms: 0 };
    await world.grow('payment-1');
    await world.look({ every });
    const [event] = await world.store.read('payment-1');
    assert.ok(event);
    await world.store.append('payment-1', 0n, [{ ...event, id: 'forged', data: event.data as object }]);
    await world.look({ every });
    assert.deepEqual(world.broken, ['payment-1']);
    const head = await newestHead({ store: world.store, codec: eventCodec });
    assert.deepEqual([head?.streams, head?.events], ['1', '1']);
  });
});

describe('the tree of heads in Postgres', () => {
  it('equals the one in memory, through crashes between the head and its commit', async () => {
    let at = dying(Number.POSITIVE_INFINITY);
    const store = memoryEventStore({ at: (name) => at(name) });
    const world = headWorld({ store, tree: createHeadTree(await freshDatabase()) });
    for (let round = 0; round < 12; round += 1) {
      at = () => {};
      for (let n = 0; n < 5; n += 1) await world.grow(`payment-${(round * 7 + n) % 23}`);
      at = dying(round);
      await world.look().catch(() => {});
    }
    at = () => {};
    await Promise.allSettled([world.look(), world.look()]);
    await world.look({ every: { events: 1, duration_ms: 0 } });
    await world.audit();
    const progress = await world.tree.progress();
    assert.equal(progress?.position, BigInt((await world.entries()).at(-1)?.data.position ?? 0));
  });
});
