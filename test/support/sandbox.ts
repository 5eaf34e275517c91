/** The real product as a newcomer starts it: `sandbox/start.ts` in a separate process, on a separate data directory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import pg from 'pg';
import type { ChainId } from '../../domain/chains.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { openChildren } from '../../sandbox/children.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { readSandboxFile, type SandboxFile } from '../../sandbox/sandboxFile.ts';
import { readConnections } from '../../src/lib/connections.ts';
import { childEnvironment } from '../../src/process/system.ts';
import { historyAt, historyOf } from './history.ts';
import { onStop } from './hooks.ts';
import { patience_ms } from './patience.ts';
import { copyDataDirectory } from './postgresCopy.ts';
import { openRealStellarAccount, realNodes } from './realNodes.ts';
import { createShop, parsed, type Shop } from './shop.ts';
import { blockTime_s } from './suite.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export type { Answer, Json } from './shop.ts';

const service = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const poll_ms = 50;
/** Pace of the real nodes, as of the sandbox's own chains: half a second stands for blocks of Solana every 200 ms. go-ethereum makes at most one a second. */
const realBlockTime_s = 0.5;
/** Payments on real nodes wait for blocks of a second: service and spec poll twice in each. */
const realPoll_ms = 500;

export interface Webhook {
  readonly receivedAt: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly valid: boolean;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Sandbox extends Shop {
  readonly dataDir: string;
  readonly file: () => SandboxFile;
  /** Starts the service (and stopped parts of its world). Resolves when it is ready, or when it has ended at a crash point. */
  start(env?: Record<string, string>): Promise<'ready' | 'ended'>;
  /** Resolves when the service has ended, however. */
  ended(): Promise<Exit>;
  kill(): Promise<Exit>;
  /** As Ctrl-C does. */
  stop(): Promise<Exit>;
  /** Output of the service since its start. */
  printed(): string;
  /** The pid of a recorded process: service, postgres, receiver, chain-8453 …; undefined when it does not run. */
  pidOf(name: string): number | undefined;
  /** URL of the chain's node that the sandbox has started; undefined when it does not run. */
  nodeUrl(chainId: ChainId): string | undefined;
  webhooks(paymentId?: string): Webhook[];
  /** Every event of the log by stream, in order. */
  history(): Promise<ReadonlyMap<string, readonly StoredEvent[]>>;
  /** Queries the service's database, as an analyst does. */
  query<R>(text: string): Promise<readonly R[]>;
  /** Ends the service and its whole world and removes the data. */
  destroy(): Promise<void>;
}

export interface SandboxOptions {
  /** Default: a new one. */
  readonly dataDir?: string;
  /** Default: all chains. */
  readonly chains?: readonly ChainId[];
  /** EVENTSTORE_URL of the service, read at each start. Default: an embedded node of its own. */
  readonly eventStoreUrl?: (() => string) | undefined;
  /** URLs of running nodes, read at each start. Default: the sandbox starts a node per chain. */
  readonly nodeUrls?: (() => ReadonlyMap<ChainId, string>) | undefined;
  /** Starts from the sources and in an empty folder. Default: from bundles where there are some, with a copied Postgres. */
  readonly asNewcomer?: boolean;
  /** Root of the product's sources, for another version of it. Default: these sources. */
  readonly sources?: string;
  /** Chains run on real nodes, where the environment names their start programs. */
  readonly onRealNodes?: boolean;
}

export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const {
    dataDir = temporaryDirectory(),
    chains = [],
    eventStoreUrl,
    nodeUrls = () => new Map(),
    asNewcomer = false,
    onRealNodes = false,
    sources = fileURLToPath(new URL('../..', import.meta.url)),
  } = options;
  let child: ChildProcess | undefined;
  let output = '';

  const file = (): SandboxFile => {
    const found = readSandboxFile(dataDir);
    if (!found) throw new Error(`the sandbox has not become ready:\n${output}`);
    return found;
  };

  const children = () => openChildren(join(dataDir, 'processes.json'));

  const self: Sandbox = {
    ...createShop({
      baseUrl: () => file().baseUrl,
      operationsUrl: () => file().operationsUrl,
      rpcUrl: (chainId) => file().chains[String(chainId)]?.rpcUrl ?? '',
      customerKey: () => keepKeys(dataDir).customer,
      stellarCustomer: () => keepKeys(dataDir).stellar.customer,
      solanaCustomer: () => keepKeys(dataDir).solana.customer,
      ...(onRealNodes && realNodes.STELLAR && { openStellarAccount: openRealStellarAccount }),
      ...(onRealNodes && { poll_ms: realPoll_ms }),
      hint: () => output,
    }),
    dataDir,
    file,

    async start(env = {}) {
      output = '';
      await compileOnce();
      if (!asNewcomer) await copyDataDirectory(join(dataDir, 'postgres'));
      const settings = {
        DATA_DIR: dataDir,
        PORT: '0',
        SANDBOX_BLOCK_TIME_S: String(onRealNodes ? realBlockTime_s : blockTime_s),
        ...(onRealNodes && Object.fromEntries(chains.map((id) => [`POLL_MS_${id}`, String(realPoll_ms)]))),
        SANDBOX_CHAINS: chains.join(),
        LOG_LEVEL: 'warn',
        ...(asNewcomer && { NODE_OPTIONS: '' }),
        ...(eventStoreUrl && { EVENTSTORE_URL: eventStoreUrl() }),
        ...Object.fromEntries([...nodeUrls()].map(([id, url]) => [`RPC_URLS_${id}`, url])),
        ...env,
      };
      const started = spawn(
        process.execPath,
        [join(sources, 'sandbox/start.ts'), ...(onRealNodes ? ['--real-nodes'] : [])],
        {
          env: { ...process.env, ...settings },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      child = started;
      for (const stream of [started.stdout, started.stderr]) {
        stream?.setEncoding('utf8').on('data', (text: string) => {
          output = (output + text).slice(-20_000);
        });
      }
      for (let waited_ms = 0; waited_ms < patience_ms; waited_ms += poll_ms) {
        if (started.exitCode !== null || started.signalCode !== null) return 'ended';
        if (readSandboxFile(dataDir)?.pids.service === started.pid) return 'ready';
        await sleep(poll_ms);
      }
      throw new Error(`the sandbox did not become ready in ${patience_ms} ms:\n${output}`);
    },

    async ended() {
      if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      return { code: child?.exitCode ?? null, signal: child?.signalCode ?? null };
    },

    kill() {
      child?.kill('SIGKILL');
      return self.ended();
    },

    stop() {
      child?.kill('SIGINT');
      return self.ended();
    },

    printed: () => output,
    pidOf: (name) => children().alive(name)?.pid,

    nodeUrl(chainId) {
      const url = children().alive(`chain-${chainId}`)?.facts['rpcUrl'];
      return url === undefined ? undefined : String(url);
    },

    webhooks(paymentId) {
      const lines = readText(join(dataDir, 'webhook.log')).split('\n').filter(Boolean);
      const all = lines.map((line) => JSON.parse(line) as Webhook);
      return paymentId === undefined ? all : all.filter(({ body }) => parsed(body).data?.id === paymentId);
    },

    async history() {
      if (eventStoreUrl) return historyAt(eventStoreUrl());
      const runs = child?.exitCode === null && child.signalCode === null;
      const connections = runs ? await readConnections(dataDir) : undefined;
      return connections ? historyAt(connections.eventStoreUrl) : historyOf(dataDir);
    },

    async query(text) {
      const { DATABASE_URL } = parseEnv(readFileSync(join(dataDir, 'service.env'), 'utf8'));
      const client = new pg.Client({ connectionString: DATABASE_URL });
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    },

    async destroy() {
      await self.kill();
      await children().endAll();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  onStop(() => self.destroy());
  return self;
}

let compiled: Promise<unknown> | undefined;

/** A killed service leaves no compile cache to the next: a run without a configuration ends normally and writes it. */
function compileOnce(): Promise<unknown> {
  const env = { ...childEnvironment(), MODE: 'production' };
  compiled ??= once(spawn(process.execPath, [service], { env, stdio: 'ignore' }), 'exit');
  return compiled;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
