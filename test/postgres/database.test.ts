import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { filter, firstValueFrom, take, tap, toArray } from 'rxjs';
import { Unavailable } from '../../commands/ports.ts';
import { type PostgresServer, startPostgres } from '../../sandbox/postgres.ts';
import { type Database, openDatabase } from '../../src/postgres/database.ts';
import { listen, type Notification } from '../../src/postgres/listen.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { freshDatabase } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

describe('the database', () => {
  let database: Database;
  before(async () => {
    database = await freshDatabase();
    await database.query('CREATE TABLE notes (note text PRIMARY KEY)');
  });
  beforeEach(() => database.query('TRUNCATE notes'));
  const notes = () => database.query('SELECT note FROM notes');

  it('returns big numbers as bigint, amounts as text with their places, times as ISO text', async () => {
    const [row] = await database.query(
      `SELECT 9007199254740993::bigint AS big, 10.00::numeric AS amount, '2026-11-21 10:00+01'::timestamptz AS at`,
    );
    assert.deepEqual(row, { big: 9007199254740993n, amount: '10.00', at: '2026-11-21T09:00:00.000Z' });
  });

  it('stores and finds text with characters that Postgres cannot hold', async () => {
    await database.query('INSERT INTO notes SELECT unnest($1::text[])', [['order \0', 'lone \ud800']]);
    assert.deepEqual(await notes(), [{ note: 'order \ufffd' }, { note: 'lone \ufffd' }]);
    assert.deepEqual(await database.query('SELECT note FROM notes WHERE note = $1', ['order \0']), [
      { note: 'order \ufffd' },
    ]);
  });

  it('keeps all of a transaction or nothing', async () => {
    const failed = database.transaction(async (tx) => {
      await tx.query(`INSERT INTO notes VALUES ('half')`);
      throw new Error('no');
    });
    await assert.rejects(failed, /no/);
    assert.deepEqual(await notes(), []);
    await database.transaction((tx) => tx.query(`INSERT INTO notes VALUES ('whole')`));
    assert.deepEqual(await notes(), [{ note: 'whole' }]);
  });

  it('runs concurrent statements of a transaction in order, and fails as the first that failed', async () => {
    const told = await database.transaction((tx) =>
      Promise.all([
        tx.query(`INSERT INTO notes VALUES ('first')`),
        tx.query(`UPDATE notes SET note = 'second' WHERE note = $1`, ['first'], { prepared: true }),
        tx.query('SELECT note FROM notes'),
      ]),
    );
    assert.deepEqual(told, [[], [], [{ note: 'second' }]]);

    const failed = database.transaction((tx) =>
      Promise.all([
        tx.query(`INSERT INTO notes VALUES ('third')`),
        tx.query(`INSERT INTO notes VALUES ('second')`),
        tx.query(`INSERT INTO notes VALUES ('fourth')`),
      ]),
    );
    await assert.rejects(failed, /duplicate key/);
    assert.deepEqual(await notes(), [{ note: 'second' }]);
  });

  it('accepts no statement behind the end of a transaction', async () => {
    let late = () => Promise.resolve<unknown>(undefined);
    const failed = database.transaction(async (tx) => {
      late = () => tx.query(`INSERT INTO notes VALUES ('late')`);
      throw new Error('no');
    });
    await assert.rejects(failed, /no/);
    await assert.rejects(late(), /behind the end/);
    assert.deepEqual(await notes(), []);
  });

  it('distinguishes an outage from a mistake', async () => {
    await assert.rejects(database.query('SELECT mistake'), (error: Error) => error.name !== 'Unavailable');
    const impatient = openDatabase({ url: database.url, statementTimeout_ms: 50 });
    await assert.rejects(impatient.query('SELECT pg_sleep(10)'), Unavailable);
    await impatient.close();
    const nowhere = openDatabase({ url: 'postgres://nobody@127.0.0.1:9/nothing' });
    await assert.rejects(nowhere.query('SELECT 1'), Unavailable);
    await assert.rejects(
      nowhere.transaction(async () => {}),
      Unavailable,
    );
    await assert.rejects(nowhere.connect('x'), Unavailable);
    await nowhere.close();
  });

  it('is migrated by several processes at once, and again, without harm', async () => {
    const others = [1, 2, 3].map(() => openDatabase({ url: database.url }));
    await database.query('DROP SCHEMA ops CASCADE');
    await Promise.all(others.map(migrate));
    await migrate(database);
    const done = await database.query<{ name: string }>('SELECT name FROM ops.migrations ORDER BY name');
    const numbered = readdirSync(new URL('../../projections/migrations/', import.meta.url))
      .filter((name) => /^\d/.test(name))
      .sort();
    assert.ok(numbered.length >= 3);
    assert.deepEqual(
      done.map(({ name }) => name),
      numbered,
    );
    for (const other of others) await other.close();
  });

  it('explains every operational table to its readers', async () => {
    const silent = await database.query(
      `SELECT relname FROM pg_class WHERE relnamespace = 'ops'::regnamespace AND relkind = 'r'
          AND relname <> 'migrations' AND obj_description(oid) IS NULL`,
    );
    assert.deepEqual(silent, []);
  });
});

describe('notifications', () => {
  it('reach all listeners, over one connection', async () => {
    const database = await freshDatabase();
    const told = listen(database, ['news']).pipe(filter(({ payload }) => payload !== ''));
    const [one, other] = [firstValueFrom(told), firstValueFrom(told)];
    await listenerOn(database, 'news');
    await database.query(`SELECT pg_notify('news', 'hello')`);
    assert.deepEqual(await Promise.all([one, other]), Array(2).fill({ channel: 'news', payload: 'hello' }));
  });

  it('continue after the connection was lost; each channel is notified that something may have been missed', async () => {
    const database = await freshDatabase();
    const heard: Notification[] = [];
    const channels = listen(database, ['news', 'rumours']).pipe(tap((news) => heard.push(news)));
    const told = firstValueFrom(channels.pipe(take(5), toArray()));
    // The server listens a moment before the subscriber knows it.
    const first = await listenerOn(database, 'rumours');
    while (heard.length < 2) await sleep(1);
    await database.query('SELECT pg_terminate_backend($1)', [first]);
    await listenerOn(database, 'rumours', first);
    while (heard.length < 4) await sleep(1);
    await database.query(`SELECT pg_notify('rumours', 'hello')`);
    const each = ['news', 'rumours'].map((channel) => ({ channel, payload: '' }));
    assert.deepEqual(await told, [...each, ...each, { channel: 'rumours', payload: 'hello' }]);
  });

  /** The server process that most recently listened on the channel; another one than `former`. */
  async function listenerOn(database: Database, channel: string, former = 0): Promise<number> {
    for (;;) {
      const [found] = await database.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE application_name = 'listen' AND datname = current_database()
            AND state = 'idle' AND query = $1 AND pid <> $2`,
        [`LISTEN "${channel}"`, former],
      );
      if (found) return found.pid;
    }
  }
});

describe('a database whose server goes away', () => {
  let directory: string;
  let server: PostgresServer;
  let database: Database;
  const start = async (port?: number) => {
    const places = { dataDir: join(directory, 'postgres'), logFile: join(directory, 'log'), durable: false };
    server = await startPostgres({ ...places, ...(port !== undefined && { port }) });
  };
  before(async () => {
    directory = temporaryDirectory();
    await start();
    database = openDatabase({ url: server.url });
  });
  after(async () => {
    await database.close();
    await server.stop();
  });

  it('is unavailable meanwhile, and works again automatically when the server is back', async () => {
    await database.query('SELECT 1');
    const port = Number(new URL(server.url).port);
    await server.stop();
    await assert.rejects(database.query('SELECT 1'), Unavailable);
    await start(port);
    assert.deepEqual(await database.query('SELECT 1 AS one'), [{ one: 1 }]);
  });
});
