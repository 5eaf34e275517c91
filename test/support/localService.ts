/** One service in this process over local chains, with its demo apps, and the shop and customer that call it. */
import type { Clock } from '../../commands/ports.ts';
import type { ChainId } from '../../domain/chains.ts';
import { readConfig } from '../../src/config.ts';
import { type Service, startService } from '../../src/main.ts';
import { systemClock } from '../../src/process/system.ts';
import { type DemoApps, type LocalWorld, startLocalWorld } from './localWorld.ts';
import { createShop, type Shop } from './shop.ts';

export interface LocalService extends Shop {
  url(): string;
  eventStoreUrl(): string;
  /** The demo app whose payments name their receivers. */
  wallet(): DemoApps['wallet'];
  /** Its chains and keys. */
  world(): LocalWorld;
  /** Starts chains, Postgres and service, and makes the demo apps. */
  open(): Promise<void>;
  /** Starts the service again, over the same world. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Ends the service and its world. */
  close(): Promise<void>;
}

/** @param settingsOf settings of the service, from those of its world */
export function createLocalService(
  chainIds: readonly ChainId[],
  clock: Clock = systemClock,
  settingsOf: (world: LocalWorld) => Promise<LocalWorld['settings']> = async ({ settings }) => settings,
): LocalService {
  let opened: { readonly world: LocalWorld; readonly wallet: DemoApps['wallet'] } | undefined;
  let service: Service | undefined;
  const parts = new AsyncDisposableStack();
  const its = () => {
    if (!opened) throw new Error('open it first');
    return opened;
  };
  const keys = () => its().world.keys;
  const running = () => {
    if (!service) throw new Error('start it first');
    return service;
  };

  const shop = createShop({
    baseUrl: () => running().url,
    operationsUrl: () => running().operationsUrl,
    rpcUrl: (chainId) => its().world.rpcUrl(chainId),
    customerKey: () => keys().customer,
    stellarCustomer: () => keys().stellar.customer,
    solanaCustomer: () => keys().solana.customer,
  });
  const serve = async (world: LocalWorld) => startService(readConfig(await settingsOf(world)), clock);

  return {
    ...shop,
    url: () => running().url,
    eventStoreUrl: () => running().eventStoreUrl,
    wallet: () => its().wallet,
    world: () => its().world,
    async open() {
      const world = await startLocalWorld(chainIds);
      parts.defer(() => world.destroy());
      parts.defer(() => service?.stop());
      service = await serve(world);
      opened = { world, wallet: (await world.seed(service)).wallet };
    },
    async start() {
      service = await serve(its().world);
    },
    stop: () => running().stop(),
    close: () => parts.disposeAsync(),
  };
}
