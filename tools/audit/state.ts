/** Progress of an audit in a file, for continuing after an interruption. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../../src/lib/writeWhole.ts';
import type { AuditEntry } from './entry.ts';

export interface AuditState {
  /** End of the log when the audit began: it reads no further. Digits. */
  readonly until: string;
  /** Position that was read; null before the first event. */
  readonly after: string | null;
  readonly events: number;
  /** Signed heads to compare with, in order; the newest is last. */
  readonly heads: readonly AuditEntry[];
  /** Numbers of the heads that the auditor holds; found ones are in `held`. */
  readonly wanted: readonly number[];
  readonly held: readonly AuditEntry[];
  /** Time in the log's first event. */
  readonly since: string | null;
  /** Position of the first event with a valid seal. */
  readonly sealedSince: string | null;
  /** Latest time in a sealed event so far; null before one. */
  readonly latest: string | null;
  readonly entryRuns: readonly string[];
  readonly evidenceRuns: readonly string[];
  /** Progress of each account's or batch's history: its next page, or `done`. */
  readonly read: Readonly<{ [of: string]: string }>;
  readonly transactions: number;
}

/** Files of another version are not continued. */
const version = 6;

export interface Workplace {
  readonly directory: string;
  /** Null if there is nothing to continue. */
  load(): AuditState | null;
  save(state: AuditState): void;
  /** The audit is over: deletes its files, except those for the next comparison. */
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
      writeWhole(file, JSON.stringify({ version, state }));
    },
    clear: () => rmSync(work, { recursive: true, force: true }),
  };
}
