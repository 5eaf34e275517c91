/**
 * State of token accounts that a pass keeps between its reads. Losing it only costs calls: non-empty accounts are read again, which changes
 * nothing.
 */

import { boundedMap } from '../../../lib/cache.ts';
import type { TransferLog } from '../../ports.ts';
import type { SolanaNode } from '../rpc.ts';
import { type HeldTokenAccount, type ReadTo, unread } from './accountHistory.ts';

/**
 * An account with an unchanged amount may have been swept and paid the same amount again, which its newest transaction reveals: the pass
 * reads it at this interval, about 4 minutes, for at most `checksMax` accounts of a page.
 */
const checkEvery_slots = 600n;
const checksMax = 10;

/** Maximum reads of a history that does not explain a balance; after them it is read again only if the balance changes. */
const triesMax = 8;

interface Remembered {
  readonly readTo: ReadTo;
  /** Consecutive reads that did not explain the balance. */
  readonly tries: number;
  /** Newest listed transaction. */
  readonly newest: string | null;
  /** Slot at the last read of `newest`. */
  checkedAt: bigint;
  /** Slot of the account's last read. */
  seenAt: bigint;
}

/** A read of one account. */
export interface ReadAccount {
  readonly account: string;
  /** Balance of the account. */
  readonly balance: bigint;
  /** True if the read transactions add up to the balance. */
  readonly explained: boolean;
  readonly readTo: ReadTo;
  /** Newest listed transaction. */
  readonly newest: string | null;
}

interface DueForCheck {
  readonly held: HeldTokenAccount;
  readonly newest: string | null;
  readonly checkedAt: bigint;
}

export type Memory = ReturnType<typeof createMemory>;

export function createMemory() {
  const known = new Map<string, Remembered>();
  /** Slots of the pass's reads: one read covers its deposits page by page, all at the same slot. */
  const looks: { current: bigint | undefined; before: bigint | undefined } = { current: undefined, before: undefined };
  const lastRead = (account: string): ReadTo => known.get(account)?.readTo ?? unread;

  return {
    lastRead,

    /** Accounts whose balance differs from their read history. */
    changed(held: readonly HeldTokenAccount[], slot: bigint): readonly HeldTokenAccount[] {
      if (looks.current !== slot) Object.assign(looks, { current: slot, before: looks.current });
      return held.filter(({ account, amount }) => {
        const seen = known.get(account);
        if (seen) seen.seenAt = slot;
        return amount !== lastRead(account).amount;
      });
    },

    /** Accounts with an unchanged amount whose newest transaction is due to be read, the longest unread first. */
    dueForCheck(held: readonly HeldTokenAccount[], slot: bigint): readonly DueForCheck[] {
      return held
        .flatMap((each) => {
          const seen = known.get(each.account);
          const isUnchanged = seen !== undefined && each.amount > 0n && seen.readTo.amount === each.amount;
          if (!isUnchanged || slot - seen.checkedAt < checkEvery_slots) return [];
          return [{ held: each, newest: seen.newest, checkedAt: seen.checkedAt }];
        })
        .toSorted((a, b) => Number(a.checkedAt - b.checkedAt))
        .slice(0, checksMax);
    },

    /** Called if the newest transaction of an account is still the listed one. */
    checked(account: string, slot: bigint): void {
      const seen = known.get(account);
      if (seen) seen.checkedAt = slot;
    },

    /** Slot of the previous read; undefined if there was none. */
    lookBefore: (): bigint | undefined => looks.before,

    /** Called once the findings are recorded. */
    keep(slot: bigint, read: readonly ReadAccount[]): void {
      for (const { account, balance, explained, readTo, newest } of read) {
        const tries = explained ? 0 : (known.get(account)?.tries ?? 0) + 1;
        const given = tries < triesMax ? readTo : { amount: balance, signature: newest };
        known.set(account, { readTo: given, tries, newest, checkedAt: slot, seenAt: slot });
      }
    },

    /** Forgets accounts that are no longer watched. */
    forgetBefore(slot: bigint): void {
      for (const [account, { seenAt }] of known) if (seenAt < slot) known.delete(account);
    },
  };
}

/** An account's credits from a node, oldest first. */
type Recalled = readonly TransferLog[];

export interface Recall {
  /** @param logs all changes of the account between its last read and now, oldest first */
  keep(node: SolanaNode, account: string, logs: Recalled): void;
  /**
   * Remembered credits that explain a balance, all in blocks that are final by now; undefined if none do, so that the history must be read.
   * @param hashAt the final block's hash; undefined if the node has none
   */
  explaining(
    node: SolanaNode,
    held: HeldTokenAccount,
    from: ReadTo,
    hashAt: (slot: bigint) => Promise<string | undefined>,
  ): Promise<Recalled | undefined>;
}

const accountsMax = 20_000;
/** Maximum remembered payins of one account; deposits with more are read. */
const logsMax = 16;

/**
 * Remembers the head pass's reads of accounts for the final pass. If a node's final block has the hash of the confirmed block, its
 * transactions are the same.
 */
export function createHeadMemory(): Recall {
  const known = boundedMap<Recalled>(accountsMax);
  const keyOf = ({ name }: SolanaNode, account: string) => `${name} ${account}`;
  return {
    keep(node, account, logs) {
      const key = keyOf(node, account);
      const again = new Set(logs.map(({ txHash }) => txHash));
      const before = (known.get(key) ?? []).filter(({ txHash }) => !again.has(txHash));
      known.set(key, [...before, ...logs].slice(-logsMax));
    },

    async explaining(node, { account, amount, slot }, from, hashAt) {
      const all = (known.get(keyOf(node, account)) ?? []).filter(({ blockNumber }) => blockNumber <= slot);
      const logs = all.slice(all.findIndex(({ txHash }) => txHash === from.signature) + 1);
      const before = from.signature === null ? 0n : from.amount;
      if (logs.length === 0 || logs.reduce((sum, log) => sum + log.amount, before) !== amount) return undefined;
      const hashes = await Promise.all(logs.map(({ blockNumber }) => hashAt(blockNumber)));
      return logs.every(({ blockHash }, at) => blockHash === hashes[at]) ? logs : undefined;
    },
  };
}

export interface PolledSlots {
  tell(node: SolanaNode, slot: bigint): void;
  /** The node's last slot that no read has used; undefined if there is none since. */
  take(node: SolanaNode): bigint | undefined;
}

/** Keeps each node's newest slot from the head watcher, so that the read after the watcher's notification does not query it again. */
export function createPolledSlots(): PolledSlots {
  const told = new Map<string, bigint>();
  return {
    tell: ({ name }, slot) => void told.set(name, slot),
    take({ name }) {
      const slot = told.get(name);
      told.delete(name);
      return slot;
    },
  };
}
