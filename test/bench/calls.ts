/** Calls of a node for watching a chain: per second at the chain's real pace, and their price per month. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { chainOf } from '../../domain/chains.ts';
import { instant } from '../../domain/time.ts';
import { createLines, type NodeLines } from '../../src/chains/node/limiter.ts';
import { type Cursor, type Pass, transferOf } from '../../src/chains/ports.ts';
import { inParallel } from '../../src/lib/concurrency.ts';
import type { HeadWatch } from '../../src/workers/payins/headWatch.ts';
import { restsOf } from '../../src/workers/payins/payins.ts';
import { evmGround, type Ground, solanaGround, stellarGround } from './grounds.ts';
import { table, whole } from './table.ts';
import { monthly, tariffs } from './tariffs.ts';
import { watchedHeads } from './watchedHeads.ts';

const warmUp_ms = 30_000;
const tick_ms = 100;
/** The same limit as in the subscriber. */
const asksAtOnce = 8;

/** Activity on the chain: none, foreign transfers in each block, or foreign transfers and ten payments per second to us. */
const kinds = ['nothing', 'others pay', 'ten to us'] as const;
type Kind = (typeof kinds)[number];

interface Counted {
  search: number;
  read: number;
  /** HTTP requests; one request may contain several calls. */
  requests: number;
}

interface Measured {
  readonly name: string;
  readonly kinds: readonly Kind[];
  readonly open: (lines: NodeLines) => Promise<Ground>;
}

/** The EVM chains with several blocks per second: slower ones cost less. On Solana the number of open deposits determines the calls. */
const measuredChains: readonly Measured[] = [
  ...([8453, 42161, 56] as const).map((chainId): Measured => {
    return { name: chainOf(chainId).name, kinds, open: (lines) => evmGround(chainId, lines) };
  }),
  ...([100, 1_000, 10_000] as const).map((open): Measured => {
    return {
      name: `Solana, ${whole(open)} open`,
      kinds: open === 1_000 ? ['nothing', 'ten to us'] : ['nothing'],
      open: (lines) => solanaGround(lines, open),
    };
  }),
  { name: 'Stellar', kinds: ['nothing', 'ten to us'], open: stellarGround },
];

/** Measures the chains concurrently. @param chains prefix of their names. Default: all */
export async function benchCalls({ seconds, chains = '' }: { seconds: number; chains?: string }): Promise<string> {
  const rows = await Promise.all(
    measuredChains
      .filter(({ name }) => name.startsWith(chains))
      .map(async (chain) => {
        const own: (readonly string[])[] = [];
        for (const kind of chain.kinds)
          own.push(rowOf(chain.name, kind, await measured(chain.open, kind, seconds), seconds));
        return own;
      }),
  );
  const head = [
    'chain',
    'what happens',
    'calls/s',
    'of them searches',
    'requests/s',
    ...tariffs.map(({ name }) => `${name}, $ a month`),
  ];
  return table(head, rows.flat());
}

function rowOf(name: string, kind: Kind, counted: Counted, seconds: number): readonly string[] {
  const { search, read, requests } = counted;
  const family = name.startsWith('Solana') ? 'solana' : name === 'Stellar' ? 'stellar' : 'evm';
  const prices = monthly((search + read) / seconds, family).map((usd) => (usd === null ? '–' : whole(usd)));
  const rates = [search + read, search, requests].map((count) => (count / seconds).toFixed(1));
  const row = [name, kind, ...rates, ...prices];
  console.log(row.join(' | '));
  return row;
}

async function measured(open: Measured['open'], kind: Kind, seconds: number): Promise<Counted> {
  const stop = new AbortController();
  const counted: Counted = { search: 0, read: 0, requests: 0 };
  const lines = createLines({
    seen({ kind: what }) {
      counted[what === 'search' ? 'search' : 'read'] += 1;
    },
  });
  const ground = await open(lines);
  const { port } = new URL(ground.rpcUrl);
  const asked = (message: unknown) => {
    const { request } = message as { readonly request: ClientRequest };
    // Payers request other encodings too.
    const ours = request.getHeader('accept-encoding') === 'gzip';
    if (ours && String(request.getHeader('host')).endsWith(`:${port}`)) counted.requests += 1;
  };
  subscribe('http.client.request.start', asked);
  try {
    const { ingester, pollInterval_ms: poll_ms } = ground;
    const paying = pay(ground, kind, stop.signal);
    const heads = watchedHeads(ingester, ground);
    const listening = heads.moved.subscribe();
    const following = ingester.passes.map((pass) => follow(ground, heads, { pass, poll_ms }, stop.signal));
    await sleep(warmUp_ms);
    const before = { ...counted };
    await sleep(seconds * 1_000);
    const after = { ...counted };
    stop.abort();
    listening.unsubscribe();
    await Promise.allSettled([...following, paying]);
    const { search, read, requests } = before;
    return { search: after.search - search, read: after.read - read, requests: after.requests - requests };
  } finally {
    unsubscribe('http.client.request.start', asked);
    await ground.stop();
  }
}

/** Follows the chain like its subscriber, without recording the transfers it finds. */
async function follow(
  { ingester, isOurs, settled }: Ground,
  heads: HeadWatch,
  { pass, poll_ms }: { readonly pass: Pass; readonly poll_ms: number },
  signal: AbortSignal,
): Promise<void> {
  const rest_ms = restsOf(poll_ms)(pass);
  let cursor: Cursor = await ingester.start(pass, instant(Date.now()), signal);
  const look = async () => {
    for await (const { logs, next } of ingester.scan(cursor, signal)) {
      const toUs = logs.filter(({ to }) => isOurs(to));
      await inParallel(toUs, asksAtOnce, async (log) => {
        const transfer = ingester.resolve ? await ingester.resolve(log, signal) : transferOf(ingester.chainId, log);
        if (!transfer || pass !== 'final') return;
        const { agreed } = await ingester.agreed(transfer, { pass, usd: 1n }, signal);
        if (agreed) settled(log.to);
      });
      cursor = next;
    }
  };
  for (let moves = -1, ranAt_ms = 0; !signal.aborted; await sleep(tick_ms)) {
    if (heads.moves() === moves || Date.now() - ranAt_ms < rest_ms) continue;
    [moves, ranAt_ms] = [heads.moves(), Date.now()];
    // A local chain on a busy machine may not answer in time: the next poll tries again.
    await look().catch(() => undefined);
  }
}

async function pay(ground: Ground, kind: Kind, signal: AbortSignal): Promise<void> {
  if (kind === 'nothing') return;
  while (!signal.aborted) {
    // Sends several transfers at once if sending takes longer than the pause.
    void ground.pay(kind === 'ten to us').catch(() => undefined);
    await sleep(tick_ms);
  }
}
