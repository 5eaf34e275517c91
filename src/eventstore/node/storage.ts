import { openJson, openRecord, sealJson } from './checksums.ts';
import { Damaged } from './damage.ts';
import { checkDataFile } from './dataFile.ts';
import { commit, intact, openEnvironment } from './environment.ts';
import type { StreamMetadata } from './metadata.ts';
import { revisionOf } from './record.ts';

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

/** Records next to each other in the log. */
export interface Scanned {
  readonly found: readonly { readonly key: number; readonly value: Buffer }[];
  /** Whether a bound ended it: there may be more behind. */
  readonly more: boolean;
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
  const { env, log, index, heads, ends } = intact(path, 'its structure', () => openEnvironment(path));
  const damaged = (what: string): Damaged => new Damaged(path, what);
  const reading = <T>(what: string, read: () => T): T => intact(path, what, read);

  function readEnds(): Ends {
    const text = reading('the end of its log', () => ends.get('ends'));
    if (text === undefined) return fresh;
    const value = openJson(text, endsKeys) as Ends | null;
    if (value === null) throw damaged('the end of its log is not as it was written');
    return value.format === 1 ? { ...value, checkedFrom: value.position } : value;
  }
  const { format: found, checkedFrom } = readEnds();

  function opened(position: number, stored: Buffer): Buffer {
    const record = position < checkedFrom ? stored : openRecord(stored, position);
    if (record === null) throw damaged(`the record at ${position} is not as it was written`);
    return record;
  }

  function record(position: number): Buffer | undefined {
    const stored = reading(`the record at ${position}`, () => log.get(position));
    return stored && opened(position, stored);
  }

  /** The log's last position, 0 when it is empty. */
  function tail(): number {
    return reading('the end of its log', () => {
      for (const position of log.getKeys({ reverse: true, limit: 1 })) return position;
      return 0;
    });
  }

  function positionAt(stream: number, revision: number): number | undefined {
    return reading(`the index of stream ${stream}`, () => index.get([stream, revision]));
  }

  const storage = {
    path,
    ends: (): { position: number; stream: number } => readEnds(),
    head(stream: string): Head | undefined {
      const text = reading(`what is known of stream ${stream}`, () => heads.get(stream));
      if (text === undefined) return undefined;
      const value = openJson(text, headKeys) as Head | null;
      if (value === null) throw damaged(`what is known of stream ${stream} is not as it was written`);
      return value;
    },
    positionAt,
    record,
    tail,

    /** The record at a place in a stream up to its last revision, whether or not readers may see it. */
    recordAt(stream: number, revision: number): Buffer {
      const position = positionAt(stream, revision);
      const at = position === undefined ? undefined : record(position);
      if (!at || revisionOf(at) !== revision)
        throw damaged(`revision ${revision} of stream ${stream} is not where it was`);
      return at;
    },

    /** Records from `position` on (or, backwards, down from it), inclusive: so many, or up to the one that reaches the size. */
    scan(position: number, backwards: boolean, most: number, most_bytes: number): Scanned {
      return reading(`the log from ${position} on`, () => {
        const records: { key: number; value: Buffer }[] = [];
        let bytes = 0;
        let expected: number | null = null;
        for (const { key, value } of log.getRange({ start: position, reverse: backwards, limit: most })) {
          // Records lie one behind the other: a gap is a loss.
          if (expected !== null && expected !== (backwards ? key + value.length : key)) {
            throw damaged(`records are missing next to ${key}`);
          }
          expected = backwards ? key : key + value.length;
          records.push({ key, value: opened(key, value) });
          bytes += value.length;
          if (bytes >= most_bytes) break;
        }
        return { found: records, more: records.length >= most || bytes >= most_bytes };
      });
    },

    /** Resolves when everything is on disk, all of it or nothing. */
    commit(writes: Writes): Promise<void> {
      return commit(env, () => [
        ...writes.records.map(({ position, sealed }) => log.put(position, sealed)),
        ...writes.index.map(({ stream, revision, position }) => index.put([stream, revision], position)),
        ...Array.from(writes.heads, ([name, head]) => heads.put(name, sealJson(head))),
        ends.put(
          'ends',
          sealJson({ format, position: writes.nextPosition, stream: writes.nextStream, checkedFrom } satisfies Ends),
        ),
      ]);
    },

    close: (): Promise<void> => env.close(),
  };

  try {
    if (found > format)
      throw new Error(`the event store's data in ${path} has format ${found}; this version reads ${format}`);
    mustEndWhereItEnds({ ...storage, stored: (position) => log.get(position)?.length ?? 0 });
    return storage;
  } catch (error) {
    await env.close();
    throw error;
  }
}

/** The log's last record ends where the next one is to begin: else one of the two is of another time. */
function mustEndWhereItEnds({ path, tail, stored, ends }: EndOfLog): void {
  const last = tail();
  const end = last === 0 ? firstPosition : last + stored(last);
  const { position } = ends();
  if (position !== end) throw new Damaged(path, `its log ends at ${end}, and should end at ${position}`);
}

interface EndOfLog {
  readonly path: string;
  tail(): number;
  /** Size of the record at a position, as it is stored. */
  stored(position: number): number;
  ends(): { position: number };
}
