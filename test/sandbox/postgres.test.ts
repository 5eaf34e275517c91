import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../../sandbox/postgres.ts';
import { asNobody, inNamespace, serverUser } from '../../sandbox/postgresUser.ts';
import { copyDataDirectory } from '../support/postgresCopy.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

describe("the sandbox's Postgres", () => {
  let directory: string;
  let server: PostgresServer | undefined;
  beforeEach(() => {
    directory = temporaryDirectory();
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
    await rm(directory, { recursive: true, force: true });
  });

  const start = async (more: object = {}) => {
    const places = { dataDir: join(directory, 'postgres'), logFile: join(directory, 'postgres.log') };
    server = await startPostgres({ ...places, ...more });
    return server;
  };

  /** Skips `initdb`, which takes 0.4 s of a processor more than a copy. */
  async function startCopied(): Promise<PostgresServer> {
    await copyDataDirectory(join(directory, 'postgres'));
    return start();
  }

  async function ask(url: string, sql: string): Promise<unknown> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return Object.values((await client.query(sql)).rows[0] ?? {})[0];
    } finally {
      await client.end();
    }
  }

  /** Ends the server like a power cut, and waits for its end. */
  async function cut({ pid, url }: PostgresServer): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    const gone = new Promise<void>((ended) => client.once('end', ended));
    process.kill(pid, 'SIGKILL');
    await gone;
  }

  it('keeps its data over a stop', async () => {
    const first = await startCopied();
    await ask(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    const second = await start();
    assert.equal(await ask(second.url, 'SELECT answer FROM kept'), 42);
    assert.equal(await ask(second.url, 'SHOW fsync'), 'on');
    assert.equal(await ask(second.url, 'SHOW listen_addresses'), '127.0.0.1');
  });

  it('is found again while it runs', async () => {
    const first = await startCopied();
    const again = await start();
    assert.deepEqual([again.pid, again.url], [first.pid, first.url]);
  });

  it('lets nobody in without the password', async () => {
    const { url } = await startCopied();
    const wrong = new URL(url);
    wrong.password = 'guess';
    await assert.rejects(ask(wrong.href, 'SELECT 1'), /password authentication failed/);
  });

  it('starts after a kill without help, even when its old pid is now another program', async () => {
    const first = await startCopied();
    await ask(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await cut(first);
    const lock = join(directory, 'postgres', 'postmaster.pid');
    const lines = (await readFile(lock, 'utf8')).split('\n');
    await writeFile(lock, [process.pid, ...lines.slice(1)].join('\n'));
    const second = await start();
    assert.notEqual(second.pid, process.pid);
    assert.equal(await ask(second.url, 'SELECT answer FROM kept'), 42);
  });

  it('creates its data directory whole or not at all', async () => {
    const draft = join(directory, 'postgres.new');
    await writeFile(join(directory, 'postgres.password'), 'left by a start that was killed');
    await writeFile(draft, '');
    assert.equal(await ask((await start()).url, 'SELECT 1'), 1);
  });

  it('names the log with the reason of a failed start', async () => {
    const first = await startCopied();
    const { port } = new URL(first.url);
    const dataDir = join(directory, 'other');
    const logFile = join(directory, 'other.log');
    await copyDataDirectory(dataDir);
    await assert.rejects(startPostgres({ dataDir, logFile, port: Number(port) }), /other\.log says why/);
  });

  if (process.getuid?.() === 0) {
    it('runs for root as another user, and changes owners when the machine’s rules change', async () => {
      for (const user of [
        asNobody,
        await serverUser(),
        inNamespace === (await serverUser()) ? asNobody : inNamespace,
      ]) {
        const { url, stop } = await start({ user });
        assert.equal(await ask(url, 'SELECT 1'), 1);
        await stop();
      }
    });
  }
});
