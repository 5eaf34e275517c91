/** World of chaos: local chains of all families, a Postgres and an event store on separate disks, and the service. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { privateKeyToAddress } from 'viem/accounts';
import type { ChainId } from '../../domain/chains.ts';
import { readConfig } from '../../src/config.ts';
import { writeWhole } from '../../src/lib/writeWhole.ts';
import { startService } from '../../src/main.ts';
import { type Children, openChildren } from '../children.ts';
import { freePort } from '../freePort.ts';
import { keepKeys, type SandboxKeys } from '../keys.ts';
import { startPostgres } from '../postgres.ts';
import type { SandboxFile } from '../sandboxFile.ts';
import { seed } from '../seed.ts';
import { settingsFor } from '../settings.ts';
import { startWorld, type World } from '../world.ts';
import { type Disk, smallDisk } from './disk.ts';
import { type Program, supervised } from './program.ts';

export interface ChaosWorld {
  readonly dataDir: string;
  readonly children: Children;
  readonly keys: SandboxKeys;
  readonly world: World;
  readonly apps: Pick<SandboxFile, 'merchant' | 'wallet'>;
  readonly baseUrl: string;
  readonly operationsUrl: string;
  readonly service: Program;
  readonly eventStore: Program;
  readonly disks: { readonly postgres: Disk | null; readonly eventStore: Disk | null };
  rpcUrl(chainId: ChainId): string;
  postgresPid(): number | undefined;
  startPostgres(): Promise<void>;
  /** A tool of the operator, by its file in `tools`. @throws with its output */
  tool(name: string, ...args: readonly string[]): Promise<string>;
  /** Restarts the service as if this time had passed. */
  passTime(ms: number): Promise<void>;
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const clock = fileURLToPath(new URL('clock.ts', import.meta.url));
const blockTime_s = 0.5;
/** An audit queries accounts at any block. */
const statesMax = 100_000;
const sizes_MiB = { postgres: 640, eventStore: 256 };
const tool_ms = 60_000;
const ready_ms = 60_000;
const poll_ms = 250;
const run = promisify(execFile);

/** @param dataDir empty; on another file system than the small disks need not be */
export async function openChaosWorld(dataDir: string, step: (name: string) => void): Promise<ChaosWorld> {
  mkdirSync(join(dataDir, 'logs'), { recursive: true });
  const disks = {
    postgres: await smallDisk(join(dataDir, 'disk-postgres'), sizes_MiB.postgres),
    eventStore: await smallDisk(join(dataDir, 'disk-eventstore'), sizes_MiB.eventStore),
  };
  await preparePostgres(dataDir);
  const children = openChildren(join(dataDir, 'processes.json'));
  const keys = keepKeys(dataDir);
  const world = await startWorld({ dataDir, children, keys, blockTime_s, statesMax, step });
  const [port, operationsPort, storePort] = await Promise.all([freePort(), freePort(), freePort()]);
  const settings = {
    ...settingsFor(world, keys, blockTime_s),
    DATA_DIR: dataDir,
    PORT: String(port),
    OPERATIONS_PORT: String(operationsPort),
    EVENTSTORE_URL: `esdb://127.0.0.1:${storePort}?tls=false`,
    TREASURY_ADDRESS_COOLDOWN_HOURS: '0',
    LOG_LEVEL: 'warn',
  };
  writeWhole(
    join(dataDir, 'service.env'),
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  let ahead_ms = 0;
  const env = () => ({ ...process.env, ...settings, CLOCK_AHEAD_MS: String(ahead_ms) });
  const logFile = (name: string) => join(dataDir, 'logs', `${name}.log`);
  const storeData = join(dataDir, 'disk-eventstore', 'data');
  const eventStore = supervised({
    args: [join(root, 'tools/eventstore.ts'), '--data', storeData, '--port', String(storePort)],
    env: () => process.env,
    logFile: logFile('eventstore'),
  });
  const service = supervised({
    args: ['--import', clock, '--max-semi-space-size=16', join(root, 'src/main.ts')],
    env,
    logFile: logFile('service'),
  });
  mkdirSync(storeData, { recursive: true });
  eventStore.start();
  await until(() => listens(storePort));
  const apps = await seeded(settings, world, keys);
  service.start();
  const operationsUrl = `http://127.0.0.1:${operationsPort}`;
  const isReady = () => answersOk(`${operationsUrl}/readyz`);
  await until(isReady);
  step('Service');

  return {
    dataDir,
    children,
    keys,
    world,
    apps,
    baseUrl: `http://127.0.0.1:${port}`,
    operationsUrl,
    service,
    eventStore,
    disks,
    rpcUrl: (chainId) =>
      ({ 501: world.solana?.rpcUrl, 1500: world.stellar?.rpcUrl })[Number(chainId)] ?? world.rpcUrls.get(chainId) ?? '',
    postgresPid: () => postmasterOf(dataDir),
    async startPostgres() {
      const { pid } = await startPostgres({
        dataDir: join(dataDir, 'postgres'),
        port: Number(new URL(world.databaseUrl).port),
        logFile: logFile('postgres'),
      });
      children.record('postgres', pid, {});
    },
    async tool(name, ...args) {
      const program = join(root, 'tools', `${name}.ts`);
      const { stdout } = await run(process.execPath, ['--import', clock, program, ...args], {
        env: env(),
        timeout: tool_ms,
      });
      return stdout;
    },
    async passTime(ms) {
      await service.down('SIGKILL');
      ahead_ms += ms;
      service.start();
    },
    isReady,
    async close() {
      await service.down('SIGTERM');
      await eventStore.down('SIGTERM');
      await children.endAll();
      for (const disk of Object.values(disks)) await disk?.remove();
    },
  };
}

/** Creates the cluster on the small disk, where the sandbox finds it. */
async function preparePostgres(dataDir: string): Promise<void> {
  const [own, seen] = [join(dataDir, 'disk-postgres', 'postgres'), join(dataDir, 'postgres')];
  const made = await startPostgres({ dataDir: own, logFile: join(dataDir, 'logs', 'initdb.log') });
  await made.stop();
  symlinkSync(own, seen);
  copyFileSync(`${own}.password`, `${seen}.password`);
}

/** Makes the demo apps with a service in this process, which ends afterwards. */
async function seeded(settings: Record<string, string>, world: World, keys: SandboxKeys) {
  const service = await startService(readConfig({ ...settings, LOG_LEVEL: 'silent' }));
  try {
    const apps = await seed(service, undefined, {
      webhookUrl: world.receiver.url,
      merchantWallet: { chainId: 8453, receiverAddress: privateKeyToAddress(keys.merchantWallet) },
    });
    const secrets = [apps.merchant, apps.wallet].map(({ appId, webhookSecret }) => [appId, webhookSecret]);
    writeWhole(world.receiver.secretsFile, JSON.stringify(Object.fromEntries(secrets)));
    return apps;
  } finally {
    await service.stop();
  }
}

function postmasterOf(dataDir: string): number | undefined {
  try {
    const [pid] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 0);
    return Number(pid);
  } catch {
    return undefined;
  }
}

async function answersOk(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
  await response?.body?.cancel();
  return response?.ok ?? false;
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const tell = (found: boolean) => {
      socket.destroy();
      resolve(found);
    };
    socket.once('connect', () => tell(true)).once('error', () => tell(false));
  });

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let waited_ms = 0; waited_ms < ready_ms; waited_ms += poll_ms) {
    if (await holds()) return;
    await sleep(poll_ms);
  }
  throw new Error(`the world did not become ready within ${ready_ms / 1_000} s: see the logs in its data directory`);
}
