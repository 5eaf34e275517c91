/** Faults of local programs, and a seeded plan of them: one after the other, sometimes two at once, until it is stopped. */
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPublicClient, http } from 'viem';
import { type ChainId, chains } from '../../../domain/chains.ts';
import { callNode } from '../../askNode.ts';
import { between, pickFrom, type Random, weighted } from '../../random.ts';
import { addFault as addSolanaFault, clearFaults as clearSolanaFaults, forkTo } from '../../solana/controls.ts';
import { addFault as addStellarFault, clearFaults as clearStellarFaults } from '../../stellar/controls.ts';
import { inflict, messageOf, type Strike } from '../world.ts';
import { freeze } from './program.ts';
import type { ProcessWorld } from './world.ts';

/** @param weight in the draw of faults */
const fault = (weight: number, strike: Strike<ProcessWorld>) => ({ weight, strike });

const stopped =
  (name: 'service' | 'eventStore', signal: 'SIGKILL' | 'SIGTERM'): Strike<ProcessWorld> =>
  async (world) => {
    await world[name].down(signal);
    return async () => world[name].start();
  };

const postgresStopped =
  (kind: NodeJS.Signals): Strike<ProcessWorld> =>
  async (world) => {
    const pid = world.postgresPid();
    if (pid) process.kill(pid, kind);
    return () => world.startPostgres();
  };

/** @param pids processes that do nothing while the fault lasts */
const hung =
  (pids: (world: ProcessWorld, random: Random) => readonly (number | undefined)[]): Strike<ProcessWorld> =>
  async (world, random) => {
    const resume = freeze(pids(world, random).filter((pid) => pid !== undefined));
    return async () => resume();
  };

const evmChains = chains.filter(({ family }) => family === 'evm');

export const faults = {
  serviceKilled: fault(24, stopped('service', 'SIGKILL')),
  serviceStopped: fault(3, stopped('service', 'SIGTERM')),
  serviceHung: fault(
    5,
    hung(({ service }) => [service.pid()]),
  ),
  postgresKilled: fault(4, postgresStopped('SIGKILL')),
  postgresStopped: fault(3, postgresStopped('SIGINT')),
  postgresHung: fault(
    5,
    hung((world) => familyOf(world.postgresPid())),
  ),
  postgresDiskFull: fault(4, async (world) => {
    world.disks.postgres?.fill();
    return async () => {
      world.disks.postgres?.clear();
      // The program ended because it could not write its log.
      await sleep(500);
      await world.startPostgres();
    };
  }),
  eventStoreKilled: fault(6, stopped('eventStore', 'SIGKILL')),
  eventStoreStopped: fault(3, stopped('eventStore', 'SIGTERM')),
  eventStoreHung: fault(
    5,
    hung(({ eventStore }) => [eventStore.pid()]),
  ),
  eventStoreDiskFull: fault(4, async ({ disks }) => {
    disks.eventStore?.fill();
    return async () => disks.eventStore?.clear();
  }),
  chainHung: fault(
    8,
    hung(({ children }, random) => [children.alive(`chain-${pickFrom(random, chains).id}`)?.pid]),
  ),
  blocksStalled: fault(
    4,
    hung(({ children }) => [children.alive('block-clock')?.pid]),
  ),
  evmForked: fault(9, async (world, random) => {
    await forkEvm(world, pickFrom(random, evmChains).id);
    return async () => {};
  }),
  solanaForked: fault(4, async ({ rpcUrl }) => {
    await forkTo(rpcUrl(501), (await newestSlot(rpcUrl(501))) - 2, true);
    return async () => {};
  }),
  stellarFaulty: fault(5, async ({ rpcUrl }, random) => {
    const kind = random.pick(['drop', 'lostAnswer', 'duplicate', 'tryAgainLater'] as const);
    await addStellarFault(rpcUrl(1500), { kind, method: 'sendTransaction', times: between(random, 1, 3) });
    const times = between(random, 1, 10);
    await addStellarFault(rpcUrl(1500), { kind: 'unavailable', method: 'getLatestLedger', times });
    return () => clearStellarFaults(rpcUrl(1500));
  }),
  solanaFaulty: fault(5, async ({ rpcUrl }, random) => {
    const [kind, any] = [
      random.pick(['drop', 'lostAnswer', 'duplicate'] as const),
      random.pick(['unavailable', 'lagging'] as const),
    ];
    await addSolanaFault(rpcUrl(501), { kind, method: 'sendTransaction', times: between(random, 1, 3) });
    await addSolanaFault(rpcUrl(501), { kind: any, method: '*', times: 10, slots: 3 });
    return () => clearSolanaFaults(rpcUrl(501));
  }),
  webhooksHang: fault(
    6,
    hung(({ children }) => [children.alive('receiver')?.pid]),
  ),
} as const;

export type FaultName = keyof typeof faults;

/** Only one of two faults with one target is active. */
export const targetOf = (name: FaultName): string => /^[a-z]+/.exec(name)?.[0] ?? name;

const weights = Object.fromEntries(Object.entries(faults).map(([name, { weight }]) => [name, weight])) as Readonly<
  Record<FaultName, number>
>;

export const drawFault = (random: Random): FaultName => weighted(random, weights);

export interface Plan {
  /** Number of each fault. */
  readonly counts: ReadonlyMap<FaultName, number>;
  /** Faults that could not be applied or reverted. */
  readonly failures: readonly string[];
  /** Reverts active faults. */
  stop(): Promise<void>;
}

const lasts_ms = { least: 300, most: 7_000 };
const pause_ms = { least: 500, most: 4_000 };
/** On a busy machine a start takes long: a service that never gets ready would test nothing. */
const readyMost_ms = 60_000;
const atOnceMax = 2;

export function runPlan(world: ProcessWorld, random: Random, onFault: (name: FaultName) => void): Plan {
  const counts = new Map<FaultName, number>();
  const failures: string[] = [];
  /** By target. */
  const active = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  const running = run();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const [name, lasting_ms] = [drawFault(random), between(random, lasts_ms.least, lasts_ms.most)];
      const target = targetOf(name);
      if (active.size < atOnceMax && !active.has(target)) {
        onFault(name);
        active.set(
          target,
          inflictOne(name, lasting_ms).finally(() => active.delete(target)),
        );
      }
      await sleep(between(random, pause_ms.least, pause_ms.most));
    }
  }

  async function inflictOne(name: FaultName, lasting_ms: number): Promise<void> {
    const lasting = async () => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      await sleep(lasting_ms);
    };
    await inflict(faults[name].strike, world, random, lasting).catch((error: unknown) =>
      failures.push(`${name}: ${messageOf(error)}`),
    );
    if (isDependency(name)) await untilReady();
  }

  async function untilReady(): Promise<void> {
    for (const until_ms = performance.now() + readyMost_ms; performance.now() < until_ms; await sleep(pause_ms.least))
      if (await world.isReady()) return;
  }

  return {
    counts,
    failures,
    async stop() {
      stopping.abort();
      await running;
      await Promise.all(active.values());
    },
  };
}

/** The next fault of a dependency of the service waits until the service is ready again. */
const isDependency = (name: FaultName): boolean => ['service', 'postgres', 'event'].includes(targetOf(name));

/** A process and all of its descendants. */
function familyOf(pid: number | undefined): readonly number[] {
  if (!pid) return [];
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const parents = table.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const family = [pid];
  for (const member of family)
    family.push(...parents.flatMap(([child, parent]) => (parent === member && child ? [child] : [])));
  return family;
}

/** The newest block leaves; its transactions return, because wallets and nodes keep them. */
async function forkEvm(world: ProcessWorld, chainId: ChainId): Promise<void> {
  const client = createPublicClient({ transport: http(world.rpcUrl(chainId)), cacheTime: 0 });
  const ask = (method: string, params: readonly unknown[]) => client.request({ method, params } as never);
  const { transactions } = await client.getBlock();
  const bytes = await Promise.all(transactions.map((hash) => ask('eth_getRawTransactionByHash', [hash])));
  await ask('anvil_reorg', [1, []]);
  for (const raw of bytes) await ask('eth_sendRawTransaction', [raw]).catch(() => {});
}

const newestSlot = (url: string): Promise<number> => callNode(url, 'getSlot', [{ commitment: 'processed' }]);
