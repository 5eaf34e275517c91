/** The service's ingester on a local Solana, for deposits that a test names. */
import { createHash } from 'node:crypto';
import { Keypair, PublicKey } from 'solana-web3-v1';
import type { Cursor, Ingester, Pass, ScannedRange, TransferLog } from '../../../../commands/chainPorts.ts';
import { epochMs, instant } from '../../../../domain/time.ts';
import type { Watch } from '../../../../src/chains/family.ts';
import { createSolanaIngester } from '../../../../src/chains/solana/payins/ingester.ts';
import { createAddressBook } from '../../../../src/chains/solana/payins/tokenAccounts.ts';
import { createSolanaRpc } from '../../../../src/chains/solana/rpc.ts';
import { type SolanaWorld, signal, solanaWorld } from '../world.ts';

export interface Watcher {
  readonly ingester: Ingester;
  readonly open: string[];
  readonly late: string[];
  /** Polls once from the pass's cursor. @returns undefined if the chain has not moved */
  poll(pass: Pass): Promise<ScannedRange | undefined>;
  /** Polls once; the range is not recorded. */
  pollInVain(pass: Pass): Promise<void>;
  cursor(pass: Pass): Promise<Cursor>;
}

/**
 * @param urls Default: the local node.
 * @param accountsOf Watchers of the same thousands of deposits share one: deriving the accounts of 5,000 owners takes 1.5 s.
 */
export function watching(
  world: Pick<SolanaWorld, 'config'>,
  owners: readonly PublicKey[],
  urls?: string[],
  accountsOf = createAddressBook(),
): Watcher {
  const open = owners.map(String);
  const late: string[] = [];
  const watch = { open: pagesOf(open), late: pagesOf(late) };
  const config = world.config(urls);
  const ingester = createSolanaIngester(config, watch, createSolanaRpc(config), accountsOf);
  const cursors = new Map<Pass, Cursor>();
  const cursor = async (pass: Pass) =>
    cursors.get(pass) ?? (await ingester.start(pass, '2026-01-01T00:00:00.000Z' as Cursor['chainTime'], signal));
  return {
    ...{ ingester, open, late, cursor },
    async poll(pass) {
      const ranges: ScannedRange[] = [];
      for await (const range of ingester.scan(await cursor(pass), signal)) {
        cursors.set(pass, range.next);
        ranges.push(range);
      }
      if (ranges.length === 0) return undefined;
      return {
        logs: ranges.flatMap(({ logs }) => logs),
        unexplained: ranges.flatMap(({ unexplained = [] }) => unexplained),
        unreadable: ranges.flatMap(({ unreadable = [] }) => unreadable),
        stray: ranges.flatMap(({ stray = [] }) => stray),
        orphaned: [],
        next: await cursor(pass),
      };
    },
    async pollInVain(pass) {
      for await (const _ of ingester.scan(await cursor(pass), signal)) return;
    },
  };
}

/** Unix time in ms of the first address of a list; each next one is 1 ms older. */
const youngest = 1_000_000;

/** A list in the service's order, newest first. */
const pagesOf =
  (list: readonly string[]): Watch['open'] =>
  async ({ after, max }) => {
    const first = after === null ? 0 : youngest - epochMs(after.at) + 1;
    return list
      .slice(first, first + max)
      .map((address, place) => ({ address, key: address, at: instant(youngest - first - place) }));
  };

/** Relevant fields of logs. */
export const briefly = (range: ScannedRange | undefined) =>
  (range?.logs ?? []).map(({ to, from, amount, txHash }: TransferLog) => ({ to, from, amount, txHash }));

/** Returns addresses without an account. Hashing is 10 times faster than making keys; half of the addresses have no key. */
export const unusedAddresses = (name: string, count: number): readonly PublicKey[] =>
  Array.from({ length: count }, (_, n) => new PublicKey(createHash('sha256').update(`${name} ${n}`).digest()));

/** A local chain with a payer and a deposit; everything before is final. */
export async function depositWorld() {
  const world = await solanaWorld();
  const payer = await world.lab.person();
  world.settle();
  return { world, payer, deposit: Keypair.generate().publicKey };
}

/** Called inside a `describe`: gives each of its specs a separate chain, payer and deposit. */
export function eachWithDeposit() {
  let made: Awaited<ReturnType<typeof depositWorld>>;
  beforeEach(async () => {
    made = await depositWorld();
  });
  afterEach(() => made.world.lab.stop());
  return {
    get world() {
      return made.world;
    },
    get payer() {
      return made.payer;
    },
    get deposit() {
      return made.deposit;
    },
    /** Pays. @returns the transaction's signature */
    pay: (amount: bigint, to = made.deposit, version: 0 | 1 = 0): Promise<string> =>
      made.world.lab.pay({ from: made.payer, to, amount, version }),
    /** The payment in the form of `briefly`. */
    paid: (amount: bigint, txHash: string, to = made.deposit) => ({
      ...{ to: to.toBase58(), from: made.payer.publicKey.toBase58(), amount, txHash },
    }),
    slotOf: (signature: string): number => made.world.solana.chain.history.find(signature)?.slot ?? -1,
  };
}
