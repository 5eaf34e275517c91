/** A shop that reads the feed with the loop of docs/integrate/feed.md is killed again and again during all other activity. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle } from '../../commands/handle.ts';
import { projectionSets, reportsSet } from '../../projections/sets.ts';
import { lastOrdinal, listEvents } from '../../queries/feed.ts';
import type { Database } from '../../src/postgres/database.ts';
import { openLeases } from '../../src/postgres/leases.ts';
import { listen } from '../../src/postgres/listen.ts';
import { randomIds, systemClock } from '../../src/process/system.ts';
import { createAppNews } from '../../src/readmodels/paymentNews.ts';
import { runProjections } from '../../src/readmodels/projections.ts';
import { rebuild } from '../../src/readmodels/rebuild.ts';
import { type OpenEventStore, openEventStore } from '../../src/store/client.ts';
import { spawnEmbeddedNode } from '../../src/store/node/spawn.ts';
import { type World as HttpWorld, startWorld } from '../api/world.ts';
import { append, type World } from '../support/histories.ts';
import { onStop } from '../support/hooks.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { wholeLog } from '../support/readModels.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const writers = 20;
const paymentsEachMax = 1_000;
const kills = 12;

/** Returns whole numbers below a bound, the same in every run, so that a failure can be repeated. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

describe('a shop that reads the feed', () => {
  const appId = 'wallet_demo';
  let store: OpenEventStore;
  let database: Database;
  let http: HttpWorld;
  let world: World;
  const stop = new AbortController();
  const running: Promise<unknown>[] = [];

  before(async () => {
    const node = await spawnEmbeddedNode({ dataDir: temporaryDirectory() });
    onStop(() => node.stop());
    store = openEventStore({ url: node.url });
    database = await freshDatabase();
    const news = createAppNews(listen(database, ['app_events']));
    http = await startWorld({
      feed: {
        changes: news.changes,
        events: (app, page) => listEvents(database, app, page),
        lastOrdinal: (app) => lastOrdinal(database, app),
      },
    });
    const clock = { ...systemClock, advance: () => {} };
    world = { store, clock, handle: createHandle({ store, clock, ids: randomIds, codec: eventCodec }) };
    stop.signal.addEventListener('abort', news.close);
  });
  after(async () => {
    stop.abort();
    await Promise.allSettled(running);
    await http.stop();
    await store.close();
  });

  /**
   * Projections that end and restart, like processes: first at any moment, possibly before they have begun, then after
   * each set has committed something.
   */
  async function project(random: (below: number) => number): Promise<void> {
    for (let lives = 0; !stop.signal.aborted; lives += 1) {
      const end = new AbortController();
      const signal = AbortSignal.any([stop.signal, end.signal]);
      const leases = openLeases({ database, clock: systemClock });
      const committed = projectionSets.map(() => Promise.withResolvers<void>());
      const sets = projectionSets.map((set, at) =>
        runProjections({
          ...{ store, database, leases, codec: eventCodec, set, clock: systemClock, signal },
          report: ({ kind }) => kind === 'committed' && committed[at]?.resolve(),
        }),
      );
      const ended = Promise.all(sets).finally(leases.close);
      const begun = lives % 2 === 0 ? undefined : Promise.all(committed.map(({ promise }) => promise));
      await Promise.race([begun, ended]);
      await Promise.race([sleep(500 + random(2_000)), ended]);
      end.abort();
      await ended;
    }
  }

  /** Writes payments of the app and of another one, event by event. Some payments fail. */
  async function write(writer: number, on: AbortSignal): Promise<void> {
    for (let n = 0; n < paymentsEachMax && !on.aborted; n += 1) {
      const paymentId = `0198f3c2-0000-8000-80${String(writer).padStart(2, '0')}-${String(n).padStart(12, '0')}`;
      const ways = [p.done, [...p.unpaid, p.expired()], [...p.done, p.unsettled(), p.settled()]];
      const [first, ...rest] = ways[n % ways.length] ?? p.done;
      const own = { ...first?.data, paymentId, appId: writer % 4 === 3 ? 'wallet_closed' : appId };
      for (const event of [{ type: 'PaymentCreated', data: own }, ...rest]) {
        await append(world, `payment-${paymentId}`, [event]);
      }
    }
  }

  /** Ids of all events of an app's payments, in the log's order. */
  async function eventsOf(app: string): Promise<readonly string[]> {
    const log = await wholeLog(store);
    const firsts = log.filter(({ type }) => type === 'PaymentCreated');
    const its = new Set(
      firsts.filter(({ data }) => (data as { appId: string }).appId === app).map(({ stream }) => stream),
    );
    return log.filter(({ stream }) => its.has(stream)).map(({ id }) => id);
  }

  const folder = temporaryDirectory();
  const shopFile = join(folder, 'shop.db');
  const program = join(folder, 'loop.mjs');
  function startShop(): ChildProcess {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
      env: {
        PAYMENTS_URL: http.url,
        PAYMENTS_KEY: http.keys.walletAdmin['X-API-Key'],
        SHOP_DATABASE: shopFile,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    onStop(async () => void child.kill('SIGKILL'));
    return child;
  }
  const seen = (): readonly { ordinal: string; event: string }[] => {
    const shop = new DatabaseSync(shopFile, { timeout: 5_000 });
    try {
      return shop.prepare('SELECT ordinal, event FROM seen ORDER BY place').all() as never;
    } catch {
      return [];
    } finally {
      shop.close();
    }
  };

  it('reads every event of its app once and in order, though it is killed at any moment and read models are restarted and rebuilt', async () => {
    const page = readFileSync(new URL('../../docs/integrate/feed.md', import.meta.url), 'utf8');
    writeFileSync(program, /```js\n([\s\S]*?)```/.exec(page)?.[1] ?? assert.fail('no loop'));
    const random = seeded(7);
    const projecting = project(seeded(11));
    running.push(projecting);
    const writing = new AbortController();
    const written = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer, writing.signal)));

    const progress: number[] = [];
    for (let n = 0; n < kills; n += 1) {
      const shop = startShop();
      const ended = once(shop, 'exit');
      if (n === kills / 2) await rebuild({ store, database, codec: eventCodec, set: reportsSet, signal: stop.signal });
      // Half of them are killed at any moment, possibly before they have begun, the others after their first read.
      const before = seen().length;
      while (n % 2 === 0 && seen().length === before && shop.exitCode === null) {
        await Promise.race([sleep(100), projecting]);
      }
      await sleep(100 + random(1_400));
      assert.equal(shop.exitCode, null, 'the loop ended by itself');
      shop.kill('SIGKILL');
      await ended;
      progress.push(seen().length);
    }
    writing.abort();
    await Promise.race([written, projecting]);
    assert.ok(new Set(progress).size > kills / 3, `it was killed before it read anything: ${progress}`);
    const expected = await eventsOf(appId);

    const last = startShop();
    while (seen().length < expected.length) await Promise.race([sleep(100), projecting]);
    const ended = once(last, 'exit');
    last.kill('SIGKILL');
    await ended;
    assert.deepEqual(
      seen().map(({ ordinal, event }) => `${ordinal} ${event}`),
      expected.map((id, index) => `${index + 1} ${id}`),
    );
    const rebuilt = await rebuild({ store, database, codec: eventCodec, set: reportsSet, signal: stop.signal });
    const rows = await database.query<{ event_id: string }>(
      `SELECT event_id FROM ${rebuilt.schema}.app_events WHERE app_id = $1 ORDER BY ordinal`,
      [appId],
    );
    assert.deepEqual(
      rows.map(({ event_id }) => event_id),
      expected,
    );
  });
});
