/** Local chains, Postgres and a webhook receiver, and services put into them: in this process or as processes of their own. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateKeyToAddress } from 'viem/accounts';
import type { ChainId } from '../../domain/chains.ts';
import { openChildren } from '../../sandbox/children.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import type { SandboxFile } from '../../sandbox/sandboxFile.ts';
import { seed } from '../../sandbox/seed.ts';
import { settingsFor } from '../../sandbox/settings.ts';
import { startWorld } from '../../sandbox/world.ts';
import type { Service } from '../../src/main.ts';
import { copyDataDirectory } from './postgresCopy.ts';
import { blockTime_s } from './suite.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export type DemoApps = Pick<SandboxFile, 'merchant' | 'wallet'>;

export interface LocalWorld {
  readonly dataDir: string;
  /** The service's environment, on a free port. */
  readonly settings: Readonly<Record<string, string>>;
  readonly keys: ReturnType<typeof keepKeys>;
  rpcUrl(chainId: ChainId): string;
  /** Makes the demo apps and passes their secrets to the receiver. */
  seed(service: Service): Promise<DemoApps>;
  destroy(): Promise<void>;
}

export async function startLocalWorld(chainIds: readonly ChainId[]): Promise<LocalWorld> {
  const dataDir = temporaryDirectory();
  const children = openChildren(join(dataDir, 'processes.json'));
  const keys = keepKeys(dataDir);
  await copyDataDirectory(join(dataDir, 'postgres'));
  const world = await startWorld({ dataDir, children, keys, chainIds, blockTime_s, step: () => {} });
  return {
    dataDir,
    keys,
    settings: { ...settingsFor(world, keys, blockTime_s), DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent' },
    rpcUrl: (chainId) =>
      ({ 501: world.solana?.rpcUrl, 1500: world.stellar?.rpcUrl })[Number(chainId)] ?? world.rpcUrls.get(chainId) ?? '',
    async seed(service) {
      const apps = await seed(service, undefined, {
        webhookUrl: world.receiver.url,
        merchantWallet: { chainId: 8453, receiverAddress: privateKeyToAddress(keys.merchantWallet) },
      });
      const secrets = [apps.merchant, apps.wallet].map(({ appId, webhookSecret }) => [appId, webhookSecret]);
      writeFileSync(world.receiver.secretsFile, JSON.stringify(Object.fromEntries(secrets)));
      return apps;
    },
    async destroy() {
      await children.endAll();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
