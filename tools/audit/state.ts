/** How far an audit has come, in a file: whoever interrupts it goes on there. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from './entry.ts';

export interface AuditState {
  /** The log's end when the audit began: it looks no further. Digits. */
  readonly until: string;
  /** The log was read up to here; null before the first event. */
  readonly after: string | null;
  readonly events: number;
  /** Signed heads that the log is compared with, in their order; the newest is the last of them. */
  readonly heads: readonly Entry[];
  /** Those that the auditor holds, by their numbers; found, they are in `held`. */
  readonly wanted: readonly number[];
  readonly held: readonly Entry[];
  /** When the log's first event says that it was written. */
  readonly since: string | null;
  /** Position of the first event with a good seal. */
  readonly sealedSince: string | null;
  /** The latest time that a sealed event so far states; null before one. */
  readonly latest: string | null;
  readonly entryRuns: readonly string[];
  readonly evidenceRuns: readonly string[];
  /** How far each account's or batch's history was read: its next page, or `done`. */
  readonly read: Readonly<{ [of: string]: string }>;
  readonly transactions: number;
}

/** What files of another version hold is not gone on with. */
const version = 6;

export interface Workplace {
  readonly directory: string;
  /** Null where nothing was left to go on with. */
  load(): AuditState | null;
  save(state: AuditState): void;
  /** The audit is over: its files go, what the next one compares with stays. */
  clear(): void;
}

export function openWorkplace(directory: string): Workplace {
  const work = join(directory, 'work');
  const file = join(work, 'state.json');
  mkdirSync(work, { recursive: true, mode: 0o700 });
  return {
    directory: work,
    load() {
      if (!existsSync(file)) return null;
      const left = JSON.parse(readFileSync(file, 'utf8')) as { version: number; state: AuditState };
      return left.version === version ? left.state : null;
    },
    save(state) {
      writeFileSync(`${file}.part`, JSON.stringify({ version, state }), { mode: 0o600 });
      renameSync(`${file}.part`, file);
    },
    clear: () => rmSync(work, { recursive: true, force: true }),
  };
}
