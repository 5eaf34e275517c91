/** The ledger's state: XDR of each key → its entry. */
import { xdr } from '@stellar/stellar-sdk';
import { base64 } from '../xdr.ts';
import { type Change, openView, type View } from './view.ts';

/** Base64 XDR by key; null: removed. */
export type SavedEntries = Readonly<Record<string, string | null>>;

export interface LedgerState {
  get(key: xdr.LedgerKey): xdr.LedgerEntry | undefined;
  /** A layer of writes; pass its changes to `apply` to store them. */
  view(): View;
  apply(changes: readonly Change[], ledger: number): void;
  /** Everything, as base64 XDR. */
  dump(): SavedEntries;
  /** Changes since the last call. */
  takeChanged(): SavedEntries;
  load(entries: SavedEntries): void;
}

export function createState(): LedgerState {
  const entries = new Map<string, xdr.LedgerEntry>();
  const changed = new Set<string>();
  const saved = (keys: Iterable<string>): SavedEntries =>
    Object.fromEntries([...keys].map((key) => [key, entries.get(key)?.toXDR('base64') ?? null]));
  const get = (key: xdr.LedgerKey) => entries.get(base64(key));
  return {
    get,
    view: () => openView({ get: (key) => get(key)?.data() }),
    apply(changes, ledger) {
      for (const { key, after } of changes) {
        const name = base64(key);
        changed.add(name);
        if (after) entries.set(name, ledgerEntry(after, ledger));
        else entries.delete(name);
      }
    },
    dump: () => saved(entries.keys()),
    takeChanged() {
      const taken = saved(changed);
      changed.clear();
      return taken;
    },
    load(loaded) {
      for (const [key, entry] of Object.entries(loaded)) {
        if (entry === null) entries.delete(key);
        else entries.set(key, xdr.LedgerEntry.fromXDR(entry, 'base64'));
      }
    },
  };
}

export const ledgerEntry = (data: xdr.LedgerEntryData, ledger: number): xdr.LedgerEntry =>
  new xdr.LedgerEntry({ lastModifiedLedgerSeq: ledger, data, ext: new xdr.LedgerEntryExt(0) });

/** Changes in the form of ledger metadata: the entry before, then the entry after. */
export function entryChanges(changes: readonly Change[], ledger: number): xdr.LedgerEntryChange[] {
  return changes.flatMap(({ key, before, after }) => {
    const was = before ? [xdr.LedgerEntryChange.ledgerEntryState(ledgerEntry(before, ledger - 1))] : [];
    if (!after) return before ? [...was, xdr.LedgerEntryChange.ledgerEntryRemoved(key)] : [];
    const entry = ledgerEntry(after, ledger);
    return before
      ? [...was, xdr.LedgerEntryChange.ledgerEntryUpdated(entry)]
      : [xdr.LedgerEntryChange.ledgerEntryCreated(entry)];
  });
}
