/** What a pass remembers of token accounts between its polls. */
import { type ReadTo, unread } from './accountHistory.ts';

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
