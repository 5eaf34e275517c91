import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Damaged } from './damage.ts';

/** LMDB's file in its directory. */
const name = 'data.mdb';
const magic = 0xbeefc0de;
/** Where the header of each of the two meta pages has what. @see MDB_meta in lmdb's mdb.c */
const at = { magic: 24, pageSize: 48, lastPage: 144, transaction: 152 } as const;
const header_bytes = 160;
const pageSizes = { least: 512, most: 65_536 } as const;

/**
 * Looks at the file before it is mapped into memory, where a missing part of it would end the process without a word.
 * @param hadLog whether this directory has ever held a log
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

/** The newer of the meta pages tells which page is the last. */
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
