/** Layers of reads and writes over ledger entries: of a transaction, its operations and calls. Writes count only once committed. */
import { xdr } from '@stellar/stellar-sdk';
import { base64 } from '../xdr.ts';

export interface Change {
  readonly key: xdr.LedgerKey;
  readonly before: xdr.LedgerEntryData | undefined;
  /** Undefined: removed. */
  readonly after: xdr.LedgerEntryData | undefined;
}

export interface View {
  /** Never change the result: use `change`. */
  get(key: xdr.LedgerKey): xdr.LedgerEntryData | undefined;
  put(key: xdr.LedgerKey, data: xdr.LedgerEntryData): void;
  remove(key: xdr.LedgerKey): void;
  /** Puts a changed copy of an entry. @throws when there is none */
  change(key: xdr.LedgerKey, edit: (data: xdr.LedgerEntryData) => void): void;
  /** A layer above this one. */
  child(): View;
  /** Moves this layer's writes to the layer below. */
  commit(): void;
  /** This layer's writes. */
  changes(): readonly Change[];
}

/** Touched entries by key, in this layer or those above. */
export interface Touched {
  readonly reads: Map<string, xdr.LedgerKey>;
  readonly writes: Map<string, xdr.LedgerKey>;
  /** Called before an entry is read or written. @throws Error if this use is forbidden */
  readonly check?: (name: string, use: 'read' | 'write') => void;
}

interface Below {
  get(key: xdr.LedgerKey): xdr.LedgerEntryData | undefined;
  write?(change: Change): void;
}

export function openView(below: Below, touched?: Touched): View {
  const written = new Map<string, Change>();

  const write = (change: Change) => {
    const name = base64(change.key);
    touched?.check?.(name, 'write');
    touched?.writes.set(name, change.key);
    const first = written.get(name);
    written.set(name, first ? { ...change, before: first.before } : change);
  };

  const self: View = {
    get(key) {
      const name = base64(key);
      touched?.check?.(name, 'read');
      touched?.reads.set(name, key);
      const change = written.get(name);
      return change ? change.after : below.get(key);
    },
    put: (key, after) => write({ key, before: self.get(key), after }),
    remove: (key) => write({ key, before: self.get(key), after: undefined }),
    change(key, edit) {
      const data = self.get(key);
      if (!data) throw new Error(`no ledger entry ${base64(key)} to change`);
      const copy = xdr.LedgerEntryData.fromXDR(data.toXDR());
      edit(copy);
      self.put(key, copy);
    },
    child: () => openView({ get: self.get, write }, touched),
    commit() {
      for (const change of written.values()) below.write?.(change);
      written.clear();
    },
    changes: () => [...written.values()],
  };
  return self;
}

/** A layer that records touched entries. */
export function recordingView(
  below: View,
  check?: Touched['check'],
): { readonly view: View; readonly touched: Touched } {
  const touched: Touched = { reads: new Map(), writes: new Map(), ...(check && { check }) };
  const write = ({ key, after }: Change) => (after ? below.put(key, after) : below.remove(key));
  return { view: openView({ get: below.get, write }, touched), touched };
}
