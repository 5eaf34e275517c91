import { openJson, sealJson } from './checksums.ts';
import { Damaged } from './damage.ts';
import { checkDataFile } from './dataFile.ts';
import { commit, intact, openEnvironment, type Tables } from './environment.ts';
import { createLogReads } from './log.ts';
import type { StreamMetadata } from './metadata.ts';

/** What is known of a stream besides its events. */
export interface Head {
  /** Stands for the stream's name in the index. */
  readonly id: number;
  /** Revision of the last event, -1 for none. */
  readonly last: number;
  /** Position of the event that ended it for good. */
  readonly tombstoned?: number;
  /** What the last event of its metadata stream says. */
  readonly metadata?: StreamMetadata;
}

const headKeys = ['id', 'last', 'tombstoned', 'metadata'];

/** Where the log and the numbering of streams continue. */
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

/** Format 1 had no checksums; it is read, and goes on as format 2. */
const format = 2;
/** Real logs do not begin at 0 with an event of a user: position 0 always means "before everything". */
const firstPosition = 64;
const fresh: Ends = { format, position: firstPosition, stream: 1, checkedFrom: firstPosition };

export type Storage = Awaited<ReturnType<typeof openStorage>>;

/**
 * The node's data: a log of records by position, an index of streams into it and the streams' heads, in one LMDB
 * environment. A position is the byte offset the record would have in one long file, as in the real server's log.
 * @param hadLog whether the directory has ever held a log
 * @throws Damaged, here and by every read, for what is not as it was written
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

function storageOf(path: string, tables: Tables) {
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

function endsOf(path: string, { ends }: Tables): Ends {
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

/** The log's last record ends where the next one is to begin: else one of the two is of another time. */
function mustEndWhereItEnds(
  path: string,
  next: number,
  { tail, endOf }: { tail(): number; endOf(position: number): number },
): void {
  const last = tail();
  const end = last === 0 ? firstPosition : endOf(last);
  if (next !== end) throw new Damaged(path, `its log ends at ${end}, and should end at ${next}`);
}
