/** What a pass remembers of token accounts between its looks. Losing it costs calls: what is not empty is read again, which changes nothing. */

import { boundedMap } from '../../../lib/cache.ts';
import type { TransferLog } from '../../ports.ts';
import type { SolanaNode } from '../rpc.ts';
import { type Held, type ReadTo, unread } from './accountHistory.ts';

/**
 * An account whose amount has not changed may have been emptied by a sweep and paid the same amount again. Its newest transaction tells: the
 * pass reads it at this interval, about 4 minutes, for at most `checksMax` accounts of a page.
 */
const checkEvery_slots = 600n;
const checksMax = 10;

/** A history that does not explain a balance is read again in so many looks; from then on only when the balance changes. */
const triesMax = 8;

interface Remembered {
  readonly readTo: ReadTo;
  /** Looks in a row that did not explain the balance. */
  readonly tries: number;
  /** The newest transaction that was listed. */
  readonly newest: string | null;
  /** The slot in which `newest` was last read. */
  checkedAt: bigint;
  /** In which slot the account was last looked at. */
  seenAt: bigint;
}

/** A look at one account. */
export interface ReadAccount {
  readonly account: string;
  /** What it held. */
  readonly balance: bigint;
  /** Whether the transactions that were read add up to that. */
  readonly explained: boolean;
  readonly readTo: ReadTo;
  /** The newest transaction that was listed. */
  readonly newest: string | null;
}

interface DueForCheck {
  readonly held: Held;
  readonly newest: string | null;
  readonly checkedAt: bigint;
}

export type Memory = ReturnType<typeof createMemory>;

export function createMemory() {
  const known = new Map<string, Remembered>();
  /** Of the pass: a look reads its deposits page by page, each in the same slot. */
  const looks: { current: bigint | undefined; before: bigint | undefined } = { current: undefined, before: undefined };
  const lastRead = (account: string): ReadTo => known.get(account)?.readTo ?? unread;

  return {
    lastRead,

    /** Those whose balance is another than what their history was read to. */
    changed(held: readonly Held[], slot: bigint): readonly Held[] {
      if (looks.current !== slot) Object.assign(looks, { current: slot, before: looks.current });
      return held.filter(({ account, amount }) => {
        const seen = known.get(account);
        if (seen) seen.seenAt = slot;
        return amount !== lastRead(account).amount;
      });
    },

    /** Accounts with an unchanged amount whose newest transaction is due to be read, the longest unread first. */
    dueForCheck(held: readonly Held[], slot: bigint): readonly DueForCheck[] {
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

    /** Called when the newest transaction of an account is still the one that was listed. */
    checked(account: string, slot: bigint): void {
      const seen = known.get(account);
      if (seen) seen.checkedAt = slot;
    },

    /** The slot of the look before the one that `changed` was last called in; undefined when there was none. */
    lookBefore: (): bigint | undefined => looks.before,

    /** Called once what was found is recorded. */
    keep(slot: bigint, read: readonly ReadAccount[]): void {
      for (const { account, balance, explained, readTo, newest } of read) {
        const tries = explained ? 0 : (known.get(account)?.tries ?? 0) + 1;
        const given = tries < triesMax ? readTo : { amount: balance, signature: newest };
        known.set(account, { readTo: given, tries, newest, checkedAt: slot, seenAt: slot });
      }
    },

    /** Forgets accounts that nobody watches any more. */
    forgetBefore(slot: bigint): void {
      for (const [account, { seenAt }] of known) if (seenAt < slot) known.delete(account);
    },
  };
}

/** What a node has shown of an account's incoming money, oldest first. */
type Recalled = readonly TransferLog[];

export interface Recall {
  /** @param logs all that changed the account between what it was read to before and now, oldest first */
  keep(node: SolanaNode, account: string, logs: Recalled): void;
  /**
   * What of it explains a balance, all in blocks that are final by now; undefined where it does not, so that the history has to be read.
   * @param hashAt the final block's hash; undefined where the node shows none
   */
  explaining(
    node: SolanaNode,
    held: Held,
    from: ReadTo,
    hashAt: (slot: bigint) => Promise<string | undefined>,
  ): Promise<Recalled | undefined>;
}

const accountsMax = 20_000;
/** Payins of one account that are remembered; a deposit that gets more is read. */
const logsMax = 16;

/**
 * Remembers what the head pass read of accounts for the final pass. A node whose final block has the hash of the confirmed block has the
 * same transactions in it.
 */
export function createRecall(): Recall {
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
  /** What the node said last and no look has used; undefined when it has said nothing since. */
  take(node: SolanaNode): bigint | undefined;
}

/** Keeps each node's newest slot from the watcher of heads, so that the look that the watcher wakes does not query it again. */
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
