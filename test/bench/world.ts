/** Surroundings of a measurement: durable Postgres and event store, one chain, apps with keys; all in a temporary directory. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateKeyToAddress } from 'viem/accounts';
import { openChildren } from '../../sandbox/children.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { seed } from '../../sandbox/seed.ts';
import { startWorld } from '../../sandbox/world.ts';
import { readConfig } from '../../src/config.ts';
import { startService } from '../../src/main.ts';
import { type Database, openDatabase } from '../../src/postgres/database.ts';
import { type EmbeddedNode, spawnEmbeddedNode } from '../../src/store/node/spawn.ts';

export interface BenchWorld {
  readonly dataDir: string;
  readonly database: Database;
  readonly eventStore: EmbeddedNode;
  /** Pid of the Postgres server. */
  readonly postgres: number;
  readonly rpcUrl: string;
  /** Environment of a service in this world, without its roles. */
  readonly env: Readonly<Record<string, string>>;
  readonly ordersKey: string;
  readonly adminKey: string;
  stop(): Promise<void>;
}

const chainId = 8453 as const;
const statementTimeout_ms = 10 * 60_000;

export interface WorldOptions {
  readonly blockTime_s?: number;
  /** Starts the event store with its data in `dataDir`. Default: the embedded node. */
  readonly startStore?: (options: { readonly dataDir: string }) => Promise<EmbeddedNode>;
}

/** Opens one chain: every payment of the measurements goes from Base to Base. */
export async function openWorld(options: WorldOptions = {}): Promise<BenchWorld> {
  const { blockTime_s = 1, startStore = spawnEmbeddedNode } = options;
  const dataDir = mkdtempSync(join(tmpdir(), 'payment-intents-bench-'));
  mkdirSync(join(dataDir, 'eventstore'));
  const children = openChildren(join(dataDir, 'processes.json'));
  const keys = keepKeys(dataDir);
  const world = await startWorld({ dataDir, children, keys, blockTime_s, chainIds: [chainId], step: () => {} });
  const eventStore = await startStore({ dataDir: join(dataDir, 'eventstore') });
  const rpcUrl = world.rpcUrls.get(chainId) ?? '';
  const env = {
    MODE: 'sandbox',
    LOG_LEVEL: 'error',
    PORT: '0',
    OPERATIONS_PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: world.databaseUrl,
    EVENTSTORE_URL: eventStore.url,
    MASTER_KEY: keys.masterKey,
    TREASURY_PRIVATE_KEY: keys.treasury,
    // All payments of a run belong to one app, and stay open.
    OPEN_PER_APP: '0',
    WEBHOOK_CA_FILE: world.receiver.caFile,
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.1/32',
    [`RPC_URLS_${chainId}`]: rpcUrl,
    [`CONFIRMATIONS_${chainId}`]: '1',
    [`PAYOUT_CONFIRMATIONS_${chainId}`]: '1',
    [`POLL_MS_${chainId}`]: '250',
  };
  const service = await startService(readConfig({ ...env, ROLES: 'projections' }));
  const settings = {
    webhookUrl: world.receiver.url,
    merchantWallet: { chainId, receiverAddress: privateKeyToAddress(keys.merchantWallet) },
  };
  const { wallet } = await seed(service, undefined, settings);
  await service.stop();
  const database = openDatabase({ url: world.databaseUrl, applicationName: 'bench', statementTimeout_ms });
  return {
    dataDir,
    database,
    eventStore,
    postgres: children.alive('postgres')?.pid ?? 0,
    rpcUrl,
    env,
    ...wallet,
    async stop() {
      await database.close();
      await eventStore.stop();
      await children.endAll();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
