/** Reads from a replica: on two real servers with streaming replication, and with chosen answers. */
import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Unavailable } from '../../commands/ports.ts';
import type { Sql } from '../../projections/sql.ts';
import { type PostgresServer, passwordFileOf, startPostgres } from '../../sandbox/postgres.ts';
import { type Database, openDatabase } from '../../src/postgres/database.ts';
import { createReplicaReads, type ReplicaResult } from '../../src/postgres/replica.ts';
import { copyDataDirectory } from '../support/postgresCopy.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

describe('reads from a streaming replica', function () {
  this.timeout(120_000);
  let servers: PostgresServer[] = [];
  let primary: Database;
  let replica: Database;
  let results: ReplicaResult[];
  const reader = (): Sql =>
    createReplicaReads({ primary, replica, counted: (result) => results.push(result), now_ms: () => 0 });
  const names = (rows: readonly { name: string }[]) => rows.map(({ name }) => name);

  before(async () => {
    const directory = temporaryDirectory();
    const at = (name: string) => ({ dataDir: join(directory, name), logFile: join(directory, `${name}.log`) });
    await copyDataDirectory(join(directory, 'primary'));
    const first = await startPostgres(at('primary'));
    await first.stop();
    // A copy of a stopped server that follows the original, like the result of pg_basebackup on a running server.
    const { dataDir } = at('replica');
    cpSync(join(directory, 'primary'), dataDir, { recursive: true });
    chmodSync(dataDir, 0o700);
    cpSync(passwordFileOf(join(directory, 'primary')), passwordFileOf(dataDir));
    const started = await startPostgres(at('primary'));
    writeFileSync(join(dataDir, 'standby.signal'), '');
    appendFileSync(join(dataDir, 'postgresql.auto.conf'), `primary_conninfo = '${started.url}'\n`);
    const standby = await startPostgres(at('replica'));
    servers = [standby, started];
    primary = openDatabase({ url: started.url });
    replica = openDatabase({ url: standby.url });
    await primary.query('CREATE TABLE orders (name text)');
  });
  after(async () => {
    await Promise.all([primary?.close(), replica?.close()]);
    for (const server of servers) await server.stop();
  });
  beforeEach(() => {
    results = [];
  });

  it('have every row that the primary had before the call, also of commits that were not waited for', async () => {
    const reads = reader();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await primary.transaction((tx) => tx.query('INSERT INTO orders VALUES ($1)', [name]), { durable: false });
      const rows = await reads.query<{ name: string }>('SELECT name FROM orders ORDER BY name');
      assert.equal(names(rows).at(-1), name);
    }
    await primary.query('INSERT INTO orders VALUES ($1)', ['f']);
    // On a busy machine the replica may need longer than a read waits for it: then the primary answers.
    for (let servedBy: unknown; servedBy !== 'replica'; ) {
      const [row] = await reads.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby FROM orders');
      servedBy = results.at(-1);
      assert.equal(row?.standby, servedBy === 'replica');
    }
  });

  it('use the primary while the replica is behind', async () => {
    await replica.query('SELECT pg_wal_replay_pause()');
    const isPaused = `SELECT pg_get_wal_replay_pause_state() = 'paused' AS paused`;
    while (!(await replica.query<{ paused: boolean }>(isPaused))[0]?.paused);
    try {
      await primary.query('INSERT INTO orders VALUES ($1)', ['late']);
      const rows = await reader().query<{ name: string }>("SELECT name FROM orders WHERE name = 'late'");
      assert.deepEqual(names(rows), ['late']);
      assert.deepEqual(results, ['behind']);
    } finally {
      await replica.query('SELECT pg_wal_replay_resume()');
    }
  });
});

describe('reads from a replica that fails', () => {
  const answering = (answer: (text: string) => readonly object[]): Sql => ({
    query: async <R>(text: string) => answer(text) as readonly R[],
  });
  const primary = answering((text) => (text.includes('insert_lsn') ? [{ position: '0/1' }] : [{ from: 'primary' }]));

  it('use the primary, which is not slowed by it for the next 5 s', async () => {
    let now_ms = 0;
    let calls = 0;
    const results: ReplicaResult[] = [];
    const replica = answering(() => {
      calls += 1;
      throw new Unavailable('Postgres cannot answer now', 1);
    });
    const reads = createReplicaReads({
      primary,
      replica,
      counted: (result) => results.push(result),
      now_ms: () => now_ms,
    });
    for (let time = 0; time < 3; time += 1) assert.deepEqual(await reads.query('SELECT 1'), [{ from: 'primary' }]);
    assert.deepEqual([calls, results], [1, ['unreachable']]);
    now_ms = 5_000;
    await reads.query('SELECT 1');
    assert.equal(calls, 2);
  });

  it('report an error of the statement itself, which the primary would have too', async () => {
    const replica = answering((text) => {
      if (text.includes('replay_lsn')) return [{ fresh: true }];
      throw new RangeError('division by zero');
    });
    const reads = createReplicaReads({ primary, replica, counted: () => {}, now_ms: () => 0 });
    await assert.rejects(reads.query('SELECT 1/0'), /division by zero/);
  });
});
