/** Poolers between the service and Postgres: PgBouncer in each of its modes, where it is installed. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../sandbox/freePort.ts';
import { openDatabase } from '../../src/postgres/database.ts';
import { sessionFault } from '../../src/postgres/sessions.ts';
import { onStop } from '../support/hooks.ts';
import { sharedPostgres } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const program = 'pgbouncer';
const isInstalled = spawnSync(program, ['--version']).status === 0;
const isRoot = process.getuid?.() === 0;
const poll_ms = 50;

describe('connections to Postgres', () => {
  it('are separate sessions without a pooler', async () => {
    assert.equal(await faultAt((await sharedPostgres()).url), null);
  });

  (isInstalled ? describe : describe.skip)(`through ${program}`, () => {
    it('are separate sessions in session mode, once they are in UTC', async () => {
      assert.match(String(await faultThrough('session')), /"unsupported startup parameter: options"/);
      assert.match(String(await faultThrough('session', { ignored: 'options' })), /drops the options of a session/);
      assert.equal(await faultThrough('session', { ignored: 'options', first: 'SET TimeZone TO UTC' }), null);
    });

    it('are not separate sessions in transaction mode', async () => {
      assert.match(String(await faultThrough('transaction')), /"unsupported startup parameter: options"/);
      assert.match(
        String(await faultThrough('transaction', { ignored: 'options' })),
        /gives each transaction another session/,
      );
    });

    it('hold no transaction in statement mode', async () => {
      assert.match(String(await faultThrough('statement', { ignored: 'options' })), /"transaction blocks not allowed/);
    });
  });
});

async function faultAt(url: string): Promise<string | null> {
  const database = openDatabase({ url });
  try {
    return await sessionFault(database);
  } finally {
    await database.close();
  }
}

interface Pooled {
  /** Startup parameters that the pooler drops. */
  readonly ignored?: string;
  /** Statements that it sends to each new session of the server. */
  readonly first?: string;
}

async function faultThrough(mode: string, { ignored, first }: Pooled = {}): Promise<string | null> {
  const server = new URL((await sharedPostgres()).url);
  const port = await freePort();
  const file = join(temporaryDirectory(), 'pgbouncer.ini');
  const { hostname, username, password } = server;
  writeFileSync(
    file,
    [
      '[databases]',
      `* = host=${hostname} port=${server.port} user=${username} password=${decodeURIComponent(password)}${first ? ` connect_query='${first}'` : ''}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      `pool_mode = ${mode}`,
      ...(ignored ? [`ignore_startup_parameters = ${ignored}`] : []),
    ].join('\n'),
  );
  // PgBouncer refuses to run as root.
  const pooler = spawn(program, [...(isRoot ? ['-u', 'nobody'] : []), file], { stdio: 'ignore' });
  const ended = once(pooler, 'exit');
  onStop(() => void pooler.kill());
  try {
    await untilOpen(port, pooler);
    const through = new URL(server);
    through.port = String(port);
    return await faultAt(through.href);
  } finally {
    pooler.kill();
    await ended;
  }
}

async function untilOpen(port: number, pooler: ChildProcess): Promise<void> {
  while (pooler.exitCode === null) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(poll_ms);
  }
  assert.fail(`${program} ended with ${pooler.exitCode}`);
}
