import { type Database, open, type RootDatabase } from 'lmdb';
import { Damaged } from './damage.ts';

/** The LMDB environment with the node's tables, as texts and bytes. */
export function openEnvironment(path: string) {
  // No overlapping sync: a commit resolves only when its pages and its root are on disk.
  const env: RootDatabase = open({ path, overlappingSync: false, maxDbs: 4, cache: false });
  const log: Database<Buffer, number> = env.openDB({ name: 'log', encoding: 'binary' });
  const index: Database<number, [number, number]> = env.openDB({ name: 'index', encoding: 'ordered-binary' });
  const heads: Database<string, string> = env.openDB({ name: 'heads', encoding: 'string' });
  const ends: Database<string, string> = env.openDB({ name: 'ends', encoding: 'string' });
  return { env, log, index, heads, ends };
}

export type Tables = ReturnType<typeof openEnvironment>;

/** LMDB's own errors have numbers below this, those of the system positive ones. */
const ownErrorsBelow = -30_000;

/** Reads, and takes LMDB's own errors for what they are: a broken structure. @throws Damaged */
export function intact<T>(path: string, what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: string };
    if (typeof code === 'number' && code < ownErrorsBelow)
      throw new Damaged(path, `${what} cannot be read (${message})`);
    throw error;
  }
}

const ignore = (): void => {};

/**
 * Runs what puts something as one transaction. Resolves when it is on disk; rejects with the system's error, and then
 * nothing of it is written. LMDB rejects a promise for each part besides: nobody waits for these.
 */
export async function commit(env: RootDatabase, puts: () => readonly Promise<boolean>[]): Promise<void> {
  try {
    await env.batch(() => {
      for (const put of new Set(puts())) put.catch(ignore);
    });
  } catch (error) {
    // A failure in the midst of writing the root shows only in a new look: then LMDB refuses to read at all.
    env.resetReadTxn();
    throw await causeOf(error);
  }
}

/** What made a commit fail is told by another promise, a moment later. */
async function causeOf(failure: unknown): Promise<unknown> {
  const { commitError } = failure as { commitError?: Promise<never> };
  return commitError === undefined ? failure : commitError.catch((cause: unknown) => cause);
}
