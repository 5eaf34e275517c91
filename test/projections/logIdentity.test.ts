/** The identity of the log that filled the read models: recognized by its last event, whatever else the store reports. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Clock, EventStore } from '../../commands/ports.ts';
import { instant } from '../../domain/time.ts';
import { compareWithLog, findLost, forgetLost, LogSetBack, refuseSetBack } from '../../src/readmodels/logSetBack.ts';
import { ForeignPosition } from '../../src/store/subscription.ts';
import { event, events } from '../store/events.ts';
import { paymentIdOf } from '../support/histories.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { runners } from './runners.ts';

interface Checkpoint {
  readonly position: bigint;
  readonly event_id: string | null;
  readonly applied_position: bigint | null;
  readonly applied_id: string | null;
}

describe('the log that filled the read models', () => {
  const on = runners();

  const checkpoint = async () => {
    const [row] = await on.database.query<Checkpoint>(
      `SELECT position, event_id, applied_position, applied_id FROM ops.projections WHERE set_name = 'work'`,
    );
    assert.ok(row);
    return row;
  };
  const others = (count: number) => on.world.store.append(`inventory-${randomUUID()}`, 'no_stream', events(count));

  /** A clock that counts sleeps and does not wait. */
  function countingClock(): Pick<Clock, 'sleep'> & { readonly sleeps: () => number } {
    let sleeps = 0;
    return {
      sleeps: () => sleeps,
      async sleep() {
        sleeps += 1;
      },
    };
  }
  const refuse = (log: EventStore, clock = countingClock()) => refuseSetBack(on.database, log, { clock });

  /** Read models that hold one payment. */
  async function filled(): Promise<Checkpoint> {
    on.start();
    await on.reach(await on.pay(1));
    await on.stopAll();
    on.stop = new AbortController();
    return checkpoint();
  }

  describe('is recognized', () => {
    it('by the id and the position of the last event in the rows', async () => {
      const { position, applied_position, event_id, applied_id } = await filled();
      const last = (await on.world.store.read(`payment-${paymentIdOf(1)}`)).at(-1);
      assert.deepEqual([position, event_id], [last?.position, last?.id]);
      assert.deepEqual([applied_position, applied_id], [last?.position, last?.id]);
      await refuse(on.world.store);
    });

    it('when the store reports a position behind the last event, which is never stored', async () => {
      const store: EventStore = {
        ...on.world.store,
        async *all(options) {
          for await (const batch of on.world.store.all(options)) yield { ...batch, position: batch.position + 236n };
        },
      };
      on.start({ store });
      const position = await on.pay(1);
      await on.reach(position);
      await on.stopAll();
      assert.equal((await checkpoint()).position, position);
      await refuse(store);
    });

    it('when a former leader answers for a moment more, from a log that ends earlier', async () => {
      await filled();
      const clock = countingClock();
      const stale: EventStore = {
        ...on.world.store,
        eventAt: async (position) => (clock.sleeps() < 5 ? null : on.world.store.eventAt(position)),
        tail: async () => (clock.sleeps() < 5 ? 0n : on.world.store.tail()),
      };
      await refuse(stale, clock);
      assert.ok(clock.sleeps() >= 5);
    });
  });

  describe('is not', () => {
    const isRefused = (log: EventStore, clock = countingClock()) =>
      assert.rejects(refuse(log, clock), (error: Error) => {
        assert.ok(error instanceof LogSetBack);
        assert.match(error.message, /Postgres knows event .* there: .* npm run rebuild -- --log-restored/);
        return true;
      });

    it('a backup that ends before that event, after a second query', async () => {
      await filled();
      const clock = countingClock();
      await isRefused(memoryEventStore(), clock);
      assert.ok(clock.sleeps() >= 10);
    });

    it('another log, however long: at that position is another event, or none', async () => {
      const { position } = await filled();
      const longer = memoryEventStore();
      for (let left = 10; left > 0; left -= 1) await longer.append(`payment-${randomUUID()}`, 'no_stream', events(10));
      assert.ok((await longer.tail()) > position);
      const clock = countingClock();
      await isRefused(longer, clock);
      const none = { ...longer, eventAt: async () => null };
      await isRefused(none, clock);
      assert.equal(clock.sleeps(), 0);
    });

    it('and a check changes nothing; the loss is named, and forgotten once', async () => {
      await filled();
      const other = memoryEventStore();
      for (let left = 10; left > 0; left -= 1)
        await other.append('payment-x', BigInt(9 - left) as 0n, []).catch(() => {});
      await other.append(`payment-${randomUUID()}`, 'no_stream', events(20));
      const end = await other.tail();
      await on.database.query(
        `INSERT INTO ops.followers VALUES ('notices', $1, 'lost', $1, 'lost'), ('other', $2, 'lost', $2, 'lost')`,
        [end - 64n, end + 64n],
      );
      const before = await checkpoint();
      await assert.rejects(compareWithLog(on.database, other, { clock: countingClock() }), LogSetBack);
      assert.deepEqual(await checkpoint(), before);
      const lost = await findLost(on.database, other, { clock: countingClock() });
      assert.deepEqual(lost.projections, ['work']);
      assert.deepEqual(lost.followers.toSorted(), ['notices', 'other']);
      await forgetLost(on.database, end, lost.followers);
      assert.deepEqual(await on.database.query('SELECT DISTINCT position, event_id, applied_id FROM ops.followers'), [
        { position: end, event_id: null, applied_id: null },
      ]);
    });
  });

  describe('with events of other applications', () => {
    it('is passed at most once a second without events of ours, and once more at the end', async () => {
      let now_ms = 1_000;
      const clock: Clock = {
        now: () => instant(now_ms),
        sleep: () => new Promise(setImmediate),
      };
      const { reports } = on.start({ clock });
      const own = await on.pay(1);
      await on.reach(own);
      const passed = (position: bigint) => async () =>
        reports.some((report) => report.kind === 'committed' && report.position >= position);
      const until = async (check: () => Promise<boolean>) => {
        while (!(await check())) await new Promise(setImmediate);
      };
      const first = await others(1);
      await until(passed(first.position));
      await until(async () => (await checkpoint()).position === first.position);
      const second = await others(3);
      await until(passed(second.position));
      assert.equal((await checkpoint()).position, first.position);
      now_ms += 1_000;
      const third = await others(1);
      await until(async () => (await checkpoint()).position === third.position);
      const fourth = await others(1);
      await until(passed(fourth.position));
      await on.stopAll();
      const { position, applied_position } = await checkpoint();
      assert.deepEqual([position, applied_position], [fourth.position, own]);
    });

    it('is read again from our last event when the passed event is gone', async () => {
      const { applied_position } = await filled();
      assert.ok(applied_position);
      await on.database.query(`UPDATE ops.projections SET position = position + 6400, event_id = 'gone'`);
      await refuse(on.world.store);
      assert.equal((await checkpoint()).position, applied_position);
      on.start();
      await on.reach(await on.pay(2));
      assert.equal((await on.statuses()).length, 2);
    });
  });

  describe('with a checkpoint of an older version', () => {
    /** Moves the position like an instance of that version. */
    const move = (by: bigint) => on.database.query('UPDATE ops.projections SET position = position + $1', [by]);

    it('loses the event beside it, which is not that of the new position', async () => {
      await filled();
      await move(64n);
      const { event_id, applied_position, applied_id } = await checkpoint();
      assert.deepEqual([event_id, applied_position, applied_id], [null, null, null]);
    });

    it('behind the last event is the right one, and known by its last event from then on', async () => {
      const right = await filled();
      await move(236n);
      await refuse(on.world.store);
      assert.deepEqual(await checkpoint(), right);
    });

    it('is followed from there when there are events behind it', async () => {
      await filled();
      const position = await on.pay(2);
      await move(1n);
      await refuse(on.world.store);
      on.start();
      await on.reach(position);
      assert.equal((await on.statuses()).length, 2);
    });

    it('is another one when the newest event of the feed is not in it', async () => {
      await filled();
      await on.database.query('UPDATE ops.projections SET position = position + 64');
      await on.database.query(
        'CREATE TABLE app_events (payment_id text, revision bigint, event_id text, at timestamptz)',
      );
      const feed = (eventId: string) =>
        on.database.query('INSERT INTO app_events VALUES ($1, 0, $2, now())', [paymentIdOf(1), eventId]);
      await feed('another');
      await assert.rejects(refuse(on.world.store), LogSetBack);
      const [first] = await on.world.store.read(`payment-${paymentIdOf(1)}`, { max: 1 });
      await feed(first?.id ?? '');
      await refuse(on.world.store);
      assert.ok((await checkpoint()).applied_id);
    });
  });

  it('is followed again from the last event when the store refuses a position that it reported itself', async () => {
    await filled();
    let refusals = 0;
    const store: EventStore = {
      ...on.world.store,
      async *all(options) {
        for await (const batch of on.world.store.all(options)) {
          yield { ...batch, position: batch.position + 236n };
          if (refusals === 3) continue;
          refusals += 1;
          throw new ForeignPosition(batch.position + 236n, 'invalid position');
        }
      },
    };
    const { reports } = on.start({ store });
    while (reports.filter(({ kind }) => kind === 'retrying').length < 3) await new Promise(setImmediate);
    await on.reach(await on.pay(2));
    assert.equal((await on.statuses()).length, 2);
  });

  it('is not filled by a runner that finds another one', async () => {
    await filled();
    const other = memoryEventStore();
    await other.append(`payment-${randomUUID()}`, 'no_stream', [...events(20), event()]);
    const { ended } = on.start({ store: other });
    await assert.rejects(ended, LogSetBack);
    const stopped = async () => {
      const [row] = await on.database.query<{ stopped: string | null }>(
        `SELECT stopped FROM ops.projections WHERE set_name = 'work'`,
      );
      return row?.stopped;
    };
    assert.match((await stopped()) ?? '', /^LogSetBack: .* npm run rebuild -- --log-restored/);

    const { committed } = on.start();
    await committed;
    assert.equal(await stopped(), null);
  });
});
