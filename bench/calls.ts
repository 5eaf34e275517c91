/** What watching an EVM chain asks of a node: calls per second at the chain's real pace, and what they cost in a month. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChainId, chainOf } from '../domain/chains.ts';
import { instant } from '../domain/time.ts';
import { startAnvil } from '../sandbox/anvil.ts';
import { defaultEvmChainConfig, type EvmChainId } from '../src/chains/evm/config.ts';
import { createEvmIngester, type EvmIngester } from '../src/chains/evm/payins/ingester.ts';
import { createEvmRpc } from '../src/chains/evm/rpc.ts';
import { inParallel } from '../src/chains/inParallel.ts';
import { createLines } from '../src/chains/node/lines.ts';
import type { Cursor, Pass } from '../src/chains/ports.ts';
import type { HeadWatch } from '../src/subscribers/headWatch.ts';
import { restsOf } from '../src/subscribers/payins.ts';
import { accounts, openPayer } from './chainPayer.ts';
import { table, whole } from './table.ts';
import { watchedHeads } from './watchedHeads.ts';

/** Dollars for a million units, and units of a search for logs and of any other call; published prices of 2025, to be checked. */
const tariffs = [
  { name: 'Alchemy, pay as you go', perMillion_usd: 0.45, search: 60, read: 20 },
  { name: 'QuickNode, Build', perMillion_usd: 0.61, search: 20, read: 20 },
  { name: 'Infura, Developer', perMillion_usd: 0.11, search: 255, read: 80 },
] as const;

const month_s = 30 * 24 * 3_600;
const warmUp_ms = 30_000;
const tick_ms = 100;
/** As the subscriber asks about transfers. */
const asksAtOnce = 8;

/** What happens on the chain: nothing, transfers between others in each block, or ten payments a second to us among them. */
const kinds = ['nothing', 'others pay', 'ten to us'] as const;
type Kind = (typeof kinds)[number];

interface Counted {
  search: number;
  read: number;
}

/** Of the chains that make several blocks a second, side by side. Slower ones cost less. */
export async function benchCalls({ seconds }: { readonly seconds: number }): Promise<string> {
  const chainIds: readonly EvmChainId[] = [8453, 42161, 56];
  const rows = await Promise.all(
    chainIds.map(async (chainId) => {
      const own: (readonly string[])[] = [];
      for (const kind of kinds) own.push(rowOf(chainId, kind, await measured(chainId, kind, seconds), seconds));
      return own;
    }),
  );
  const head = [
    'chain',
    'what happens',
    'calls/s',
    'of them searches',
    ...tariffs.map(({ name }) => `${name}, $ a month`),
  ];
  return table(head, rows.flat());
}

function rowOf(chainId: EvmChainId, kind: Kind, { search, read }: Counted, seconds: number): readonly string[] {
  const prices = tariffs.map((tariff) => {
    const units = (search * tariff.search + read * tariff.read) / seconds;
    return whole((units * month_s * tariff.perMillion_usd) / 1_000_000);
  });
  const perSecond = ((search + read) / seconds).toFixed(1);
  const row = [chainOf(chainId).name, kind, perSecond, (search / seconds).toFixed(1), ...prices];
  console.log(row.join(' | '));
  return row;
}

async function measured(chainId: EvmChainId, kind: Kind, seconds: number): Promise<Counted> {
  const anvil = await startAnvil({ chainId, mining: { blockTime_s: chainOf(chainId).block_ms / 1_000 } });
  const stop = new AbortController();
  const counted: Counted = { search: 0, read: 0 };
  const lines = createLines({
    seen({ kind: what }) {
      counted[what === 'search' ? 'search' : 'read'] += 1;
    },
  });
  try {
    const config = defaultEvmChainConfig(chainId, [anvil.rpcUrl]);
    const ingester = createEvmIngester(config, createEvmRpc({ ...config, lines }));
    const paying = pay(anvil.rpcUrl, chainId, kind, stop.signal);
    const heads = watchedHeads(ingester, config);
    const listening = heads.moved.subscribe();
    const following = ingester.passes.map((pass) =>
      follow(ingester, heads, { pass, poll_ms: config.pollInterval_ms }, stop.signal),
    );
    await sleep(warmUp_ms);
    const before = { ...counted };
    await sleep(seconds * 1_000);
    const after = { ...counted };
    stop.abort();
    listening.unsubscribe();
    await Promise.allSettled([...following, paying]);
    return { search: after.search - before.search, read: after.read - before.read };
  } finally {
    await anvil.stop();
  }
}

/** As the chain's subscriber follows it, without writing down what it finds. */
async function follow(
  ingester: EvmIngester,
  heads: HeadWatch,
  { pass, poll_ms }: { readonly pass: Pass; readonly poll_ms: number },
  signal: AbortSignal,
): Promise<void> {
  const rest_ms = restsOf(poll_ms)(pass);
  let cursor: Cursor = await ingester.start(pass, instant(Date.now()), signal);
  for (let moves = -1, ranAt_ms = 0; !signal.aborted; await sleep(tick_ms)) {
    if (heads.moves() === moves || Date.now() - ranAt_ms < rest_ms) continue;
    [moves, ranAt_ms] = [heads.moves(), Date.now()];
    for await (const { logs, next } of ingester.scan(cursor, signal)) {
      const toUs = logs.filter(({ to }) => to.toLowerCase() === accounts.ours);
      await inParallel(toUs, asksAtOnce, async (log) => {
        const transfer = await ingester.resolve(log, signal);
        if (transfer && pass === 'final') await ingester.agreed(transfer, { pass, usd: 1n }, signal);
      });
      cursor = next;
    }
  }
}

async function pay(rpcUrl: string, chainId: ChainId, kind: Kind, signal: AbortSignal): Promise<void> {
  if (kind === 'nothing') return;
  const send = await openPayer(rpcUrl, chainId);
  while (!signal.aborted) {
    await send(kind === 'ten to us' ? accounts.ours : accounts.other);
    await sleep(tick_ms);
  }
}
