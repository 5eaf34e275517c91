/** Faults: each acts on one part of the world, lasts a while, and is reverted. */
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPublicClient, http } from 'viem';
import { type ChainId, chains } from '../../domain/chains.ts';
import { addFault as addSolanaFault, clearFaults as clearSolanaFaults, forkTo } from '../solana/controls.ts';
import { addFault as addStellarFault, clearFaults as clearStellarFaults } from '../stellar/controls.ts';
import type { Dice } from './dice.ts';
import { freeze } from './program.ts';
import type { ChaosWorld } from './world.ts';

/** Acts at once; returns the function that reverts it. */
type Fault = (chaos: ChaosWorld, dice: Dice) => Promise<() => Promise<void>>;

const over = async (): Promise<void> => {};
const evmChains = chains.filter(({ family }) => family === 'evm').map(({ id }) => id);

export const faults = {
  serviceKilled: async ({ service }) => {
    await service.down('SIGKILL');
    return async () => service.start();
  },
  serviceStopped: async ({ service }) => {
    await service.down('SIGTERM');
    return async () => service.start();
  },
  serviceHung: async ({ service }) => later(service.hang()),
  postgresKilled: async (chaos) => {
    signal(chaos.postgresPid(), 'SIGKILL');
    return () => chaos.startPostgres();
  },
  postgresStopped: async (chaos) => {
    signal(chaos.postgresPid(), 'SIGINT');
    return () => chaos.startPostgres();
  },
  postgresHung: async (chaos) => later(freeze(familyOf(chaos.postgresPid()))),
  postgresDiskFull: async (chaos) => {
    chaos.disks.postgres?.fill();
    return async () => {
      chaos.disks.postgres?.clear();
      // The program ended because it could not write its log.
      await sleep(500);
      await chaos.startPostgres();
    };
  },
  eventStoreKilled: async ({ eventStore }) => {
    await eventStore.down('SIGKILL');
    return async () => eventStore.start();
  },
  eventStoreStopped: async ({ eventStore }) => {
    await eventStore.down('SIGTERM');
    return async () => eventStore.start();
  },
  eventStoreHung: async ({ eventStore }) => later(eventStore.hang()),
  eventStoreDiskFull: async ({ disks }) => {
    disks.eventStore?.fill();
    return async () => disks.eventStore?.clear();
  },
  chainHung: async ({ children }, dice) => {
    const { id } = dice.oneOf(chains);
    return later(freeze(pidsOf(children.alive(`chain-${id}`)?.pid)));
  },
  blocksStalled: async ({ children }) => later(freeze(pidsOf(children.alive('block-clock')?.pid))),
  evmForked: async (chaos, dice) => {
    await forkEvm(chaos, dice.oneOf(evmChains));
    return over;
  },
  solanaForked: async (chaos) => {
    const url = chaos.rpcUrl(501);
    const slot = await newestSlot(url);
    await forkTo(url, slot - 2, true);
    return over;
  },
  stellarFaulty: async (chaos, dice) => {
    const url = chaos.rpcUrl(1500);
    const kind = dice.oneOf(['drop', 'lostAnswer', 'duplicate', 'tryAgainLater'] as const);
    await addStellarFault(url, { kind, method: 'sendTransaction', times: dice.between(1, 3) });
    await addStellarFault(url, { kind: 'unavailable', method: 'getLatestLedger', times: dice.between(1, 10) });
    return () => clearStellarFaults(url);
  },
  solanaFaulty: async (chaos, dice) => {
    const url = chaos.rpcUrl(501);
    const kind = dice.oneOf(['drop', 'lostAnswer', 'duplicate'] as const);
    await addSolanaFault(url, { kind, method: 'sendTransaction', times: dice.between(1, 3) });
    await addSolanaFault(url, { kind: dice.oneOf(['unavailable', 'lagging']), method: '*', times: 10, slots: 3 });
    return () => clearSolanaFaults(url);
  },
  webhooksHang: async ({ children }) => later(freeze(pidsOf(children.alive('receiver')?.pid))),
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof faults;

/** Only one of two faults with one target is active. */
export const targetOf = (name: FaultName): string => /^[a-z]+/.exec(name)?.[0] ?? name;

export const weights: Readonly<Record<FaultName, number>> = {
  serviceKilled: 24,
  serviceStopped: 3,
  serviceHung: 5,
  postgresKilled: 4,
  postgresStopped: 3,
  postgresHung: 5,
  postgresDiskFull: 4,
  eventStoreKilled: 6,
  eventStoreStopped: 3,
  eventStoreHung: 5,
  eventStoreDiskFull: 4,
  chainHung: 8,
  blocksStalled: 4,
  evmForked: 9,
  solanaForked: 4,
  stellarFaulty: 5,
  solanaFaulty: 5,
  webhooksHang: 6,
};

const later = (undo: () => void) => async (): Promise<void> => undo();

const pidsOf = (pid: number | undefined): readonly number[] => (pid ? [pid] : []);

function signal(pid: number | undefined, kind: NodeJS.Signals): void {
  if (pid) process.kill(pid, kind);
}

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
async function forkEvm(chaos: ChaosWorld, chainId: ChainId): Promise<void> {
  const client = createPublicClient({ transport: http(chaos.rpcUrl(chainId)), cacheTime: 0 });
  const ask = (method: string, params: readonly unknown[]) => client.request({ method, params } as never);
  const { transactions } = await client.getBlock();
  const bytes = await Promise.all(transactions.map((hash) => ask('eth_getRawTransactionByHash', [hash])));
  await ask('anvil_reorg', [1, []]);
  for (const raw of bytes) await ask('eth_sendRawTransaction', [raw]).catch(() => {});
}

async function newestSlot(url: string): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot', params: [{ commitment: 'processed' }] }),
  });
  return ((await response.json()) as { readonly result: number }).result;
}
