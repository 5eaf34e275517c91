import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import type { EventStore } from '../../commands/ports.ts';
import { ProjectionOutdated } from '../../projections/generations.ts';
import { workSet } from '../../projections/sets.ts';
import type { Sql } from '../../projections/sql.ts';
import { rebuild } from '../../src/readmodels/rebuild.ts';
import { done } from '../support/payments.ts';
import { runners } from './runners.ts';

describe('a rebuild beside a running projection set', () => {
  const on = runners();

  it('moves on to the rebuilt generation automatically, and nothing visible vanishes meanwhile', async () => {
    on.start();
    await on.reach(await on.pay(1));
    let counted = 0;
    let writing = true;
    const watch = (async () => {
      while (writing) {
        const now = (await on.statuses()).length;
        assert.ok(now >= counted, `${now} payments after ${counted}`);
        counted = now;
      }
    })();
    const traffic = (async () => {
      for (let who = 2; who <= 6; who += 1) await on.pay(who);
    })();
    const rebuilt = await rebuild({
      store: on.world.store,
      database: on.database,
      codec: eventCodec,
      set: workSet,
      signal: on.stop.signal,
    });
    await traffic;
    await on.reach(await on.pay(7));
    writing = false;
    await watch;

    assert.equal(rebuilt.number, 2);
    assert.equal((await on.statuses()).length, 7);
    const generations = await on.database.query<{ generation: number }>(
      `SELECT generation FROM ops.projections WHERE set_name = 'work'`,
    );
    assert.deepEqual(generations, [{ generation: 2 }]);
    const comments = await on.database.query<{ comment: string }>(
      `SELECT obj_description('public.payments'::regclass) AS comment`,
    );
    assert.match(comments[0]?.comment ?? '', /Every payment/);
  });

  it('is waited for by a runner that had looked up the generation which is dropped then', async () => {
    const position = await on.pay(1);
    const { database, world, stop } = on;
    let looked = false;
    const query: typeof database.query = async (text, values) => {
      if (!looked && text.includes('pg_class')) {
        looked = true;
        await rebuild({ store: world.store, database, codec: eventCodec, set: workSet, signal: stop.signal });
      }
      return database.query(text, values);
    };
    const runner = on.start({ database: { ...database, query } });
    await on.reach(position);
    await on.reach(await on.pay(2));
    assert.deepEqual(
      runner.reports.map(({ kind }) => kind).filter((kind) => kind !== 'committed'),
      ['retrying'],
    );
    assert.equal((await on.statuses()).length, 2);
  });

  it('is tried again when it and a reader wait for each other', async () => {
    on.start();
    await on.reach(await on.pay(1));
    const { database, world, stop } = on;
    const patient = async (tx: Sql, timeout: string) => tx.query(`SET LOCAL deadlock_timeout = '${timeout}'`);
    // Postgres cancels the statement that has waited longest: here it is the rebuild's.
    const transaction: typeof database.transaction = (work, options) =>
      database.transaction(async (tx) => {
        await patient(tx, '3s');
        return work(tx);
      }, options);
    const tables = await database.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'work_1'::regnamespace AND relkind = 'r'`,
    );
    let rebuilding: ReturnType<typeof rebuild> | undefined;
    await database.transaction(async (tx) => {
      await patient(tx, '1min');
      await tx.query(`SELECT FROM public.${tables.at(-1)?.name}`);
      rebuilding = rebuild({
        store: world.store,
        database: { ...database, transaction },
        codec: eventCodec,
        set: workSet,
        signal: stop.signal,
      });
      rebuilding.catch(() => {});
      await tx.query(`SELECT FROM public.${await takenFrom(tx)}`);
    });
    assert.equal((await rebuilding)?.number, 2);
    await on.reach(await on.pay(2));
    assert.equal((await on.statuses()).length, 2);
  });

  /** A view that is locked by a transaction which waits for another view. */
  async function takenFrom(tx: Sql): Promise<string> {
    for (;;) {
      const [held] = await tx.query<{ name: string }>(
        `SELECT c.relname AS name FROM pg_locks l JOIN pg_class c ON c.oid = l.relation AND c.relkind = 'v'
          WHERE l.mode = 'AccessExclusiveLock' AND l.granted
            AND EXISTS (SELECT FROM pg_locks w WHERE w.pid = l.pid AND NOT w.granted AND w.relation <> l.relation)`,
      );
      if (held) return held.name;
    }
  }

  it('continues an interrupted rebuild where it stopped', async () => {
    await on.pay(1);
    const cut = new AbortController();
    const store = {
      ...on.world.store,
      async *all(options: Parameters<EventStore['all']>[0]) {
        for await (const batch of on.world.store.all(options)) {
          yield { ...batch, events: batch.events.slice(0, 3), position: batch.events[2]?.position ?? 0n, live: false };
          cut.abort();
        }
      },
    };
    const deps = { database: on.database, codec: eventCodec, set: workSet };
    await assert.rejects(rebuild({ ...deps, store, signal: cut.signal }));
    const again = await rebuild({ ...deps, store: on.world.store, signal: on.stop.signal });
    assert.equal(again.number, 1);
    assert.equal(again.events, BigInt(done.length));
    assert.deepEqual(await on.statuses(), ['payment_payout_completed']);
  });

  it('requests a rebuild when its rows were filled by another version', async () => {
    const early = on.start();
    await on.reach(await on.pay(1));
    on.stop.abort();
    await early.ended;
    on.stop = new AbortController();
    const next = { ...workSet, version: workSet.version + 1 };
    const stopped = Promise.withResolvers<unknown>();
    on.start({ set: next, report: (report) => report.kind === 'stopped' && stopped.resolve(report.error) });
    assert.ok((await stopped.promise) instanceof ProjectionOutdated);
    await rebuild({
      store: on.world.store,
      database: on.database,
      codec: eventCodec,
      set: next,
      signal: on.stop.signal,
    });
    // The same runner continues: an operator need not restart the service.
    await on.reach(await on.pay(2));
    assert.equal((await on.statuses()).length, 2);
  });
});
