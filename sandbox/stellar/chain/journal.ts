/**
 * The chain on disk: one JSON line per non-empty ledger, written before anyone can read the ledger. A killed process loses only the pending
 * transactions. Opening it rewrites the file without forgotten ledgers.
 */
import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import type { SavedEntries } from '../ledger/state.ts';
import type { TransactionRecord } from '../transactions/apply.ts';

export interface JournalLine {
  readonly ledger: number;
  readonly closedAt_s: number;
  /** Empty ledgers up to this one may follow without a line. */
  readonly reserved: number;
  readonly entries: SavedEntries;
  readonly transactions: readonly TransactionRecord[];
}

export interface Journal {
  append(line: JournalLine): void;
  close(): void;
}

interface Header {
  readonly version: 1;
  readonly passphrase: string;
}

/** @returns the lines of an earlier run, oldest first; empty for a new file @throws Error if the file is another network's */
export function readJournal(file: string, passphrase: string): readonly JournalLine[] {
  if (!existsSync(file)) return [];
  const [first = '', ...rest] = readFileSync(file, 'utf8').split('\n');
  const header = JSON.parse(first) as Header;
  if (header.version !== 1 || header.passphrase !== passphrase) {
    throw new Error(`${file} is the state of another network (${header.passphrase}): remove it or name another file`);
  }
  // The text after the last line break is empty, or half a line after a kill: nobody has read that ledger.
  return rest.slice(0, -1).map((line) => JSON.parse(line) as JournalLine);
}

/** Starts a file with exactly these lines, replacing its former content. */
export function openJournal(file: string, passphrase: string, lines: readonly JournalLine[]): Journal {
  const header: Header = { version: 1, passphrase };
  const draft = `${file}.new`;
  writeFileSync(draft, [header, ...lines].map(lineText).join(''));
  renameSync(draft, file);
  const open = openSync(file, 'a');
  return {
    append: (line) => void writeSync(open, lineText(line)),
    close: () => closeSync(open),
  };
}

const lineText = (line: object) => `${JSON.stringify(line)}\n`;
