/**
 * `npm start`: the whole product on a laptop, without any configuration. Starts (or finds again) the local world, then
 * runs the service in this process. Ctrl-C stops everything; the next start continues from the data.
 */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { privateKeyToAddress } from 'viem/accounts';
import type { ChainId } from '../domain/chains.ts';
import { readConfig } from '../src/config.ts';
import { writeWhole } from '../src/lib/writeWhole.ts';
import { failureText, type Service, startService } from '../src/main.ts';
import { retryUnavailable } from '../src/process/retryUnavailable.ts';
import { systemClock } from '../src/process/system.ts';
import { openChildren } from './children.ts';
import { chosenChains } from './chosenChains.ts';
import { keepEventStore } from './eventStore.ts';
import { keepKeys, type SandboxKeys } from './keys.ts';
import { rebuildOutdated } from './outdatedReadModels.ts';
import { type OwnNodes, ownNodes } from './ownNodes.ts';
import { progress } from './progress.ts';
import { chosenRealNodes, type RealNodeName } from './realNodes/programs.ts';
import { readSandboxFile, type SandboxFile, setSandboxFileAside, writeSandboxFile } from './sandboxFile.ts';
import { demoEmail, type MerchantWallet, seed, seedShop } from './seed.ts';
import { settingsFor } from './settings.ts';
import { writeSettings as writeShopSettings } from './shop/settings.ts';
import { type StartOptions, startCommand } from './startOptions.ts';
import { summary } from './summary.ts';
import { createTestPayer } from './testPayer.ts';
import { chosenWeather } from './weather/choice.ts';
import { type KeptWeather, keepWeather } from './weather/world.ts';
import { keepShop, startWorld, type World, type WorldOptions } from './world.ts';

/** Everything around the service. `npm run dev` keeps it for the next service. */
export interface Surroundings extends KeptWeather {
  readonly world: World;
  /** Settings of moves between the treasury's accounts. */
  readonly rebalances: Readonly<Record<string, string>>;
}

/** From `npm run dev`, with the surroundings that the former service had. */
export interface StartOrder {
  readonly left: Surroundings | null;
}

const command = startCommand('npm run start');
const given = command.parse().opts<StartOptions>();
const realNodes = given.realNodes ? read(() => chosenRealNodes(process.env)) : {};
const dataDir = resolve(process.env['DATA_DIR'] ?? (given.realNodes ? './data/real-nodes' : './data'));
const chains = read(() => chosenChains(process.env['SANDBOX_CHAINS']));
const weatherName = read(() => chosenWeather(given.weather, process.env['WEATHER']));
const blockTime_s = read(() => chosenBlockTime(process.env['SANDBOX_BLOCK_TIME_S']));
const weatherSeed = process.env['WEATHER_SEED'] ?? '1';
const worldSteps = ['Postgres', 'Webhook receiver', ...chains.map(({ name }) => name)];
const serviceSteps = ['Demo shop', 'Service', 'Demo apps'];

const inDevelopment = given.awaitOrder;
// `npm run dev` loads this program while the former one still ends, then sends the order to start.
const [order] = inDevelopment ? ((await once(process, 'message')) as [StartOrder]) : [null];
mkdirSync(dataDir, { recursive: true });
const children = openChildren(`${dataDir}/processes.json`);
const other = children.alive('service');
if (other) {
  console.error(
    `\n  A sandbox already runs on ${dataDir} (pid ${other.pid}): ${readSandboxFile(dataDir)?.baseUrl ?? 'still starting'}\n`,
  );
  process.exit(1);
}
// A chain of this data directory remains: its recorded payments are on that network.
const ownChains = chains.filter(({ id }) => children.last(`chain-${id}`) === undefined).map(({ id }) => id);
children.record('service', process.pid, {});
const known = setSandboxFileAside(dataDir);
const service = main();
stopOnSignals();
service.catch(stopAfterFailure);

/** @throws Error for a text that is no time */
function chosenBlockTime(setting = '1'): number {
  const time_s = Number(setting);
  if (time_s > 0 && Number.isFinite(time_s)) return time_s;
  throw new Error(`SANDBOX_BLOCK_TIME_S: ${setting} is no number of seconds above 0`);
}

/** A wrong setting is the reader's to correct: its message is printed without a stack. */
function read<T>(setting: () => T): T {
  try {
    return setting();
  } catch (error) {
    return command.error(`error: ${(error as Error).message}`);
  }
}

async function main(): Promise<Service> {
  const left = order?.left && children.allAlive() ? order.left : null;
  const shown = progress(left ? serviceSteps : [...worldSteps, ...serviceSteps]);
  const keys = keepKeys(dataDir);
  const chainIds = chains.map(({ id }) => id);
  const realPace = process.env['SANDBOX_BLOCK_TIME_S'] === undefined;
  const options = {
    dataDir,
    children,
    keys,
    chainIds,
    blockTime_s,
    realPace,
    realNodes,
    ownNodes: ownNodes(process.env, ownChains),
    step: shown.done,
  };
  const [surroundings, store] = await Promise.all([left ?? surround(options), ownStore()]);
  const { world, seen, weather, sockets, rebalances } = surroundings;
  const settings = {
    ...settingsFor(seen, keys, blockTime_s),
    ...sockets,
    ...rebalances,
    ...store,
    DATA_DIR: dataDir,
  };
  // A variable that is already set wins.
  const config = readConfig({ ...settings, ...process.env, DATA_DIR: dataDir });
  // Waits for both before reporting a failure: started programs are recorded, and can be ended.
  const [started, opened] = await Promise.allSettled([
    startService(config, systemClock, { payTest: createTestPayer(dataDir, keys) }),
    keepShop(options),
  ]);
  if (started.status === 'rejected') throw started.reason;
  const service = started.value;
  try {
    if (opened.status === 'rejected') throw opened.reason;
    writeSettings({ ...settings, EVENTSTORE_URL: service.eventStoreUrl });
    await rebuildOutdated(dataDir, config.databaseUrl);
    shown.done('Service');
    const file = {
      ...(await demo(service, world, keys, opened.value)),
      weather,
      realNodes: usedRealNodes(),
      pids: { service: process.pid },
    };
    shown.done('Demo apps');
    writeSandboxFile(dataDir, file);
    shown.end();
    console.log(summary(file, dataDir));
    if (inDevelopment) process.send?.(surroundings, () => process.connected && process.disconnect());
    return service;
  } catch (error) {
    // Its dependencies end next, which would cause errors that hide the reason, and so would its own end.
    await service.stop().catch(() => {});
    throw error;
  }
}

/** Starts everything around the service, or finds it running. */
async function surround(options: WorldOptions & { readonly ownNodes: OwnNodes }): Promise<Surroundings> {
  const world = await startWorld(options);
  const kept = await keepWeather(world, { dataDir, children, name: weatherName, seed: weatherSeed });
  return { world, ...kept, rebalances: await rebalancesOf(world, options) };
}

/** Setting of an event store that outlives the service. Without one the service runs its own, which ends with it. */
async function ownStore(): Promise<Readonly<Record<string, string>>> {
  if (inDevelopment && !process.env['EVENTSTORE_URL'])
    return { EVENTSTORE_URL: await keepEventStore(dataDir, children) };
  await children.end('event-store');
  return {};
}

/** Rebalances between the sandbox's own chains; real nodes and a user's nodes have no such contracts. */
async function rebalancesOf(
  { rpcUrls, stellar, solana }: Pick<World, 'rpcUrls' | 'stellar' | 'solana'>,
  { ownNodes }: { readonly ownNodes: OwnNodes },
): Promise<Readonly<Record<string, string>>> {
  const isReal = (id: ChainId) =>
    realNodes[({ 1500: 'STELLAR', 501: 'SOLANA' } as const)[id as 1500 | 501] ?? 'GETH'] !== undefined;
  const others = [
    [1500, stellar],
    [501, solana],
  ] as const;
  const all = new Map<ChainId, string>([
    ...rpcUrls,
    ...others.flatMap(([id, chain]) => (chain ? [[id, chain.rpcUrl] as const] : [])),
  ]);
  const own = new Map([...all].filter(([id]) => !isReal(id) && !ownNodes.has(id)));
  if (own.size < 2) return {};
  const { openSandboxCctp } = await import('./cctp.ts');
  const { openSandboxUsdt0 } = await import('./usdt0.ts');
  return { ...(await openSandboxCctp(own)), ...(await openSandboxUsdt0(own)) };
}

/** Start programs whose chains this sandbox runs. */
function usedRealNodes(): readonly RealNodeName[] {
  const needed = { GETH: 'evm', SOLANA: 'solana', STELLAR: 'stellar' } as const;
  const names = Object.keys(realNodes) as RealNodeName[];
  return names.filter((name) => chains.some(({ family }) => family === needed[name]));
}

/** Creates missing demo apps. @returns content of the sandbox's file about a service */
async function demo(
  service: Service,
  world: World,
  keys: SandboxKeys,
  shopAt: Pick<SandboxFile['shop'], 'url' | 'webhookUrl'>,
): Promise<Omit<SandboxFile, 'weather' | 'realNodes' | 'pids'>> {
  const merchantWallet = merchantWalletOf(world, privateKeyToAddress(keys.merchantWallet));
  // The next attempt finds a started and unanswered step, as the next start does.
  const patience = { clock: systemClock, tell: () => {} };
  const [apps, shop] = await Promise.all([
    retryUnavailable(patience, () => seed(service, known, { webhookUrl: world.receiver.url, merchantWallet })),
    retryUnavailable(patience, () => seedShop(service, known, { shop: shopAt, merchantWallet })),
  ]);
  const { appId, ordersKey, adminKey, webhookSecret } = shop;
  const open = chains.map(({ id, name }) => ({ id: String(id), name }));
  const given = { serviceUrl: service.url, appId, ordersKey, adminKey, webhookSecret, chains: open };
  writeShopSettings(join(dataDir, 'shop'), given);
  const secrets = {
    [apps.merchant.appId]: apps.merchant.webhookSecret,
    [apps.wallet.appId]: apps.wallet.webhookSecret,
  };
  writeWhole(world.receiver.secretsFile, JSON.stringify(secrets));
  return {
    baseUrl: service.url,
    operationsUrl: service.operationsUrl,
    ...apps,
    shop,
    webhook: { url: world.receiver.url, log: world.receiver.log },
    demoEmail,
    mailbox: { url: world.mailbox.url, folder: join(dataDir, 'mail') },
    ...chainsOf(world, privateKeyToAddress(keys.customer)),
  };
}

/** On Base where it runs, else on the first chain that does. */
function merchantWalletOf({ rpcUrls, stellar, solana }: World, onEvm: string): MerchantWallet {
  const [first] = rpcUrls.keys();
  if (first !== undefined) return { chainId: rpcUrls.has(8453) ? 8453 : first, receiverAddress: onEvm };
  if (stellar) return { chainId: 1500, receiverAddress: stellar.merchantWallet };
  if (solana) return { chainId: 501, receiverAddress: solana.merchantWallet };
  throw new Error('no chain runs: name one in SANDBOX_CHAINS');
}

type ChainFacts = Pick<SandboxFile, 'customer' | 'chains' | 'stellar' | 'solana'>;

function chainsOf({ rpcUrls, stellar, solana }: World, customer: string): ChainFacts {
  const all = [...rpcUrls].map(([id, rpcUrl]) => ({ id: String(id), rpcUrl, address: customer }));
  if (stellar) all.push({ id: '1500', rpcUrl: stellar.rpcUrl, address: stellar.customer });
  if (solana) all.push({ id: '501', rpcUrl: solana.rpcUrl, address: solana.customer });
  return {
    customer: Object.fromEntries(all.map(({ id, address }) => [id, { address }])),
    chains: Object.fromEntries(all.map(({ id, rpcUrl }) => [id, { rpcUrl }])),
    stellar: stellar && {
      contract: stellar.contract,
      treasury: stellar.treasury,
      merchantWallet: stellar.merchantWallet,
    },
    solana: solana && { treasury: solana.treasury, merchantWallet: solana.merchantWallet },
  };
}

/** With these, `npm run merchant` works beside the running sandbox. */
function writeSettings(settings: Record<string, string>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  writeWhole(`${dataDir}/service.env`, `${lines.join('\n')}\n`);
}

/**
 * Stops on signals. A signal during the start waits until everything is started and recorded: only recorded processes can be ended.
 * SIGHUP, which `npm run dev` sends after a change, stops the service alone: the next start finds its chains and Postgres running.
 */
function stopOnSignals(): void {
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      const endsWorld = signal !== 'SIGHUP';
      if (endsWorld) console.log('\n  stopping …');
      service
        .then((running) => running.stop())
        .then(() => setSandboxFileAside(dataDir))
        .then(() => (endsWorld ? children.endAll() : undefined))
        .then(() => process.exit(0), exitWith);
    });
  }
}

/** A start that failed leaves no process behind. */
async function stopAfterFailure(error: unknown): Promise<void> {
  console.error(`\n  ${failureText(error)}\n`);
  await children.endAll();
  process.exit(1);
}

function exitWith(error: unknown): never {
  console.error(error);
  process.exit(1);
}
