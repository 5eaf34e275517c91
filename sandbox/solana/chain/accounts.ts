/** All accounts, at present and in the slots that may still be rolled back. */
import type { Address } from '@solana/kit';
import { type Account, type SavedAccount, saveAccount } from './account.ts';
import type { Machine } from './machine.ts';

export type SavedAccounts = Readonly<Record<string, SavedAccount>>;

export interface Accounts {
  /** @param slot at the end of this one. Default: now */
  get(address: Address, slot?: number): Account | undefined;
  /** Writes an account in a slot. */
  put(slot: number, address: Address, account: Account | undefined): void;
  /** Records a change of an account in a slot, with its former state. */
  changed(slot: number, address: Address, before: Account | undefined): void;
  /** Runs a function on the accounts of the end of a slot. */
  asOf<T>(slot: number, addresses: readonly Address[], run: () => T): T;
  /** Undoes all changes after a slot. */
  rollback(slot: number): void;
  /** Nothing up to this slot will be queried or undone. */
  settle(slot: number): void;
  /** Changes after one slot up to another, slot by slot, as far as `settle` has kept them. */
  writtenIn(
    after: number,
    upTo: number,
  ): readonly { readonly slot: number; readonly addresses: ReadonlySet<Address> }[];
  /** Every address that was ever written. */
  addresses(): Iterable<Address>;
  /** Everything at one slot, then the changes of each later slot, as `settle` has kept them. */
  dump(): readonly { readonly slot: number; readonly accounts: SavedAccounts }[];
}

interface Change {
  readonly slot: number;
  readonly address: Address;
  readonly before: Account | undefined;
}

/** @param first the slot before the first one that changes anything */
export function createAccounts(machine: Machine, first: number): Accounts {
  const written = new Set<Address>();
  const byAddress = new Map<Address, Change[]>();
  let all: Change[] = [];
  let settled = first;

  const get = (address: Address, slot?: number) => {
    const later = slot === undefined ? undefined : byAddress.get(address)?.find((change) => change.slot > slot);
    return later ? later.before : machine.get(address);
  };
  const index = (changes: readonly Change[]) => {
    byAddress.clear();
    for (const change of changes) {
      const known = byAddress.get(change.address);
      if (known) known.push(change);
      else byAddress.set(change.address, [change]);
    }
  };

  return {
    get,
    put(slot, address, account) {
      this.changed(slot, address, machine.get(address));
      machine.put(address, account);
    },
    changed(slot, address, before) {
      written.add(address);
      const change = { slot, address, before };
      all.push(change);
      const known = byAddress.get(address);
      if (known) known.push(change);
      else byAddress.set(address, [change]);
    },
    asOf(slot, addresses, run) {
      const differing = addresses.filter((each) => byAddress.get(each)?.some((change) => change.slot > slot));
      const now = differing.map((each) => machine.get(each));
      for (const each of differing) machine.put(each, get(each, slot));
      try {
        return run();
      } finally {
        for (const [place, each] of differing.entries()) machine.put(each, now[place]);
      }
    },
    rollback(slot) {
      const undone = all.filter((change) => change.slot > slot);
      for (const { address, before } of undone.toReversed()) machine.put(address, before);
      all = all.filter((change) => change.slot <= slot);
      index(all);
    },
    settle(slot) {
      settled = Math.max(settled, slot);
      if ((all[0]?.slot ?? Number.POSITIVE_INFINITY) > settled) return;
      all = all.filter((change) => change.slot > settled);
      index(all);
    },
    writtenIn(after, upTo) {
      const within = all.filter(({ slot }) => slot > after && slot <= upTo);
      const slots = [...Map.groupBy(within, ({ slot }) => slot)].toSorted(([one], [other]) => one - other);
      return slots.map(([slot, changes]) => ({ slot, addresses: new Set(changes.map(({ address }) => address)) }));
    },
    addresses: () => written,
    dump() {
      const saved = (slot: number, addresses: Iterable<Address>): SavedAccounts =>
        Object.fromEntries([...addresses].map((each) => [each, saveAccount(get(each, slot))]));
      const later = [...Map.groupBy(all, ({ slot }) => slot)].map(([slot, changes]) => ({
        slot,
        accounts: saved(slot, new Set(changes.map(({ address }) => address))),
      }));
      const existing = [...written].filter((each) => get(each, settled));
      return [{ slot: settled, accounts: saved(settled, existing) }, ...later];
    },
  };
}
