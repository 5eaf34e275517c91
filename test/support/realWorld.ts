/** The real nodes of a sandbox: a spec restarts, kills, freezes them and removes their blocks. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { askNode } from '../../sandbox/askNode.ts';
import { openChildren } from '../../sandbox/children.ts';
import { startAgave } from '../../sandbox/realNodes/agave.ts';
import { startGeth } from '../../sandbox/realNodes/geth.ts';
import { readPid } from '../../sandbox/realNodes/node.ts';
import { stellarIsReady } from '../../sandbox/realNodes/stellarNetwork.ts';
import { patience_ms } from './patience.ts';
import { familyOf, freeze } from './processTable.ts';
import { programOf } from './realNodes.ts';
import type { Sandbox } from './sandbox.ts';

export interface RealWorld {
  /** Ends the nodes of these chains with a signal and starts them again on the same data and ports. */
  restart(chainIds: readonly ChainId[], signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Freezes the nodes' processes for this long. */
  freeze(chainIds: readonly ChainId[], duration_ms: number): Promise<void>;
  /** Removes the newest blocks of an EVM chain. The node forgets their transactions. */
  setBack(chainId: ChainId, blocks: number): Promise<void>;
}

const gone_ms = 60_000;
const poll_ms = 100;
const launchesMax = 10;
const relaunch_ms = 1_000;
/** An RPC node on Stellar starts within 5 to 12 s on a quiet machine. */
const rpcStart_ms = 15_000;

export function createRealWorld(sandbox: Sandbox): RealWorld {
  const rpcUrl = (chainId: ChainId) => sandbox.file().chains[String(chainId)]?.rpcUrl ?? assert.fail();
  const folder = (chainId: ChainId) => join(sandbox.dataDir, 'chains', String(chainId));
  /** The processes of the node itself: the start program of Stellar supervises them. */
  async function pidsOf(chainId: ChainId): Promise<readonly number[]> {
    if (chainId === 1500) return Promise.all(['core', 'rpc'].map((name) => readPid(join(folder(1500), `${name}.pid`))));
    if (chainId === 501) return [await readPid(join(folder(501), 'pid'))];
    return [sandbox.pidOf(`chain-${chainId}`) ?? assert.fail(`chain ${chainId} does not run`)];
  }

  async function restartOne(chainId: ChainId, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const pids = await pidsOf(chainId);
    const confirmed = chainId === 501 ? await confirmedSlot() : 0;
    for (const pid of pids) process.kill(pid, signal);
    for (const pid of pids) await untilGone(pid);
    const port = Number(new URL(rpcUrl(chainId)).port);
    const logFile = join(sandbox.dataDir, 'logs', `chain-${chainId}.log`);
    if (chainId === 1500) return untilStellarIsReady();
    const node = await launchPatiently(() =>
      chainId === 501
        ? startAgave({ program: programOf('SOLANA'), folder: folder(501), logFile, port })
        : startGeth({ program: programOf('GETH'), chainId, folder: folder(chainId), logFile, port }),
    );
    // The sandbox's next start finds the node, and its end ends it.
    openChildren(join(sandbox.dataDir, 'processes.json')).record(`chain-${chainId}`, node.pid, { rpcUrl: node.rpcUrl });
    if (chainId === 501) await untilConfirmed(confirmed);
  }

  const confirmedSlot = async () => Number((await askNode(rpcUrl(501), 'getSlot', [{ commitment: 'confirmed' }])) ?? 0);

  /** A restarted Agave answers as of its last snapshot, which may be older than its accounts, until it confirms a block. */
  async function untilConfirmed(slot: number): Promise<void> {
    for (const until_ms = performance.now() + patience_ms; (await confirmedSlot()) <= slot; await sleep(poll_ms)) {
      assert.ok(performance.now() < until_ms, `Solana has not confirmed slot ${slot + 1}`);
    }
  }

  /**
   * Kills an RPC node that has missed a ledger while it read the archive: it would wait for 35 s. The next one reads a newer checkpoint. On a
   * busy machine the next one may miss a ledger, too, so it has the time to wait.
   */
  async function untilStellarIsReady(): Promise<void> {
    let start_ms = rpcStart_ms;
    for (let since_ms = performance.now(); !(await stellarIsReady(rpcUrl(1500))); await sleep(poll_ms)) {
      if (performance.now() - since_ms < start_ms) continue;
      const rpc = await readPid(join(folder(1500), 'rpc.pid'));
      if (isAlive(rpc)) process.kill(rpc, 'SIGKILL');
      start_ms *= 4;
      since_ms = performance.now();
    }
  }

  return {
    async restart(chainIds, signal) {
      await Promise.all(chainIds.map((chainId) => restartOne(chainId, signal)));
    },

    async freeze(chainIds, duration_ms) {
      const pids = await Promise.all(chainIds.map(pidsOf));
      const thaw = freeze(pids.flat().flatMap(familyOf));
      await sleep(duration_ms);
      thaw();
    },

    async setBack(chainId, blocks) {
      assert.equal(chainOf(chainId).family, 'evm');
      const head = Number(await askNode(rpcUrl(chainId), 'eth_blockNumber'));
      await sandbox.rpc(chainId, 'debug_setHead', [`0x${Math.max(0, head - blocks).toString(16)}`]);
    },
  };
}

/** Another process may hold one of the node's ports for a moment. */
async function launchPatiently<N>(launch: () => Promise<N>): Promise<N> {
  for (let tries = 1; tries < launchesMax; tries += 1) {
    const node = await launch().catch(() => undefined);
    if (node !== undefined) return node;
    await sleep(relaunch_ms);
  }
  return launch();
}

async function untilGone(pid: number): Promise<void> {
  for (const until_ms = performance.now() + gone_ms; isAlive(pid); await sleep(poll_ms)) {
    assert.ok(performance.now() < until_ms, `process ${pid} has not ended`);
  }
}

/** A dead child that nobody has waited for yet counts as gone. */
function isAlive(pid: number): boolean {
  try {
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop();
    return !state?.startsWith('Z');
  } catch {
    return false;
  }
}
