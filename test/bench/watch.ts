/** Cost of polling the open deposits of Solana, for which the service reads accounts and not blocks. */
import { Keypair } from 'solana-web3-v1';
import type { Pass } from '../../commands/chainPorts.ts';
import { epochMs, instant } from '../../domain/time.ts';
import { advanceSlots } from '../../sandbox/solana/controls.ts';
import { startSolana } from '../../sandbox/solana/start.ts';
import { usdc } from '../../sandbox/solana/usdc.ts';
import type { Watch } from '../../src/chains/family.ts';
import { defaultSolanaConfig } from '../../src/chains/solana/config.ts';
import { createSolanaIngester } from '../../src/chains/solana/payins/ingester.ts';
import { accountsOf, accountsPerCall } from '../../src/chains/solana/reads.ts';
import { createSolanaRpc, type SolanaNode, type SolanaRpc } from '../../src/chains/solana/rpc.ts';
import { tokenAccountOf } from '../../src/chains/solana/tokenProgram.ts';
import { inParallel } from '../../src/lib/concurrency.ts';
import { loadText } from './machine.ts';
import { median, table, whole } from './table.ts';

const sizes = [1_000, 10_000, 100_000];
const looksMeasured = 15;
/** Concurrent calls of a poll. */
const callsAtOnce = 4;
const passes: readonly Pass[] = ['head', 'final'];
const { signal } = new AbortController();

/** Polls alternate with a minimal read of the same deposits: getMultipleAccounts, whose answers are discarded. */
export async function benchWatch(): Promise<string> {
  const node = await startSolana({ slot_ms: 'manual' });
  try {
    const rows: string[][] = [];
    for (const deposits of sizes) rows.push(...(await watched(node.rpcUrl, deposits)));
    const head = [
      'open deposits',
      'a look',
      'calls',
      'ms',
      'looks until all were read',
      'calls of a plain poll of all',
      'ms',
    ];
    const notes = `median of ${looksMeasured} looks without a payment; a local node in its own process; load of the machine after: ${loadText()}`;
    return `${table(head, rows)}\n${notes}`;
  } finally {
    await node.stop();
  }
}

async function watched(rpcUrl: string, deposits: number): Promise<readonly string[][]> {
  const owners = Array.from({ length: deposits }, () => Keypair.generate().publicKey.toBase58());
  const config = defaultSolanaConfig({ rpcUrls: [rpcUrl], treasury: owners[0] ?? '' });
  const counted = counting(createSolanaRpc(config));
  const ingester = createSolanaIngester(config, { open: pagesOf(owners), late: async () => [] }, counted.rpc);
  const accounts = owners.map((owner) => tokenAccountOf(owner, usdc.mint));
  const plain = await measured(counted.calls, () => counted.rpc.firstAnswer((each) => askAll(each, accounts), signal));

  const rows: string[][] = [];
  for (const pass of passes) {
    let cursor = await ingester.start(pass, instant(0), signal);
    const look = async () => {
      await advanceSlots(rpcUrl);
      for await (const { next } of ingester.scan(cursor, signal)) cursor = next;
    };
    /** The first round derives every account. */
    let looks = 0;
    for (const begun = cursor.blockNumber; cursor.blockNumber === begun; looks += 1) await look();
    const runs = [];
    for (let run = 0; run < looksMeasured; run += 1) runs.push(await measured(counted.calls, look));
    const [ms, calls] = [median(runs.map((run) => run.ms)), median(runs.map((run) => run.calls))];
    const shown = [whole(calls), whole(ms), whole(looks), whole(plain.calls), whole(plain.ms)];
    rows.push([whole(deposits), nameOf[pass] ?? pass, ...shown]);
  }
  return rows;
}

const nameOf: Readonly<Record<string, string>> = { head: 'of what is confirmed', final: 'of what is final' };

/** A list in the service's order, newest last. */
export function pagesOf(owners: readonly string[]): Watch['open'] {
  const youngestFirst = owners.map((address, place) => ({ address, key: address, at: instant(place) })).toReversed();
  return async ({ after, max }) => {
    const from = after === null ? 0 : owners.length - epochMs(after.at);
    return youngestFirst.slice(from, from + max);
  };
}

async function askAll(node: SolanaNode, accounts: readonly string[]): Promise<true> {
  const batches = Array.from({ length: accounts.length / accountsPerCall }, (_, at) =>
    accounts.slice(at * accountsPerCall, (at + 1) * accountsPerCall),
  );
  await inParallel(batches, callsAtOnce, (batch) => accountsOf(node, batch, { commitment: 'confirmed' }));
  return true;
}

async function measured(calls: () => number, work: () => Promise<unknown>) {
  const [begun, before] = [performance.now(), calls()];
  await work();
  return { ms: performance.now() - begun, calls: calls() - before };
}

/** Wraps a client and counts its calls. */
function counting(rpc: SolanaRpc): { readonly rpc: SolanaRpc; calls(): number } {
  let calls = 0;
  const counted = (node: SolanaNode) => ({
    ...node,
    request: (...call: Parameters<typeof node.request>) => {
      calls += 1;
      return node.request(...call);
    },
    batch: (asked: Parameters<typeof node.batch>[0]) => {
      calls += asked.length;
      return node.batch(asked);
    },
  });
  const countedRpc = (own: SolanaRpc): SolanaRpc => ({
    ...own,
    as: (priority) => countedRpc(own.as(priority)),
    firstAnswer: (ask, until) => own.firstAnswer((node) => ask(counted(node)), until),
    answer: (ask, until) => own.answer((node) => ask(counted(node)), until),
  });
  return { rpc: countedRpc(rpc), calls: () => calls };
}
