import assert from 'node:assert/strict';
import { type EventStore, Unavailable } from '../../commands/ports.ts';
import { openActive } from '../../projections/generations.ts';
import { projectionSets, workSet } from '../../projections/sets.ts';
import { listen } from '../../src/postgres/listen.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { projectedWaiter } from '../../src/readmodels/projections.ts';
import { append } from '../support/histories.ts';
import { created, done, expired } from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { runners } from './runners.ts';

describe('a running projection set', () => {
  const on = runners();

  it('brings earlier and later events into the public views', async () => {
    const before = await on.pay(1);
    on.start();
    await on.reach(before);
    await on.reach(await on.live(2, [created()]));
    assert.deepEqual(await on.statuses(), ['payment_payout_completed', 'payment_unpaid']);
  });

  it('continues where it was after the store was away', async () => {
    let broken = 0;
    const store: EventStore = {
      ...on.world.store,
      async *all(options) {
        for await (const batch of on.world.store.all(options)) {
          yield batch;
          broken += 1;
          if (broken < 4) throw new Unavailable('the store is away');
        }
      },
    };
    const { reports } = on.start({ store });
    await on.reach(await on.pay(1));
    await on.reach(await on.pay(2));
    assert.equal((await on.statuses()).length, 2);
    assert.ok(reports.some(({ kind }) => kind === 'retrying'));
  });

  it('announces in the log the additions of its version before it projects, and again until the store accepts it', async () => {
    await on.live(1, [created({ webhookUrl: 'https://shop.example/hook' }), expired()]);
    let asked = 0;
    const introduce = async () => {
      asked += 1;
      if (asked === 1) throw new Unavailable('the store is away');
      assert.deepEqual(await on.statuses(), []);
      await append(on.world, 'webhookTypes-introduced', [
        { type: 'WebhookTypeIntroduced', data: { eventType: 'payment_expired' } },
      ]);
    };
    await openActive(on.database, workSet, await ddlOf('work'));
    const { committed, reports } = on.start({ introduce });
    await committed;
    assert.equal(asked, 2);
    assert.equal(reports[0]?.kind, 'retrying');
  });

  it('is waited for again when Postgres has restarted after a crash without its last rows', async () => {
    on.start();
    const position = await on.pay(1);
    const projected = projectedWaiter(on.database, listen(on.database, ['projected']), 'work');
    await projected(position);
    await on.stopAll();
    await on.database.query(`UPDATE ops.projections SET position = $1 WHERE set_name = 'work' AND status = 'active'`, [
      position - 1n,
    ]);
    await assert.rejects(projected(position, { timeout_ms: 200 }), Unavailable);
  });

  it('is run by one of two runners, and the other takes over when the first is gone', async () => {
    const own = new AbortController();
    const first = on.start({ signal: own.signal });
    await on.reach(await on.pay(1));
    const second = on.start();
    await on.reach(await on.pay(2));
    assert.equal(second.reports.length, 0);

    own.abort();
    await first.ended;
    await on.reach(await on.pay(3));
    await second.committed;
    assert.equal((await on.statuses()).length, 3);
    const [row] = await on.database.query<{ events: bigint }>(
      `SELECT events FROM ops.projections WHERE set_name = 'work'`,
    );
    assert.equal(row?.events, BigInt(3 * done.length));
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
    assert.equal(shown.length, 33);
  });
});
