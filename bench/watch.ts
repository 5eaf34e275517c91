/** What it costs to poll the open deposits of Solana, of which accounts are read and not blocks. */
import { Keypair } from 'solana-web3-v1';
import type { Cursor, Pass } from '../commands/chainPorts.ts';
import { instant } from '../domain/time.ts';
import { advanceSlots } from '../sandbox/solana/controls.ts';
import { startSolana } from '../sandbox/solana/start.ts';
import { usdc } from '../sandbox/solana/usdc.ts';
import { inParallel } from '../src/chains/inParallel.ts';
import { defaultSolanaConfig } from '../src/chains/solana/config.ts';
import { createSolanaIngester } from '../src/chains/solana/payins/ingester.ts';
import { accountsOf, accountsPerCall } from '../src/chains/solana/reads.ts';
import { createSolanaRpc, type SolanaNode, type SolanaRpc } from '../src/chains/solana/rpc.ts';
import { tokenAccountOf } from '../src/chains/solana/tokenProgram.ts';
import { loadText } from './machine.ts';
import { median, table, whole } from './table.ts';

const deposits = 10_000;
const rounds = 15;
/** As many calls as a poll has under way. */
const callsAtOnce = 4;
const passes: readonly Pass[] = ['head', 'final'];
const { signal } = new AbortController();

/** Polls alternate with the least that asks the same: getMultipleAccounts for all of them, and nothing done with the answers. */
export async function benchWatch(): Promise<string> {
  const node = await startSolana({ slot_ms: 'manual' });
  try {
    const owners = Array.from({ length: deposits }, () => Keypair.generate().publicKey.toBase58());
    const config = defaultSolanaConfig({ rpcUrls: [node.rpcUrl], treasury: owners[0] ?? '' });
    const counted = counting(createSolanaRpc(config));
    const ingester = createSolanaIngester(config, { open: async () => owners, late: async () => [] }, counted.rpc);
    const accounts = owners.map((owner) => tokenAccountOf(owner, usdc.mint));
    const cursors = new Map<Pass, Cursor>();
    const poll = async (pass: Pass) => {
      const cursor = cursors.get(pass) ?? (await ingester.start(pass, instant(0), signal));
      for await (const { next } of ingester.scan(cursor, signal)) cursors.set(pass, next);
    };
    const plain = () => counted.rpc.first((each) => askAll(each, accounts), signal);

    const first_ms = await timed(() => poll('head'));
    await poll('final');
    const runs = new Map<string, number[]>([...passes, 'plain'].map((name) => [name, []]));
    const calls = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      await advanceSlots(node.rpcUrl);
      for (const [name, work] of [
        ...passes.map((pass) => [pass, () => poll(pass)] as const),
        ['plain', plain] as const,
      ]) {
        const before = counted.calls();
        runs.get(name)?.push(await timed(work));
        calls.set(name, counted.calls() - before);
      }
    }
    const least = median(runs.get('plain') ?? []);
    const rows = [...runs].map(([name, times]) => {
      const ms = median(times);
      return [nameOf[name] ?? name, whole(calls.get(name) ?? 0), whole(ms), (ms / least).toFixed(2)];
    });
    const head = [`a poll of ${whole(deposits)} open deposits`, 'calls', 'ms', 'ratio to plain'];
    const notes = `median of ${rounds} alternating polls, a local node in its own process; the first poll, which derives every account, took ${whole(first_ms)} ms; load of the machine after: ${loadText()}`;
    return `${table(head, rows)}\n${notes}`;
  } finally {
    await node.stop();
  }
}

const nameOf: Readonly<Record<string, string>> = {
  head: 'of what is confirmed',
  final: 'of what is final',
  plain: 'plain getMultipleAccounts',
};

async function askAll(node: SolanaNode, accounts: readonly string[]): Promise<true> {
  const batches = Array.from({ length: accounts.length / accountsPerCall }, (_, at) =>
    accounts.slice(at * accountsPerCall, (at + 1) * accountsPerCall),
  );
  await inParallel(batches, callsAtOnce, (batch) => accountsOf(node, batch, { commitment: 'confirmed' }));
  return true;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** The same nodes, their calls counted. */
function counting(rpc: SolanaRpc): { readonly rpc: SolanaRpc; calls(): number } {
  let calls = 0;
  const counted = (node: SolanaNode) => ({
    ...node,
    request: (...call: Parameters<typeof node.request>) => {
      calls += 1;
      return node.request(...call);
    },
  });
  return {
    rpc: { ...rpc, first: (ask, until) => rpc.first((node) => ask(counted(node)), until) },
    calls: () => calls,
  };
}
