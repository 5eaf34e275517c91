/** The embedded node's LMDB files, and the checksums of their records. */

import { crc32 } from 'node:zlib';
import { type Database, open, type RootDatabase } from 'lmdb';

/** The data differs from what was written. Nothing is served from it, and nothing is built upon it. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
  readonly directory: string;
  constructor(directory: string, what: string) {
    super(
      `the event store's data in ${directory} is damaged: ${what}. Stop the service, keep a copy of the directory for ` +
        'an expert, and restore the last backup in its place; before payouts continue, read docs/operate/backup.md',
    );
    this.directory = directory;
  }
}

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

export type NodeTables = ReturnType<typeof openEnvironment>;

/** LMDB's own errors are below this number, those of the system are positive. */
const ownErrorsBelow = -30_000;

/** Reads, and reports LMDB's own errors as a broken structure. @throws Damaged */
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
 * Runs puts as one transaction. Resolves when it is on disk; rejects with the system's error, and then nothing of it is written. LMDB also
 * rejects a promise per part: nobody waits for these.
 */
export async function commit(env: RootDatabase, puts: () => readonly Promise<boolean>[]): Promise<void> {
  try {
    await env.batch(() => {
      for (const put of new Set(puts())) put.catch(ignore);
    });
  } catch (error) {
    // A failure while the root is written only appears in a new read: then LMDB refuses to read at all.
    env.resetReadTxn();
    throw await causeOf(error);
  }
}

/** Another promise reports the cause of a failed commit a moment later. */
async function causeOf(failure: unknown): Promise<unknown> {
  const { commitError } = failure as { commitError?: Promise<never> };
  return commitError === undefined ? failure : commitError.catch((cause: unknown) => cause);
}

export const checksum_bytes = 4;

const seedOf = (position: number): number => position % 2 ** 32;

/** Writes a record's checksum into the last bytes of its buffer. The checksum covers its log position. */
export function sealRecord(sealed: Buffer, position: number): Buffer {
  const end = sealed.length - checksum_bytes;
  sealed.writeUInt32LE(crc32(sealed.subarray(0, end), seedOf(position)), end);
  return sealed;
}

/** The record without its checksum; null if the checksum does not match. */
export function openRecord(sealed: Buffer, position: number): Buffer | null {
  const end = sealed.length - checksum_bytes;
  if (end < 0) return null;
  const record = sealed.subarray(0, end);
  return crc32(record, seedOf(position)) === sealed.readUInt32LE(end) ? record : null;
}

const sumKey = ',"sum":';

/** A value as JSON with its checksum as an additional key. */
export function sealJson(value: object): string {
  const text = JSON.stringify(value).slice(0, -1);
  return `${text}${sumKey}${crc32(text)}}`;
}

/**
 * The value without its checksum; null if the checksum does not match.
 * @param known keys of a value of the older format, which had no checksum
 */
export function openJson(text: string, known: readonly string[]): object | null {
  const end = text.lastIndexOf(sumKey);
  if (end >= 0 && text.slice(end) !== `${sumKey}${crc32(text.slice(0, end))}}`) return null;
  const value = parsed(end < 0 ? text : `${text.slice(0, end)}}`);
  if (value === null || (end < 0 && !Object.keys(value).every((key) => known.includes(key)))) return null;
  return value;
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
