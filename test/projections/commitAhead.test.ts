/** A rebuild's commits: each batch is folded while the one before it is written. */
import assert from 'node:assert/strict';
import { type Codec, eventCodec } from '../../commands/codec.ts';
import { type Batch, Unavailable } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { PoisonEvent } from '../../projections/commit.ts';
import { FenceLost, type Generation, openActive } from '../../projections/generations.ts';
import { workSet } from '../../projections/sets.ts';
import type { Database } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { commitAhead } from '../../src/runtime/commitAhead.ts';
import { openCommits } from '../../src/runtime/projections.ts';
import { append, createWorld, paymentIdOf } from '../support/histories.ts';
import { done } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, rowsOf, wholeLog } from '../support/readModels.ts';

describe('commits of a log that lies ahead', () => {
  let database: Database;
  let log: readonly StoredEvent[];
  let store: Awaited<ReturnType<typeof payments>>['store'];

  before(async () => {
    ({ store } = await payments(4));
    log = await wholeLog(store);
  });
  beforeEach(async () => {
    database = await freshDatabase();
  });

  /** Three batches, whose borders lie within payments. */
  const batches = (): readonly Batch[] => {
    const third = Math.floor(log.length / 3);
    const parts = [log.slice(0, third), log.slice(third, 2 * third), log.slice(2 * third)];
    return parts.map((events, n) => ({ events, position: last(events), live: n === parts.length - 1 }));
  };
  const begin = async () => openActive(database, workSet, await ddlOf('work'));

  interface Run {
    readonly transaction?: Database['transaction'];
    readonly read?: Codec['read'];
    readonly given?: readonly Batch[];
    readonly onCommit?: (position: bigint) => void;
  }

  /** Goes on from the checkpoint. @returns where it has come to */
  async function run({
    transaction,
    read = eventCodec.read,
    given,
    onCommit = () => {},
  }: Run = {}): Promise<Generation> {
    let at = await begin();
    const deps = {
      store,
      database: { ...database, ...(transaction && { transaction }) },
      set: workSet,
      codec: { read },
      signal: new AbortController().signal,
    };
    const reopen = (generation: Generation) => openCommits(deps, generation);
    const rest = (given ?? batches()).flatMap((batch) => {
      const events = batch.events.filter(({ position }) => position > (at.position ?? 0n));
      return events.length > 0 ? [{ ...batch, events }] : [];
    });
    for await (const { generation } of commitAhead(await reopen(at), at, each(rest), reopen)) {
      at = generation;
      onCommit(at.position ?? 0n);
    }
    return at;
  }

  async function assertWhole(at: Generation): Promise<void> {
    const other = await freshDatabase();
    assert.equal(at.events, BigInt(log.length));
    assert.deepEqual(await rowsOf(database, at), await rowsOf(other, await fill(other, store, workSet, [log])));
  }

  it('make the rows that one batch after the other makes', async () => {
    const positions: bigint[] = [];
    await assertWhole(await run({ onCommit: (position) => positions.push(position) }));
    assert.deepEqual(
      positions,
      batches().map(({ position }) => position),
    );
  });

  it('fold a batch while the one before it is still being written', async () => {
    const [, second] = batches();
    const folded = Promise.withResolvers<void>();
    const read: Codec['read'] = (stored) => {
      if (stored.position === second?.position) folded.resolve();
      return eventCodec.read(stored);
    };
    let transactions = 0;
    const transaction: Database['transaction'] = (work, options) =>
      database.transaction(async (tx) => {
        transactions += 1;
        // The first one is not done before the second batch is folded.
        if (transactions === 1) await folded.promise;
        return work(tx);
      }, options);
    await assertWhole(await run({ read, transaction }));
    assert.equal(transactions, 3);
  });

  it('write no batch before the one ahead of it is committed', async () => {
    let open = 0;
    const transaction: Database['transaction'] = async (work, options) => {
      open += 1;
      assert.equal(open, 1);
      const result = await database.transaction(work, options);
      open -= 1;
      return result;
    };
    await assertWhole(await run({ transaction }));
  });

  it('fold nothing ahead at the log’s end: they are done before more is asked for', async () => {
    const committed: bigint[] = [];
    const at = await begin();
    const deps = { store, database, set: workSet, codec: eventCodec, signal: new AbortController().signal };
    const reopen = (generation: Generation) => openCommits(deps, generation);
    async function* source() {
      for (const batch of batches()) yield { ...batch, live: true };
      assert.equal(committed.length, 3);
    }
    for await (const { generation } of commitAhead(await reopen(at), at, source(), reopen)) {
      committed.push(generation.position ?? 0n);
    }
    assert.equal(committed.length, 3);
  });

  for (const when of ['before', 'after'] as const) {
    it(`lose and repeat nothing when Postgres goes away ${when} a commit, while the next batch is folded`, async () => {
      let transactions = 0;
      const transaction: Database['transaction'] = async (work, options) => {
        transactions += 1;
        if (transactions === 2 && when === 'before') throw new Unavailable('Postgres is away');
        const result = await database.transaction(work, options);
        if (transactions === 2) throw new Unavailable('Postgres is away');
        return result;
      };
      await assert.rejects(run({ transaction }), /Postgres is away/);
      assert.equal(transactions, 2);
      const [first, second] = batches();
      assert.equal((await begin()).position, when === 'before' ? first?.position : second?.position);
      await assertWhole(await run());
    });
  }

  it('end at exactly the poison, whether it lies in the batch that is written or in the one that is folded', async () => {
    for (const poison of [log[1], log.at(-2)]) {
      database = await freshDatabase();
      const read: Codec['read'] = (stored) => {
        if (stored.position === poison?.position) throw new Error('unreadable');
        return eventCodec.read(stored);
      };
      await assert.rejects(run({ read }), (error: unknown) => {
        assert.ok(error instanceof PoisonEvent);
        assert.equal(error.stored.position, poison?.position);
        return true;
      });
      const before = log[log.findIndex(({ position }) => position === poison?.position) - 1];
      assert.equal((await begin()).position, before?.position);
      await assertWhole(await run());
    }
  });

  it('end when another runner has taken the generation over, and none of their rows stay', async () => {
    const transaction: Database['transaction'] = async (work, options) => {
      await database.query('UPDATE ops.projections SET events = events + 1, position = coalesce(position, 0) + 1');
      return database.transaction(work, options);
    };
    await assert.rejects(run({ transaction }), FenceLost);
    assert.deepEqual(await database.query('SELECT FROM payments'), []);
  });

  it('have nothing under way when who reads them stops', async () => {
    let open = 0;
    const transaction: Database['transaction'] = async (work, options) => {
      open += 1;
      const result = await database.transaction(work, options);
      open -= 1;
      return result;
    };
    const onCommit = () => {
      throw new Error('seen enough');
    };
    await assert.rejects(run({ transaction, onCommit }), /seen enough/);
    assert.equal(open, 0);
  });
});

const last = (events: readonly { position: bigint }[]): bigint => events.at(-1)?.position ?? 0n;

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

/** Whole payments whose events lie between each other’s. */
async function payments(count: number) {
  const world = createWorld();
  for (const [n, event] of done.entries()) {
    for (let who = 0; who < count; who += 1) {
      const own = n === 0 ? { ...event, data: { ...event.data, paymentId: paymentIdOf(who) } } : event;
      await append(world, `payment-${paymentIdOf(who)}`, [own as never]);
    }
  }
  return world;
}
