/** A chain's parts from an earlier run, or new ones; and their form in a file. */
import type { Address } from '@solana/kit';
import { loadAccount } from './account.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import { type Blockhashes, createBlockhashes, type ForkPoint } from './blockhashes.ts';
import { type BlockTimes, createBlockTimes } from './blockTimes.ts';
import { firstSlot } from './commitments.ts';
import { createHistory, type History } from './history.ts';
import { type JournalHeader, type JournalLine, readJournal } from './journal.ts';
import { createMachine, type Machine } from './machine.ts';

export interface Parts {
  readonly genesis: string;
  readonly machine: Machine;
  readonly accounts: Accounts;
  readonly history: History;
  readonly blockhashes: Blockhashes;
  readonly times: BlockTimes;
  readonly head: number;
}

export interface RestoreOptions {
  /** Maximum remembered transactions. */
  readonly transactionsMax: number;
  /** Default: in memory only. */
  readonly stateFile?: string | undefined;
  /** Unix seconds. */
  readonly now_s: () => number;
  /** For a new chain: text that makes it unique. */
  readonly newGenesis: () => string;
}

/** @throws Error if the file has another content */
export function restore({ stateFile, transactionsMax, now_s, newGenesis }: RestoreOptions): Parts {
  const known = stateFile === undefined ? undefined : readJournal(stateFile);
  const genesis = known?.header.genesis ?? newGenesis();
  const machine = createMachine();
  const accounts = createAccounts(machine, firstSlot);
  const history = createHistory(transactionsMax);
  const times = createBlockTimes();
  const forks: ForkPoint[] = [...(known?.header.forks ?? [])];
  let head = firstSlot;
  times.add(head, known?.lines[0]?.time_s ?? now_s());
  for (const line of known?.lines ?? []) {
    head = Math.max(head, line.reserved);
    times.add(line.slot, line.time_s);
    if (line.rolledBackTo !== undefined) {
      history.rollback(line.rolledBackTo);
      accounts.rollback(line.rolledBackTo);
      forks.push({ from: line.rolledBackTo + 1 });
    }
    for (const [address, saved] of Object.entries(line.accounts ?? {})) {
      accounts.put(line.slot, address as Address, loadAccount(saved));
    }
    if (line.transaction) history.add(line.transaction);
  }
  const blockhashes = createBlockhashes(genesis, forks);
  blockhashes.reach(head);
  return { genesis, machine, accounts, history, blockhashes, times, head };
}

/** Remembered transactions, accounts at the last settlement, and later changes, in order. */
export function compacted(parts: Parts, head: number): [JournalHeader, readonly JournalLine[]] {
  const { genesis, blockhashes, history, accounts, times } = parts;
  const bare = (slot: number): JournalLine => ({ slot, time_s: times.at(slot), reserved: slot });
  const lines: JournalLine[] = [
    ...accounts.dump().map(({ slot, accounts }) => ({ ...bare(slot), accounts })),
    ...history.all().map((transaction) => ({ ...bare(transaction.slot), transaction })),
  ];
  lines.sort((one, other) => one.slot - other.slot);
  return [{ version: 1, genesis, forks: blockhashes.forks() }, [...lines, bare(head)]];
}
