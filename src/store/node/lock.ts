import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

/** Another process uses this data directory. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
  readonly directory: string;
  constructor(directory: string, holder: string) {
    super(
      `the event store's data directory ${directory} is in use by ${holder}: stop that process, or choose another directory`,
    );
    this.directory = directory;
  }
}

/** Exit code of a process that found its data directory in use: EX_TEMPFAIL of sysexits. */
export const directoryInUseExitCode = 75;

export interface DirectoryLock {
  /** True if there has ever been a log in the directory. */
  readonly hadLog: boolean;
  /** Records that there is a log now, and the holder. */
  holdsLog(): void;
  release(): void;
}

/** Identity of the lock's holder, for messages and tools. */
const holderFile = 'holder.json';
const retryPause_ms = 50;
/** SQLITE_BUSY: the database is locked by another process. */
const sqliteBusy = 5;

/**
 * Locks the directory for this process alone. The lock is SQLite's lock on an otherwise empty database: the operating system releases it
 * when the process ends in any way, so it is never stale and no two processes can both find it free.
 * @param patience_ms maximum wait for a process that is about to end
 * @throws DirectoryInUse
 */
export async function lockDirectory(directory: string, patience_ms: number): Promise<DirectoryLock> {
  mkdirSync(directory, { recursive: true });
  const until_ms = performance.now() + patience_ms;
  for (;;) {
    const lock = tryLock(join(directory, 'lock'));
    if (lock) {
      return heldLock(directory, lock);
    }
    if (performance.now() >= until_ms) throw new DirectoryInUse(directory, holderOf(directory));
    await sleep(retryPause_ms);
  }
}

/** The version of the lock's database says whether there was a log. Earlier versions of this service only wrote the holder. */
function heldLock(directory: string, lock: DatabaseSync): DirectoryLock {
  const holder = join(directory, holderFile);
  const isMarked = Number(lock.prepare('PRAGMA user_version').get()?.['user_version']) >= 1;
  return {
    hadLog: isMarked || existsSync(holder),
    holdsLog() {
      attempt(() => {
        // Exclusive mode keeps the lock beyond the commit.
        if (!isMarked) lock.exec('PRAGMA user_version = 1; COMMIT');
      });
      attempt(() => writeFileSync(holder, JSON.stringify({ pid: process.pid })));
    },
    release: () => lock.close(),
  };
}

/** A full disk is no reason not to start: reads continue. The next start writes a missing note. */
function attempt(note: () => void): void {
  try {
    note();
  } catch {
    // A missing note is written later.
  }
}

function tryLock(file: string): DatabaseSync | null {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if ((error as { errcode?: unknown }).errcode === sqliteBusy) return null;
    throw error;
  }
}

function holderOf(directory: string): string {
  try {
    const { pid } = JSON.parse(readFileSync(join(directory, holderFile), 'utf8'));
    return `process ${pid}`;
  } catch {
    return 'another process';
  }
}
