/** Delay between sending a payment to one of very many open deposits on Solana and detecting it: with polls alone, and with a WebSocket. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Keypair } from 'solana-web3-v1';
import type { Cursor, Ingester, Pass } from '../../commands/chainPorts.ts';
import { chainOf } from '../../domain/chains.ts';
import { instant } from '../../domain/time.ts';
import { startSolana } from '../../sandbox/solana/start.ts';
import { createLines, systemTicker } from '../../src/chains/node/limiter.ts';
import { defaultSolanaConfig } from '../../src/chains/solana/config.ts';
import { createSolanaIngester } from '../../src/chains/solana/payins/ingester.ts';
import { createPushes } from '../../src/chains/solana/pushes.ts';
import { createSolanaRpc } from '../../src/chains/solana/rpc.ts';
import { systemClock } from '../../src/process/system.ts';
import type { HeadWatch } from '../../src/workers/payins/headWatch.ts';
import { restsOf } from '../../src/workers/payins/payins.ts';
import { createPushed } from '../../src/workers/payins/pushed.ts';
import { openFarNode } from './farNode.ts';
import { loadText } from './machine.ts';
import type { OthersPaying } from './othersPaying.ts';
import { openSolanaPayer } from './solanaPayer.ts';
import { table, whole } from './table.ts';
import { pagesOf } from './watch.ts';
import { watchedHeads } from './watchedHeads.ts';

const deposits = 100_000;
const roundTrip_ms = 80;
const slot_ms = 400;
const finalized_slots = 32;
/** A prime number, so that payments are sent at every moment between two polls. */
const pause_ms = 1_117;
const unseenMax_ms = 120_000;

/** Foreign notifications per second while their cost is measured, and the duration. */
const others: OthersPaying = { perSecond: 1_000, seconds: 20 };

interface Run {
  /** For each payment, the time from its sending to the read of its log. */
  readonly seen_ms: readonly number[];
  readonly callsPerSecond: number;
}

/** @param seconds duration of the payments, each to a deposit of any age */
export async function benchSolanaDetection({ seconds }: { readonly seconds: number }): Promise<string> {
  const owners = Array.from({ length: deposits }, () => Keypair.generate().publicKey.toBase58());
  const rows: (readonly string[])[] = [];
  for (const by of ['polls', 'WebSocket'] as const) {
    const { seen_ms, callsPerSecond } = await measured(owners, by === 'WebSocket', seconds);
    const sorted = seen_ms.toSorted((a, b) => a - b);
    const at = (share: number) => whole(sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN);
    const row = [by, whole(sorted.length), at(0.5), at(0.95), at(1), callsPerSecond.toFixed(1)];
    console.log(row.join(' | '));
    rows.push(row);
  }
  const head = ['seen by', 'payments', 'p50, ms', 'p95, ms', 'longest, ms', 'calls/s'];
  const notes = `${whole(deposits)} open deposits, ${roundTrip_ms} ms to the node and back; load of the machine after: ${loadText()}`;
  return `${table(head, rows)}\n${notes}\n${await costOfOthers(owners)}`;
}

async function measured(owners: readonly string[], pushes: boolean, seconds: number): Promise<Run> {
  const solana = await startSolana({ slot_ms, finalized_slots });
  const far = await openFarNode(solana.rpcUrl, roundTrip_ms);
  const farSocket = await openFarNode(solana.wsUrl, roundTrip_ms);
  const stop = new AbortController();
  const [sent, seen] = [new Map<string, number>(), new Map<string, number>()];
  let calls = 0;
  try {
    const lines = createLines({
      seen() {
        calls += 1;
      },
    });
    const config = defaultSolanaConfig({ rpcUrls: [far.url], treasury: owners[0] ?? '' });
    const watch = { open: pagesOf(owners), late: async () => [] };
    const ingester = createSolanaIngester(config, watch, createSolanaRpc({ ...config, lines }));
    const heads = watchedHeads(ingester, config, pushes ? pushedTo(owners, farSocket.url, ingester) : undefined);
    const listening = heads.moved.subscribe();
    const note = (txHash: string) => void (seen.has(txHash) || seen.set(txHash, performance.now()));
    const round = Promise.withResolvers<void>();
    const following = ingester.passes.map((pass) =>
      follow(
        ingester,
        heads,
        { pass, rest_ms: restsOf(config.pollInterval_ms)(pass), note, round: round.resolve },
        stop.signal,
      ),
    );
    const payer = await openSolanaPayer(solana.rpcUrl);
    // The first round derives each deposit's account, which is slow.
    await round.promise;
    const [before, begun_ms] = [calls, performance.now()];
    for (let at_ms = 0; at_ms < seconds * 1_000; at_ms += pause_ms) {
      const to = owners[Math.floor(Math.random() * owners.length)] ?? '';
      const sent_ms = performance.now();
      sent.set(await payer.pay(to), sent_ms);
      await sleep(pause_ms);
    }
    const callsPerSecond = ((calls - before) * 1_000) / (performance.now() - begun_ms);
    for (let waited_ms = 0; [...sent.keys()].some((hash) => !seen.has(hash)); waited_ms += pause_ms) {
      if (waited_ms > unseenMax_ms) throw new Error('payments were not seen');
      await sleep(pause_ms);
    }
    listening.unsubscribe();
    stop.abort();
    await Promise.allSettled(following);
    return { seen_ms: [...sent].map(([hash, at_ms]) => (seen.get(hash) ?? Number.NaN) - at_ms), callsPerSecond };
  } finally {
    stop.abort();
    await Promise.all([far.stop(), farSocket.stop()]);
    await solana.stop();
  }
}

/** Receives the pushes like the service, with a list in memory as its read models. */
function pushedTo(
  owners: readonly string[],
  wsUrl: string,
  { lookFirst }: Pick<Ingester, 'lookFirst'>,
  asked: () => void = () => {},
) {
  const chain = chainOf(501);
  const own = new Set(owners);
  return createPushed({
    pushes: createPushes({ chain, urls: [wsUrl], ticker: systemTicker, random: Math.random }),
    clock: systemClock,
    block_ms: chain.block_ms,
    isAwaited: async () => true,
    async oursAmong(all) {
      asked();
      return all.filter((account) => own.has(account));
    },
    lookFirst,
  });
}

/** @returns a sentence about the cost of receiving foreign transfers */
async function costOfOthers(owners: readonly string[]): Promise<string> {
  const node = new Worker(new URL('othersPaying.ts', import.meta.url), { workerData: others });
  try {
    const [port] = (await once(node, 'message')) as [number];
    let asked = 0;
    const pushed = pushedTo(owners, `ws://127.0.0.1:${port}`, { lookFirst: () => {} }, () => {
      asked += 1;
    });
    const before = process.threadCpuUsage();
    const listening = pushed.wakes.subscribe();
    await once(node, 'message');
    await sleep(1_000);
    listening.unsubscribe();
    const { user, system } = process.threadCpuUsage(before);
    const each_us = (user + system) / (others.perSecond * others.seconds);
    const share = ((user + system) / (others.seconds * 1e6)) * 100;
    return `${whole(others.perSecond)} transfers to others pushed a second: ${each_us.toFixed(0)} µs each, ${share.toFixed(1)} % of a core, ${(asked / others.seconds).toFixed(1)} queries a second`;
  } finally {
    await node.terminate();
  }
}

interface Following {
  readonly pass: Pass;
  readonly rest_ms: number;
  readonly note: (txHash: string) => void;
  /** Called when the head pass has finished its first round. */
  readonly round: () => void;
}

/** Follows the chain like its subscriber, without recording the transfers it finds. */
async function follow(
  ingester: Ingester,
  heads: HeadWatch,
  { pass, rest_ms, note, round }: Following,
  signal: AbortSignal,
): Promise<void> {
  let cursor: Cursor = await ingester.start(pass, instant(0), signal);
  const look = async () => {
    for await (const { logs, next } of ingester.scan(cursor, signal)) {
      if (pass === 'head') for (const { txHash } of logs) note(txHash);
      cursor = next;
    }
    if (pass === 'head' && cursor.blockNumber > 0n) round();
  };
  for (let moves = -1, ranAt_ms = 0; !signal.aborted; await sleep(5)) {
    if (heads.moves() === moves || Date.now() - ranAt_ms < rest_ms) continue;
    [moves, ranAt_ms] = [heads.moves(), Date.now()];
    // A local chain on a busy machine may not answer in time: the next poll tries again.
    await look().catch(() => undefined);
  }
}
