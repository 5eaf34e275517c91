/** When ledgers closed: only those are kept that closed later than the one before. */
import type { LedgerHead } from './network.ts';

export interface CloseTimes {
  add(ledger: LedgerHead): void;
  /** Unix seconds. */
  at(sequence: number): number;
  forget(before: number): void;
}

export function createCloseTimes(): CloseTimes {
  const times: LedgerHead[] = [];
  return {
    add(ledger) {
      if (times.at(-1)?.closedAt_s !== ledger.closedAt_s) times.push(ledger);
    },
    at: (wanted) => (times.findLast(({ sequence }) => sequence <= wanted) ?? times[0])?.closedAt_s ?? 0,
    forget(before) {
      const kept = times.findLastIndex(({ sequence }) => sequence <= before);
      if (kept > 0) times.splice(0, kept);
    },
  };
}
