import assert from 'node:assert/strict';
import { ChainBroken, eventCodec } from '../../commands/codec.ts';
import type { EventStore } from '../../commands/ports.ts';
import { type AsOf, isUpTo } from '../../domain/asOf.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { minute_ms } from '../../domain/time.ts';
import { dropReplay } from '../../projections/replays.ts';
import { reportsSet, workSet } from '../../projections/sets.ts';
import type { Database } from '../../src/postgres/database.ts';
import { type LeafChange, replay, replayStream, type StreamStep } from '../../src/readmodels/replay.ts';
import { append, createWorld, paymentIdOf, type World } from '../support/histories.ts';
import { done } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, rowsOf, wholeLog } from '../support/readModels.ts';

const stop = new AbortController();

describe('a replay', () => {
  let world: World;
  beforeEach(async () => {
    world = createWorld();
    for (const who of [1, 2]) await live(who);
  });

  async function live(who: number): Promise<void> {
    const [first, ...rest] = done;
    const own = { ...first, data: { ...first?.data, paymentId: paymentIdOf(who) } } as PaymentEvent;
    for (const event of [own, ...rest]) {
      world.clock.advance(minute_ms);
      await append(world, `payment-${paymentIdOf(who)}`, [event]);
    }
  }

  describe('over all read models', () => {
    let database: Database;
    before(async () => {
      database = await freshDatabase();
    });
    const run = (until: AsOf | null, store: EventStore = world.store, into = 'as_then') =>
      replay({ store, database, codec: eventCodec, signal: stop.signal, into, until });
    const drop = () => dropReplay(database, 'as_then');
    afterEach(drop);

    it('holds the rows that the live ones held then, and states its time', async () => {
      const all = await wholeLog(world.store);
      const middle = all[9] ?? assert.fail('no tenth event');
      for (const until of [{ position: middle.position }, { time: middle.metadata.at }]) {
        const filled = await run(until);
        assert.deepEqual([filled.position, filled.events, filled.at], [middle.position, 10n, middle.metadata.at]);
        const own = await database.query(
          'SELECT position, at, events, finished_at IS NULL AS unfinished FROM as_then.replay',
        );
        assert.deepEqual(own, [{ position: middle.position, at: middle.metadata.at, events: 10n, unfinished: false }]);
        const [said] = await database.query<{ text: string }>(
          `SELECT obj_description('as_then'::regnamespace, 'pg_namespace') AS text`,
        );
        assert.match(said?.text ?? '', new RegExp(`position ${middle.position}, .*--drop as_then`));

        const { replay: _, ...rows } = await rowsOf(database, { schema: 'as_then' } as never);
        const upTo = all.filter((event) => isUpTo(event, until));
        const live = await Promise.all(
          [workSet, reportsSet].map(async (set) => {
            return rowsOf(database, await fill(database, world.store, set, [upTo]));
          }),
        );
        assert.deepEqual(rows, Object.assign({}, ...live));
        await drop();
      }
    });

    it('continues where a crash left it, and forward to a later time, never back', async () => {
      const all = await wholeLog(world.store);
      const [early, late] = [all[4], all[10]];
      assert.ok(early && late);
      const died = await run({ position: late.position }, dyingAfter(early.position)).catch(
        (error: Error) => error.message,
      );
      assert.equal(died, 'died');
      assert.deepEqual(await database.query('SELECT events, finished_at FROM as_then.replay'), [
        { events: 5n, finished_at: null },
      ]);
      assert.equal((await run({ position: late.position })).events, 11n);
      assert.equal((await run(null)).events, 14n);
      await assert.rejects(run({ position: early.position }), /does not go back/);
      await assert.rejects(run({ time: early.metadata.at }), /does not go back/);
      assert.equal((await database.query('SELECT 1 FROM as_then.payments')).length, 2);
    });

    /** The store up to this position, one event per batch; then the connection dies. */
    const dyingAfter = (position: bigint): EventStore => ({
      ...world.store,
      async *all(options) {
        for (const event of await wholeLog(world.store)) {
          if (event.position > position) throw new Error('died');
          if (event.position > (options.after ?? -1n)) yield { events: [event], position: event.position, live: false };
        }
      },
    });

    it('touches no schema that is not its own', async () => {
      await database.query('CREATE SCHEMA IF NOT EXISTS theirs');
      for (const name of [
        'public',
        'ops',
        'work_1',
        'work_7',
        'reports_2',
        'pg_toast',
        'information_schema',
        'a"b',
        'Then',
        '',
      ]) {
        await assert.rejects(run(null, world.store, name), /cannot hold a replay/, name);
        await assert.rejects(dropReplay(database, name), /cannot hold a replay/, name);
      }
      await assert.rejects(run(null, world.store, 'theirs'), /is no replay: nothing of it is touched/);
      await assert.rejects(dropReplay(database, 'theirs'), /is no replay/);
      assert.equal(await dropReplay(database, 'nobodys'), false);
    });

    it('sends, signs and appends nothing: the log, the live rows and the due work do not change', async () => {
      for (const set of [workSet, reportsSet]) await fill(database, world.store, set, [await wholeLog(world.store)]);
      const listener = await database.connect('spec');
      const told: string[] = [];
      listener.on('notification', ({ channel }) => told.push(channel));
      for (const channel of ['projected', 'transfers', 'todo_webhooks', 'app_events'])
        await listener.query(`LISTEN ${channel}`);
      const before = await outside();
      await run(null, { ...world.store, append: () => assert.fail('a replay appends nothing') });
      assert.deepEqual(await outside(), before);
      await listener.query('SELECT 1');
      await listener.end();
      assert.deepEqual(told, []);
    });

    /** Everything in the database except the replay and the log. */
    async function outside(): Promise<object> {
      const [ops, live] = [
        await rowsOf(database, { schema: 'ops' } as never),
        await database.query('SELECT * FROM todo_webhooks'),
      ];
      return {
        ops,
        live,
        payments: await database.query('SELECT * FROM payments ORDER BY 1'),
        log: await wholeLog(world.store),
      };
    }
  });

  describe('over one stream', () => {
    const stream = `payment-${paymentIdOf(1)}`;
    const run = async (until: AsOf | null, of = stream, store: Pick<EventStore, 'read'> = world.store) => {
      const steps: StreamStep[] = [];
      for await (const step of replayStream({ store, codec: eventCodec }, of, until)) steps.push(step);
      return steps;
    };

    it('contains after each event its changes, and its previous hash', async () => {
      const steps = await run(null);
      assert.deepEqual(
        steps.map(({ stored }) => stored.type),
        done.map(({ type }) => type),
      );
      const changed = (type: string): readonly LeafChange[] =>
        steps.find(({ stored }) => stored.type === type)?.changes ?? [];
      const confirmed = changed('PayinConfirmed');
      assert.deepEqual(
        confirmed.find(({ field }) => field === 'payins[0].phase'),
        {
          field: 'payins[0].phase',
          before: 'detected',
          after: 'confirmed',
        },
      );
      assert.ok(changed('PaymentFunded').some(({ field, after }) => field === 'funded.payout' && after === '10000000'));
      for (const [index, { stored }] of steps.entries())
        assert.equal(stored.metadata.prev, steps[index - 1]?.link ?? null);
    });

    it('ends at the given time', async () => {
      const all = await run(null);
      const third = all[2] ?? assert.fail('no third event');
      for (const until of [{ position: third.stored.position }, { time: third.stored.metadata.at }])
        assert.deepEqual(await run(until), all.slice(0, 3));
      assert.deepEqual(await run({ time: '2020-01-01T00:00:00.000Z' as never }), []);
    });

    it('contains no secret, and no stream that was tampered with', async () => {
      const salt = 'ab'.repeat(32);
      const registered = { appId: 'wallet_x', developerId: null, idSalt: salt, registeredAt: world.clock.now() };
      await append(world, 'merchant-wallet_x', [{ type: 'MerchantRegistered', data: registered }]);
      const [step] = await run(null, 'merchant-wallet_x');
      assert.doesNotMatch(JSON.stringify([step?.state, step?.changes]), new RegExp(salt));

      const read: EventStore['read'] = async (...asked) =>
        (await world.store.read(...asked)).map((stored) =>
          stored.revision === 3n ? { ...stored, data: { forged: true } } : stored,
        );
      await assert.rejects(run(null, stream, { read }), ChainBroken);
      await assert.rejects(run(null, 'nothing-like-it'), /is no stream's name/);
    });
  });
});
