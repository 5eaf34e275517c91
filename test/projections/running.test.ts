import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { type EventStore, Unavailable } from '../../commands/ports.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { PoisonEvent } from '../../projections/commit.ts';
import { openActive, ProjectionOutdated } from '../../projections/generations.ts';
import { ofEvents, type Projection } from '../../projections/projection.ts';
import { projectionSets, reportsSet, workSet } from '../../projections/sets.ts';
import type { Database } from '../../src/postgres/database.ts';
import { listen } from '../../src/postgres/listen.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { openLeases } from '../../src/runtime/leases.ts';
import { projectedWaiter } from '../../src/runtime/projected.ts';
import { type ProjectionReport, type RunProjections, runProjections } from '../../src/runtime/projections.ts';
import { rebuild } from '../../src/runtime/rebuild.ts';
import { append, createWorld, paymentIdOf, type World } from '../support/histories.ts';
import { created, created_at, done, event, expired } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';

describe('a running projection set', () => {
  let database: Database;
  let world: World;
  let stop: AbortController;
  const running: Promise<unknown>[] = [];

  beforeEach(async () => {
    database = await freshDatabase();
    world = createWorld();
    stop = new AbortController();
  });
  const stopAll = async () => {
    stop.abort();
    await Promise.allSettled(running.splice(0));
  };
  afterEach(stopAll);

  /** Starts a runner and tells what it reports. */
  function start(more: Partial<RunProjections> = {}) {
    const reports: ProjectionReport[] = [];
    const committed = Promise.withResolvers<void>();
    const report = (told: ProjectionReport) => {
      reports.push(told);
      if (told.kind === 'committed') committed.resolve();
    };
    // Each is a process of its own.
    const leases = openLeases({ database, clock: systemClock });
    const ended = runProjections({
      store: world.store,
      database,
      leases,
      codec: eventCodec,
      set: workSet,
      clock: systemClock,
      signal: stop.signal,
      report,
      ...more,
    }).finally(leases.close);
    running.push(ended);
    ended.catch(() => {});
    return { ended, reports, committed: committed.promise };
  }

  /** A payment of its own with this history. */
  const live = (who: number, [first, ...rest]: readonly PaymentEvent[]) => {
    const own = { ...first, data: { ...first?.data, paymentId: paymentIdOf(who) } } as PaymentEvent;
    return append(world, `payment-${paymentIdOf(who)}`, [own, ...rest]);
  };
  const pay = (who: number) => live(who, done);
  const reach = (position: bigint, set = 'work') =>
    projectedWaiter(database, listen(database, ['projected']), set)(position, { timeout_ms: 20_000 });
  const statuses = async () =>
    (await database.query<{ status: string }>('SELECT status FROM payments ORDER BY payment_id')).map(
      (row) => row.status,
    );

  it('brings what was there before and what comes after into the public views', async () => {
    const before = await pay(1);
    start();
    await reach(before);
    await reach(await live(2, [created()]));
    assert.deepEqual(await statuses(), ['payment_payout_completed', 'payment_unpaid']);
  });

  it('goes on where it stood after the store was away', async () => {
    let broken = 0;
    const store: EventStore = {
      ...world.store,
      async *all(options) {
        for await (const batch of world.store.all(options)) {
          yield batch;
          broken += 1;
          if (broken < 4) throw new Unavailable('the store is away');
        }
      },
    };
    const { reports } = start({ store });
    await reach(await pay(1));
    await reach(await pay(2));
    assert.equal((await statuses()).length, 2);
    assert.ok(reports.some(({ kind }) => kind === 'retrying'));
  });

  it('tells the log what its version introduces before it projects, and again until the store takes it', async () => {
    await live(1, [created({ webhookUrl: 'https://shop.example/hook' }), expired()]);
    let asked = 0;
    const introduce = async () => {
      asked += 1;
      if (asked === 1) throw new Unavailable('the store is away');
      assert.deepEqual(await statuses(), []);
      await append(world, 'webhookTypes-introduced', [
        { type: 'WebhookTypeIntroduced', data: { eventType: 'payment_expired' } },
      ]);
    };
    await openActive(database, workSet, await ddlOf('work'));
    const { committed, reports } = start({ introduce });
    await committed;
    assert.equal(asked, 2);
    assert.equal(reports[0]?.kind, 'retrying');
  });

  it('is waited for again when Postgres came back from a crash without its last rows', async () => {
    start();
    const position = await pay(1);
    const projected = projectedWaiter(database, listen(database, ['projected']), 'work');
    await projected(position);
    await stopAll();
    await database.query(`UPDATE ops.projections SET position = $1 WHERE set_name = 'work' AND status = 'active'`, [
      position - 1n,
    ]);
    await assert.rejects(projected(position, { timeout_ms: 200 }), Unavailable);
  });

  it('stops loudly at an event that it cannot handle, after everything before it', async () => {
    await pay(1);
    const poison = event('PayoutDied', { attempt: 1, proof: { reason: 'reverted', detail: 'of no payout' } });
    const bad = await live(2, [created(), poison]);
    const { ended, reports } = start();

    await assert.rejects(ended, (error: unknown) => {
      assert.ok(error instanceof PoisonEvent);
      assert.match(error.message, /PayoutDied \(payment-.*2, revision 1\)/);
      return true;
    });
    assert.deepEqual(await statuses(), ['payment_payout_completed', 'payment_unpaid']);
    assert.equal(reports.at(-1)?.kind, 'stopped');
    const [row] = await database.query<{ stopped: string; position: bigint }>(
      `SELECT stopped, position FROM ops.projections WHERE set_name = 'work'`,
    );
    assert.match(row?.stopped ?? '', /PayoutDied/);
    assert.ok(row && row.position < bad);
  });

  it('stops at a row that names a column its table does not have', async () => {
    const misspelt: Projection = {
      name: 'misspelt',
      of: 'events',
      project: ({ stored: { stream } }) => [
        {
          op: 'upsert',
          table: 'hourly_stats',
          row: { app_id: stream, hour: created_at, volume: 1, net: 1, count: 1, cuont: 1 },
        },
      ],
    };
    await pay(1);
    const { ended } = start({ set: { ...reportsSet, projections: [misspelt] } });
    await assert.rejects(ended, (error: unknown) => {
      assert.ok(error instanceof PoisonEvent);
      assert.match(error.message, /PaymentCreated .* hourly_stats has no column cuont/);
      return true;
    });
    const [row] = await database.query<{ stopped: string; events: bigint }>(
      `SELECT stopped, events FROM ops.projections WHERE set_name = 'reports'`,
    );
    assert.match(row?.stopped ?? '', /no column cuont/);
    assert.equal(row?.events, 0n);
  });

  it('stops alone: a mistake in a report does not hold up the work', async () => {
    const mistaken = ofEvents('mistaken', ({ event: { type } }) => {
      assert.notEqual(type, 'PaymentFunded');
      return [];
    });
    const reports = start({ set: { ...reportsSet, projections: [mistaken] } });
    start();
    await reach(await pay(1));
    await assert.rejects(reports.ended, PoisonEvent);
    await reach(await pay(2));
    assert.equal((await statuses()).length, 2);
  });

  it('is run by one of two runners, and the other takes over when the first is gone', async () => {
    const own = new AbortController();
    const first = start({ signal: own.signal });
    await reach(await pay(1));
    const second = start();
    await reach(await pay(2));
    assert.equal(second.reports.length, 0);

    own.abort();
    await first.ended;
    await reach(await pay(3));
    await second.committed;
    assert.equal((await statuses()).length, 3);
    const [row] = await database.query<{ events: bigint }>(
      `SELECT events FROM ops.projections WHERE set_name = 'work'`,
    );
    assert.equal(row?.events, BigInt(3 * done.length));
  });

  it('moves on to the rebuilt generation by itself, and nothing that was visible vanishes meanwhile', async () => {
    start();
    await reach(await pay(1));
    let counted = 0;
    let writing = true;
    const watch = (async () => {
      while (writing) {
        const now = (await statuses()).length;
        assert.ok(now >= counted, `${now} payments after ${counted}`);
        counted = now;
      }
    })();
    const traffic = (async () => {
      for (let who = 2; who <= 6; who += 1) await pay(who);
    })();
    const rebuilt = await rebuild({
      store: world.store,
      database,
      codec: eventCodec,
      set: workSet,
      signal: stop.signal,
    });
    await traffic;
    await reach(await pay(7));
    writing = false;
    await watch;

    assert.equal(rebuilt.number, 2);
    assert.equal((await statuses()).length, 7);
    const generations = await database.query<{ generation: number }>(
      `SELECT generation FROM ops.projections WHERE set_name = 'work'`,
    );
    assert.deepEqual(generations, [{ generation: 2 }]);
    const comments = await database.query<{ comment: string }>(
      `SELECT obj_description('public.payments'::regclass) AS comment`,
    );
    assert.match(comments[0]?.comment ?? '', /Every payment/);
  });

  it('continues an interrupted rebuild where it stopped', async () => {
    await pay(1);
    const cut = new AbortController();
    const store = {
      ...world.store,
      async *all(options: Parameters<EventStore['all']>[0]) {
        for await (const batch of world.store.all(options)) {
          yield { ...batch, events: batch.events.slice(0, 3), position: batch.events[2]?.position ?? 0n, live: false };
          cut.abort();
        }
      },
    };
    const deps = { database, codec: eventCodec, set: workSet };
    await assert.rejects(rebuild({ ...deps, store, signal: cut.signal }));
    const again = await rebuild({ ...deps, store: world.store, signal: stop.signal });
    assert.equal(again.number, 1);
    assert.equal(again.events, BigInt(done.length));
    assert.deepEqual(await statuses(), ['payment_payout_completed']);
  });

  it('asks for a rebuild when its rows were filled by another version', async () => {
    const early = start();
    await reach(await pay(1));
    stop.abort();
    await early.ended;
    stop = new AbortController();
    const next = { ...workSet, version: workSet.version + 1 };
    await assert.rejects(start({ set: next }).ended, ProjectionOutdated);
    await rebuild({ store: world.store, database, codec: eventCodec, set: next, signal: stop.signal });
    start({ set: next });
    await reach(await pay(2));
    assert.equal((await statuses()).length, 2);
  });
});

describe('the public views', () => {
  it('explain themselves to analysts', async () => {
    const database = await freshDatabase();
    for (const set of projectionSets) await openActive(database, set, await ddlOf(set.name));
    const silent = await database.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'v' AND obj_description(oid) IS NULL`,
    );
    const shown = await database.query(
      `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'v'`,
    );
    assert.deepEqual(silent, []);
    assert.equal(shown.length, 11);
  });
});
