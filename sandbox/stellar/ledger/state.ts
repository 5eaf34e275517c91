/** The ledger's state: XDR of each key → its entry. */
import { xdr } from '@stellar/stellar-sdk';
import { base64 } from '../xdr.ts';
import { type Change, openView, type View } from './view.ts';

export interface LedgerState {
  get(key: xdr.LedgerKey): xdr.LedgerEntry | undefined;
  /** A layer of writes; give its changes to `apply` to make them real. */
  view(): View;
  apply(changes: readonly Change[], ledger: number): void;
  /** Everything, as base64 XDR. */
  dump(): Record<string, string>;
  /** Entries as `dump` gives them; null removes. */
  load(entries: Readonly<Record<string, string | null>>): void;
}

export function createState(): LedgerState {
  const entries = new Map<string, xdr.LedgerEntry>();
  const get = (key: xdr.LedgerKey) => entries.get(base64(key));
  return {
    get,
    view: () => openView({ get: (key) => get(key)?.data() }),
    apply(changes, ledger) {
      for (const { key, after } of changes) {
        if (after) entries.set(base64(key), ledgerEntry(after, ledger));
        else entries.delete(base64(key));
      }
    },
    dump: () => Object.fromEntries([...entries].map(([key, entry]) => [key, base64(entry)])),
    load(saved) {
      for (const [key, entry] of Object.entries(saved)) {
        if (entry === null) entries.delete(key);
        else entries.set(key, xdr.LedgerEntry.fromXDR(entry, 'base64'));
      }
    },
  };
}

export const ledgerEntry = (data: xdr.LedgerEntryData, ledger: number): xdr.LedgerEntry =>
  new xdr.LedgerEntry({ lastModifiedLedgerSeq: ledger, data, ext: new xdr.LedgerEntryExt(0) });

/** Changes as ledger metadata tells them: the state before, then what became of it. */
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
