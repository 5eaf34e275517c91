/**
 * The chain on disk: one JSON line per change, appended before anyone can read it, so a killed process loses nothing. Opening it rewrites
 * the file without forgotten parts.
 */
import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import type { SavedAccounts } from './accounts.ts';
import type { ForkPoint } from './blockhashes.ts';
import type { TransactionRecord } from './history.ts';

export interface JournalHeader {
  readonly version: 1;
  /** Makes this chain's hashes unique. */
  readonly genesis: string;
  readonly forks: readonly ForkPoint[];
}

export interface JournalLine {
  readonly slot: number;
  readonly time_s: number;
  /** Slots up to this one may follow without a line, being empty. */
  readonly reserved: number;
  readonly accounts?: SavedAccounts;
  readonly transaction?: TransactionRecord;
  /** Everything after this slot left the chain before this line. */
  readonly rolledBackTo?: number;
}

export interface Journal {
  append(line: JournalLine): void;
  /** Bytes since it was opened. */
  written(): number;
  close(): void;
}

/** Lines of an earlier run, oldest first; undefined for a new file. @throws Error for a foreign file */
export function readJournal(
  file: string,
): { readonly header: JournalHeader; readonly lines: readonly JournalLine[] } | undefined {
  if (!existsSync(file)) return undefined;
  const [first = '', ...rest] = readFileSync(file, 'utf8').split('\n');
  const header = headerOf(first);
  if (!header) throw new Error(`${file} is not the state of a local Solana: remove it or name another file`);
  // The text after the last line break is empty, or half a line after a kill: nobody has read its content.
  return { header, lines: rest.slice(0, -1).map((line) => JSON.parse(line) as JournalLine) };
}

function headerOf(line: string): JournalHeader | undefined {
  try {
    const header = JSON.parse(line) as JournalHeader;
    return header.version === 1 && typeof header.genesis === 'string' ? header : undefined;
  } catch {
    return undefined;
  }
}

/** Starts a file with exactly these lines, replacing its former content. */
export function openJournal(file: string, header: JournalHeader, lines: readonly JournalLine[]): Journal {
  const draft = `${file}.new`;
  writeFileSync(draft, [header, ...lines].map(lineText).join(''));
  renameSync(draft, file);
  const open = openSync(file, 'a');
  let written = 0;
  return {
    append(line) {
      written += writeSync(open, lineText(line));
    },
    written: () => written,
    close: () => closeSync(open),
  };
}

const lineText = (line: object) => `${JSON.stringify(line)}\n`;
