/** Data of the embedded node: the log, its streams, and the checks of the data file before it is opened. */

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { commit, Damaged, intact, type NodeTables, openEnvironment, openJson, sealJson } from './environment.ts';
import { createLogReads } from './log.ts';
import type { StreamMetadata } from './metadata.ts';

/** LMDB's file in its directory. */
const name = 'data.mdb';
const magic = 0xbeefc0de;
/** Offsets in the header of the two meta pages. @see MDB_meta in lmdb's mdb.c */
const at = { magic: 24, pageSize: 48, lastPage: 144, transaction: 152 } as const;
const header_bytes = 160;
const pageSizes = { least: 512, most: 65_536 } as const;

/**
 * Checks the file before it is memory-mapped, when a truncated file would end the process without a message.
 * @param hadLog true if this directory has ever held a log
 * @throws Damaged
 */
export function checkDataFile(directory: string, hadLog: boolean): void {
  const size = sizeOf(join(directory, name));
  if (size === null || size === 0) {
    if (!hadLog) return;
    throw new Damaged(
      directory,
      `its file ${name} is ${size === null ? 'missing' : 'empty'}, and there was a log in it`,
    );
  }
  const file = openSync(join(directory, name), 'r');
  try {
    const needed = neededSize(file, directory);
    if (size < needed) throw new Damaged(directory, `its file ${name} has ${size} bytes of at least ${needed}`);
  } finally {
    closeSync(file);
  }
}

/** The newer meta page contains the number of the last page. */
function neededSize(file: number, directory: string): number {
  const first = metaAt(file, 0, directory);
  const second = metaAt(file, first.pageSize, directory);
  const { lastPage } = first.transaction > second.transaction ? first : second;
  return (Number(lastPage) + 1) * first.pageSize;
}

function metaAt(file: number, offset: number, directory: string) {
  const header = Buffer.alloc(header_bytes);
  const read = readSync(file, header, 0, header_bytes, offset);
  const pageSize = header.readUInt32LE(at.pageSize);
  const isMeta = read === header_bytes && header.readUInt32LE(at.magic) === magic;
  if (!isMeta || pageSize < pageSizes.least || pageSize > pageSizes.most) {
    throw new Damaged(directory, `its file ${name} does not begin as a data file does`);
  }
  return {
    pageSize,
    lastPage: header.readBigUInt64LE(at.lastPage),
    transaction: header.readBigUInt64LE(at.transaction),
  };
}

const sizeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.size ?? null;

/** Facts about a stream besides its events. */
export interface Head {
  /** Replaces the stream's name in the index. */
  readonly id: number;
  /** Revision of the last event, -1 for none. */
  readonly last: number;
  /** Position of the event that ended it for good. */
  readonly tombstoned?: number;
  /** Content of the last event of its metadata stream. */
  readonly metadata?: StreamMetadata;
}

const headKeys = ['id', 'last', 'tombstoned', 'metadata'];

/** Next position of the log and next stream number. */
interface Ends {
  readonly format: number;
  readonly position: number;
  readonly stream: number;
  /** From this position on records have checksums. */
  readonly checkedFrom: number;
}

const endsKeys = ['format', 'position', 'stream'];

/** Everything that one group commit writes. */
export interface Writes {
  /** With their checksums. */
  readonly records: readonly { readonly position: number; readonly sealed: Buffer }[];
  readonly index: readonly { readonly stream: number; readonly revision: number; readonly position: number }[];
  readonly heads: ReadonlyMap<string, Head>;
  readonly nextPosition: number;
  readonly nextStream: number;
}

/** Format 1 had no checksums; it is readable, and continues as format 2. */
const format = 2;
/** Real logs do not begin at 0 with a user's event: position 0 always means "before everything". */
const firstPosition = 64;
const fresh: Ends = { format, position: firstPosition, stream: 1, checkedFrom: firstPosition };

export type Storage = Awaited<ReturnType<typeof openStorage>>;

/**
 * The node's data: a log of records by position, an index of streams into it and the streams' heads, in one LMDB environment. A position is
 * the byte offset that the record would have in one long file, as in the real server's log.
 * @param hadLog true if the directory has ever held a log
 * @throws Damaged, here and by every read, for damaged data
 */
export async function openStorage(path: string, hadLog = false) {
  checkDataFile(path, hadLog);
  const tables = intact(path, 'its structure', () => openEnvironment(path));
  try {
    return storageOf(path, tables);
  } catch (error) {
    await tables.env.close();
    throw error;
  }
}

function storageOf(path: string, tables: NodeTables) {
  const { env, log, index, heads, ends } = tables;
  const { checkedFrom } = endsOf(path, tables);
  const reads = createLogReads(path, tables, checkedFrom);
  mustEndWhereItEnds(path, endsOf(path, tables).position, reads);

  return {
    ...reads,
    ends: (): { position: number; stream: number } => endsOf(path, tables),

    head(stream: string): Head | undefined {
      const what = `what is known of stream ${stream}`;
      const text = intact(path, what, () => heads.get(stream));
      if (text === undefined) return undefined;
      const value = openJson(text, headKeys) as Head | null;
      if (value === null) throw new Damaged(path, `${what} is not as it was written`);
      return value;
    },

    /** Resolves when everything is on disk, all of it or nothing. */
    commit(writes: Writes): Promise<void> {
      const next: Ends = { format, position: writes.nextPosition, stream: writes.nextStream, checkedFrom };
      return commit(env, () => [
        ...writes.records.map(({ position, sealed }) => log.put(position, sealed)),
        ...writes.index.map(({ stream, revision, position }) => index.put([stream, revision], position)),
        ...Array.from(writes.heads, ([name, head]) => heads.put(name, sealJson(head))),
        ends.put('ends', sealJson(next)),
      ]);
    },

    close: (): Promise<void> => env.close(),
  };
}

function endsOf(path: string, { ends }: NodeTables): Ends {
  const text = intact(path, 'the end of its log', () => ends.get('ends'));
  if (text === undefined) return fresh;
  const value = openJson(text, endsKeys) as Ends | null;
  if (value === null) throw new Damaged(path, 'the end of its log is not as it was written');
  if (value.format > format) {
    throw new Error(
      `the event store's data in ${path} has format ${value.format}; this version reads format ${format}`,
    );
  }
  return value.format === 1 ? { ...value, checkedFrom: value.position } : value;
}

/** The log's last record must end where the next one begins: otherwise one of the two is from another time. */
function mustEndWhereItEnds(
  path: string,
  next: number,
  { tail, endOf }: { tail(): number; endOf(position: number): number },
): void {
  const last = tail();
  const end = last === 0 ? firstPosition : endOf(last);
  if (next !== end) throw new Damaged(path, `its log ends at ${end}, and should end at ${next}`);
}
