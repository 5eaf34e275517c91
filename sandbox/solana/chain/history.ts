/** Transactions that the node remembers: by signature, by each account that they name, by slot. */
import type { TransactionError } from './errors.ts';
import type { Outcome } from './machine.ts';
import type { UiAmount } from './tokens.ts';
import type { LoadedAddresses } from './transaction.ts';

export interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly programId: string;
  readonly uiTokenAmount: UiAmount;
}

/** A landed transaction with its outcome. Plain JSON. */
export interface TransactionRecord extends Outcome {
  readonly signature: string;
  readonly slot: number;
  readonly blockTime_s: number;
  /** Base64. */
  readonly bytes: string;
  readonly err: TransactionError | null;
  readonly fee: number;
  /** Units against the blocks' limits. Missing in chains of older versions. */
  readonly costUnits?: number;
  readonly keys: readonly string[];
  readonly loaded: LoadedAddresses;
  readonly memo: string | null;
  /** Lamports, for each key. */
  readonly preBalances: readonly number[];
  readonly postBalances: readonly number[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
}

export interface History {
  add(record: TransactionRecord): void;
  find(signature: string): TransactionRecord | undefined;
  /** Oldest first. */
  ofAddress(address: string): readonly TransactionRecord[];
  /** Position of a transaction: later ones have larger numbers. Undefined for a forgotten one. */
  placeOf(signature: string): number | undefined;
  inSlot(slot: number): readonly TransactionRecord[];
  /** Its place in its block, from 0. */
  indexInSlot(signature: string): number | undefined;
  /** Transactions of the newest non-empty slots, oldest first. @param slots number of slots */
  newest(slots: number): readonly TransactionRecord[];
  /** Total number, including forgotten ones. */
  count(): number;
  /** Removes all after a slot. @returns them, oldest first */
  rollback(slot: number): readonly TransactionRecord[];
  /** Oldest first. */
  all(): readonly TransactionRecord[];
}

/** @param transactionsMax the oldest are forgotten beyond this many */
export function createHistory(transactionsMax: number): History {
  const bySignature = new Map<string, TransactionRecord>();
  const byAddress = new Map<string, TransactionRecord[]>();
  const places = new Map<string, number>();
  const indexes = new Map<string, number>();
  let next = 0;
  let count = 0;
  let last: TransactionRecord | undefined;

  const forget = (record: TransactionRecord) => {
    bySignature.delete(record.signature);
    places.delete(record.signature);
    indexes.delete(record.signature);
    for (const key of new Set(record.keys)) {
      const left = byAddress.get(key)?.filter((each) => each !== record) ?? [];
      if (left.length > 0) byAddress.set(key, left);
      else byAddress.delete(key);
    }
  };

  return {
    add(record) {
      count++;
      bySignature.set(record.signature, record);
      places.set(record.signature, next++);
      const before = last?.slot === record.slot ? indexes.get(last.signature) : undefined;
      indexes.set(record.signature, before === undefined ? 0 : before + 1);
      last = record;
      for (const key of new Set(record.keys)) {
        const known = byAddress.get(key);
        if (known) known.push(record);
        else byAddress.set(key, [record]);
      }
      const [oldest] = bySignature.values();
      if (oldest && bySignature.size > transactionsMax) forget(oldest);
    },
    find: (signature) => bySignature.get(signature),
    ofAddress: (address) => byAddress.get(address) ?? [],
    placeOf: (signature) => places.get(signature),
    inSlot: (slot) => [...bySignature.values()].filter((record) => record.slot === slot),
    indexInSlot: (signature) => indexes.get(signature),
    newest(slots) {
      const found: TransactionRecord[] = [];
      const seen = new Set<number>();
      for (const record of [...bySignature.values()].reverse()) {
        seen.add(record.slot);
        if (seen.size > slots) break;
        found.push(record);
      }
      return found.reverse();
    },
    count: () => count,
    rollback(slot) {
      const gone = [...bySignature.values()].filter((record) => record.slot > slot);
      for (const record of gone) forget(record);
      count -= gone.length;
      return gone;
    },
    all: () => [...bySignature.values()],
  };
}
