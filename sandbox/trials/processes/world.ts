/** The driver of local programs: chains of all families, a Postgres and an event store on a small disk each, and the service. */
import { execFile } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { privateKeyToAddress } from 'viem/accounts';
import { type ChainId, chainOf, chains } from '../../../domain/chains.ts';
import { readConfig } from '../../../src/config.ts';
import { writeWhole } from '../../../src/lib/writeWhole.ts';
import { startService } from '../../../src/main.ts';
import { type Children, openChildren } from '../../children.ts';
import { sendAsCustomer } from '../../customer.ts';
import { freePort } from '../../freePort.ts';
import { keepKeys, type SandboxKeys } from '../../keys.ts';
import { startPostgres } from '../../postgres.ts';
import { seed } from '../../seed.ts';
import { settingsFor } from '../../settings.ts';
import { walletLinkAt } from '../../walletLink.ts';
import { startWorld, type World } from '../../world.ts';
import type { Payer, TrialWorld } from '../world.ts';
import { type Program, supervised } from './program.ts';

export interface ProcessWorld extends TrialWorld {
  readonly children: Children;
  readonly service: Program;
  readonly eventStore: Program;
  readonly eventStoreUrl: string;
  readonly disks: { readonly postgres: Disk | null; readonly eventStore: Disk | null };
  /** File of the requests that the webhook receiver got, a line of JSON each. */
  readonly receiverLog: string;
  postgresPid(): number | undefined;
  startPostgres(): Promise<void>;
  /** Restarts the service as if this time had passed. */
  passTime(ms: number): Promise<void>;
  isReady(): Promise<boolean>;
}

/** A small separate disk for one store. */
export interface Disk {
  /** Uses up the remaining space, to the last block. */
  fill(): void;
  /** Frees the space again. */
  clear(): void;
  remove(): Promise<void>;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const clock = fileURLToPath(new URL('clock.ts', import.meta.url));
const blockTime_s = 0.5;
/** An audit queries accounts at any block. */
const statesMax = 100_000;
const sizes_MiB = { postgres: 640, eventStore: 256 };
const tool_ms = 60_000;
const ready_ms = 60_000;
const poll_ms = 250;
const run = promisify(execFile);

export interface ProcessWorldOptions {
  /** An empty directory. */
  readonly dataDir: string;
  /** Keeps the directory with all logs. */
  readonly keep: boolean;
  readonly step: (name: string) => void;
}

export async function openProcessWorld({ dataDir, keep, step }: ProcessWorldOptions): Promise<ProcessWorld> {
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
  const rpcUrl = (chainId: ChainId): string =>
    ({ 501: world.solana?.rpcUrl, 1500: world.stellar?.rpcUrl })[Number(chainId)] ?? world.rpcUrls.get(chainId) ?? '';
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
  const isReady = () => answersOk(`http://127.0.0.1:${operationsPort}/readyz`);
  await until(isReady);
  step('Service');

  return {
    url: `http://127.0.0.1:${port}`,
    apiKey: apps.wallet.ordersKey,
    chainIds: chains.map(({ id }) => id),
    ...{ children, service, eventStore, disks, rpcUrl },
    eventStoreUrl: settings.EVENTSTORE_URL,
    receiverLog: world.receiver.log,
    payers: (chainId) => [payerOn(chainId, keys, world, rpcUrl(chainId))],
    treasury: (chainId) => treasuryOn(chainId, keys, world),
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
      if (!keep) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function payerOn(chainId: ChainId, keys: SandboxKeys, { solana, stellar }: World, rpcUrl: string): Payer {
  const chain = chainOf(chainId);
  const addresses = { solana: solana?.customer, stellar: stellar?.customer, evm: privateKeyToAddress(keys.customer) };
  return {
    address: addresses[chain.family] ?? '',
    pay: ({ source, paymentLink = null }, token, amount) =>
      sendAsCustomer(keys, { chain, token, rpcUrl }, { ...source, amount }, () =>
        walletLinkAt(paymentLink, 'solana').catch(() => null),
      ),
  };
}

function treasuryOn(chainId: ChainId, keys: SandboxKeys, { solana, stellar }: World): string {
  const addresses = { solana: solana?.treasury, stellar: stellar?.treasury, evm: privateKeyToAddress(keys.treasury) };
  return addresses[chainOf(chainId).family] ?? '';
}

const block_bytes = 64 * 1024;

/** A tmpfs of a size in MiB. @returns null if this user may not mount one: then no disk is filled, and the summary says so */
async function smallDisk(folder: string, size_MiB: number): Promise<Disk | null> {
  mkdirSync(folder, { recursive: true });
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${size_MiB}m,mode=0755`, 'tmpfs', folder]);
  } catch {
    return null;
  }
  const filler = join(folder, 'filler');
  return {
    fill() {
      const file = openSync(filler, 'a');
      try {
        const { bavail, bsize } = statfsSync(folder);
        for (let left = bavail * bsize; left > 0; left -= block_bytes)
          writeSync(file, Buffer.alloc(Math.min(left, block_bytes)));
      } catch {
        // Another writer has taken the last block: it is full.
      } finally {
        closeSync(file);
      }
    },
    clear: () => rmSync(filler, { force: true }),
    async remove() {
      await run('umount', ['-l', folder]);
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
