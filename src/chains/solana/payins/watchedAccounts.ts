/** The token accounts of deposits: where they are, what they hold, and what a pass remembers of them between its polls. */
import { inParallel } from '../../inParallel.ts';
import { callsAtOnce, solanaChain } from '../config.ts';
import { type AsOf, accountsOf, accountsPerCall } from '../reads.ts';
import type { SolanaNode } from '../rpc.ts';
import { amountSlice, tokenAccountOf } from '../tokenProgram.ts';
import { type ReadTo, unread } from './accountHistory.ts';

/** Deriving an account's address takes a while: those that are watched are kept. */
export function createAddressBook() {
  const known = new Map<string, readonly string[]>();
  return {
    /** Each owner's account for every token of the catalogue. */
    accountsOf: (owners: readonly string[]): readonly string[] =>
      owners.flatMap((owner) => {
        const accounts = known.get(owner) ?? solanaChain().tokens.map(({ address }) => tokenAccountOf(owner, address));
        known.set(owner, accounts);
        return accounts;
      }),
    keepOnly(watched: ReadonlySet<string>): void {
      for (const owner of known.keys()) if (!watched.has(owner)) known.delete(owner);
    },
  };
}

/** @returns what each token account holds, in smallest units; nothing where there is none */
export async function balancesOf(
  node: SolanaNode,
  accounts: readonly string[],
  asOf: AsOf,
): Promise<ReadonlyMap<string, bigint>> {
  const batches = Array.from({ length: Math.ceil(accounts.length / accountsPerCall) }, (_, at) =>
    accounts.slice(at * accountsPerCall, (at + 1) * accountsPerCall),
  );
  const answers = await inParallel(batches, callsAtOnce, async (batch) => {
    const found = await accountsOf(node, batch, { ...asOf, slice: amountSlice });
    return found.accounts.map((account) =>
      account?.data.length === amountSlice.length ? account.data.readBigUInt64LE() : 0n,
    );
  });
  const amounts = answers.flat();
  return new Map(accounts.map((account, at) => [account, amounts[at] ?? 0n]));
}

/** Late accounts, those of payments that are over, are watched at this interval: every minute or so. */
const lateEvery_slots = 150n;
/** Late accounts that one poll reads at most. After a start all of them are unread, and open payments must not wait for them. */
const lateReadsMax = 100;

/** The accounts of one poll. */
export interface Watched {
  /** Of payments that wait for their money. */
  readonly open: readonly string[];
  /** Of payments that are over; null when it is not their turn. */
  readonly late: readonly string[] | null;
}

/** Accounts whose balance changed. */
export interface Changed {
  readonly open: readonly string[];
  readonly late: readonly string[];
  /** Late ones whose balance the node's history did not explain the last time, and may never do: read after all others. */
  readonly lateAgain: readonly string[];
}

export interface ReadAccount {
  readonly account: string;
  /** Whether the transactions that were read add up to the account's balance. */
  readonly explained: boolean;
  readonly readTo: ReadTo;
}

export type Memory = ReturnType<typeof createMemory>;

/** Losing it costs calls: every account that is not empty is read again, which changes nothing. */
export function createMemory() {
  const readTo = new Map<string, ReadTo>();
  let unexplained: ReadonlySet<string> = new Set();
  let lateAt: bigint | null = null;
  const lastRead = (account: string): ReadTo => readTo.get(account) ?? unread;

  return {
    lastRead,
    lateIsDue: (slot: bigint): boolean => lateAt === null || slot - lateAt >= lateEvery_slots,

    changed({ open, late }: Watched, balances: ReadonlyMap<string, bigint>): Changed {
      const hasChanged = (account: string) => balances.get(account) !== lastRead(account).amount;
      const changedLate = late?.filter(hasChanged) ?? [];
      return {
        open: open.filter(hasChanged),
        late: changedLate.filter((account) => !unexplained.has(account)),
        lateAgain: changedLate.filter((account) => unexplained.has(account)),
      };
    },

    /** Called once what a poll found is recorded. */
    keep(slot: bigint, { open, late }: Watched, changed: Changed, read: readonly ReadAccount[]): void {
      for (const { account, readTo: to } of read) readTo.set(account, to);
      if (late === null) return;
      // With more than one poll can read, the rest follows in the next one.
      lateAt = changed.late.length > lateReadsMax ? null : slot;
      const explained = new Set(read.filter((each) => each.explained).map(({ account }) => account));
      const failed = read.filter((each) => !each.explained).map(({ account }) => account);
      unexplained = new Set([...changed.lateAgain.filter((account) => !explained.has(account)), ...failed]);
      const watched = new Set([...open, ...late]);
      for (const account of readTo.keys()) if (!watched.has(account)) readTo.delete(account);
    },
  };
}

/** The changed accounts in the order in which one poll reads them. */
export const readingOrder = ({ open, late, lateAgain }: Changed): readonly string[] => [
  ...open,
  ...[...late, ...lateAgain].slice(0, lateReadsMax),
];
