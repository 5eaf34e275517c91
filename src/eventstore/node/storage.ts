import { type Database, open, type RootDatabase } from 'lmdb';
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

/** Where the log and the numbering of streams continue. */
interface Ends {
  readonly format: number;
  readonly position: number;
  readonly stream: number;
}

/** Everything that one group commit writes. */
export interface Writes {
  readonly records: readonly { readonly position: number; readonly record: Buffer }[];
  readonly index: readonly { readonly stream: number; readonly revision: number; readonly position: number }[];
  readonly heads: ReadonlyMap<string, Head>;
  readonly nextPosition: number;
  readonly nextStream: number;
}

const format = 1;
/** Real logs do not begin at 0 with an event of a user: position 0 always means "before everything". */
const firstPosition = 64;

export type Storage = Awaited<ReturnType<typeof openStorage>>;

/**
 * The node's data: a log of records by position, an index of streams into it and the streams' heads, in one LMDB
 * environment. A position is the byte offset the record would have in one long file, as in the real server's log.
 */
export async function openStorage(path: string) {
  // No overlapping sync: a commit resolves only when its pages and its root are on disk.
  const env: RootDatabase = open({ path, overlappingSync: false, maxDbs: 4, cache: false });
  const log: Database<Buffer, number> = env.openDB({ name: 'log', encoding: 'binary' });
  const index: Database<number, [number, number]> = env.openDB({ name: 'index', encoding: 'ordered-binary' });
  const heads: Database<Head, string> = env.openDB({ name: 'heads', encoding: 'json' });
  const ends: Database<Ends, string> = env.openDB({ name: 'ends', encoding: 'json' });

  const { format: found } = ends.get('ends') ?? { format };
  if (found !== format) {
    await env.close();
    throw new Error(`the event store's data in ${path} has format ${found}; this version reads format ${format}`);
  }

  return {
    ends: (): { position: number; stream: number } => ends.get('ends') ?? { position: firstPosition, stream: 1 },
    head: (stream: string): Head | undefined => heads.get(stream),
    positionAt: (stream: number, revision: number): number | undefined => index.get([stream, revision]),
    record: (position: number): Buffer | undefined => log.get(position),

    /** The record at a place in a stream, whether or not readers may see it. */
    recordAt(stream: number, revision: number): Buffer | undefined {
      const position = index.get([stream, revision]);
      return position === undefined ? undefined : log.get(position);
    },

    /** The log's last position, 0 when it is empty. */
    tail(): number {
      for (const position of log.getKeys({ reverse: true, limit: 1 })) return position;
      return 0;
    },

    /** Records from `position` on (or, backwards, down from it), inclusive. */
    scan(position: number, backwards: boolean, max: number): { key: number; value: Buffer }[] {
      return [...log.getRange({ start: position, reverse: backwards, limit: max })];
    },

    /** Resolves when everything is on disk, all of it or nothing. */
    async commit(writes: Writes): Promise<void> {
      await env.batch(() => {
        for (const { position, record } of writes.records) log.put(position, record);
        for (const { stream, revision, position } of writes.index) index.put([stream, revision], position);
        for (const [name, head] of writes.heads) heads.put(name, head);
        ends.put('ends', { format, position: writes.nextPosition, stream: writes.nextStream });
      });
    },

    close: (): Promise<void> => env.close(),
  };
}
