/** Delay between sending a payment and detecting it, at the chain's real pace: with polls, and with a WebSocket. solanaDetection.ts measures Solana. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { instant } from '../../domain/time.ts';
import { startAnvil } from '../../sandbox/anvil.ts';
import { defaultEvmChainConfig, type EvmChainId } from '../../src/chains/evm/config.ts';
import { createEvmIngester } from '../../src/chains/evm/payins/ingester.ts';
import { createPushes } from '../../src/chains/evm/pushes.ts';
import { createEvmRpc } from '../../src/chains/evm/rpc.ts';
import { systemTicker } from '../../src/chains/node/limiter.ts';
import { systemClock } from '../../src/process/system.ts';
import { createPushed } from '../../src/workers/payins/pushed.ts';
import { accounts, openPayer } from './chainPayer.ts';
import { benchSolanaDetection } from './solanaDetection.ts';
import { table, whole } from './table.ts';
import { watchedHeads } from './watchedHeads.ts';

const warmUp_ms = 8_000;
/** A prime number, so that payments are sent at every moment between two polls. */
const pause_ms = 1_117;

interface DetectionOptions {
  readonly seconds: number;
  /** Prefix of the chains' names. Default: all. */
  readonly chains?: string | undefined;
}

/** The chains with several blocks per second, one after the other: together they would compete for the processor. */
export async function benchDetection({ seconds, chains = '' }: DetectionOptions): Promise<string> {
  const isWanted = (chainId: ChainId) => chainOf(chainId).name.startsWith(chains);
  const evm = ([8453, 42161, 56] as const).filter(isWanted);
  const tables = [
    ...(evm.length > 0 ? [await ofEvmChains(evm, seconds)] : []),
    ...(isWanted(501) ? [await benchSolanaDetection({ seconds })] : []),
  ];
  return tables.join('\n\n');
}

async function ofEvmChains(chainIds: readonly (EvmChainId & ChainId)[], seconds: number): Promise<string> {
  const rows: (readonly string[])[] = [];
  for (const chainId of chainIds) {
    const { block_ms, name } = chainOf(chainId);
    for (const by of ['polls', 'WebSocket'] as const) {
      const seen_ms = (await seenAfter(chainId, by === 'WebSocket', seconds)).toSorted((a, b) => a - b);
      const at = (share: number) => whole(seen_ms[Math.floor((seen_ms.length - 1) * share)] ?? Number.NaN);
      const row = [name, by, String(block_ms), String(seen_ms.length), at(0.5), at(0.95), at(1)];
      console.log(row.join(' | '));
      rows.push(row);
    }
  }
  return table(['chain', 'seen by', 'block, ms', 'payments', 'p50, ms', 'p95, ms', 'longest, ms'], rows);
}

/** @returns for each payment, the time in ms between its sending and the read of its log, which includes the wait for its block */
async function seenAfter(chainId: EvmChainId & ChainId, pushes: boolean, seconds: number): Promise<readonly number[]> {
  const { block_ms } = chainOf(chainId);
  const anvil = await startAnvil({ chainId, mining: { blockTime_s: block_ms / 1_000 } });
  const stop = new AbortController();
  const sent = new Map<string, number>();
  const took: number[] = [];
  try {
    const config = defaultEvmChainConfig(chainId, [anvil.rpcUrl]);
    const ingester = createEvmIngester(config, createEvmRpc(config));
    const urls = [anvil.rpcUrl.replace('http', 'ws')];
    const chain = chainOf(chainId);
    const pushed = pushes
      ? createPushed({
          pushes: createPushes({ chain, urls, ticker: systemTicker, random: Math.random }),
          clock: systemClock,
          block_ms,
          isAwaited: async () => true,
          oursAmong: async (all) => all.filter((account) => account.toLowerCase() === accounts.ours),
        })
      : undefined;
    const heads = watchedHeads(ingester, config, pushed);
    let cursor = await ingester.start('head', instant(Date.now()), stop.signal);
    let last = Promise.resolve();
    const look = async () => {
      for await (const { logs, next } of ingester.scan(cursor, stop.signal)) {
        for (const { txHash } of logs) {
          const sent_ms = sent.get(txHash);
          if (sent_ms !== undefined && sent.delete(txHash)) took.push(performance.now() - sent_ms);
        }
        cursor = next;
      }
    };
    const listening = heads.moved.subscribe(() => {
      last = last.then(look).catch(() => {});
    });
    const pay = await openPayer(anvil.rpcUrl, chainId);
    await sleep(warmUp_ms);
    for (let at_ms = 0; at_ms < seconds * 1_000; at_ms += pause_ms) {
      const sent_ms = performance.now();
      sent.set(await pay(accounts.ours), sent_ms);
      await sleep(pause_ms);
    }
    await sleep(warmUp_ms);
    listening.unsubscribe();
    stop.abort();
    await last;
    if (sent.size > 0) throw new Error(`${sent.size} payments were not seen`);
    return took;
  } finally {
    stop.abort();
    await anvil.stop();
  }
}
