import { isMetastream, metastreamOf, ownerOf, parseMetadata } from './metadata.ts';
import type { RecentIds } from './recentIds.ts';
import { bareRecord, decodeRecord, encodeRecord, peekRecord } from './record.ts';
import type { Head, Storage, Writes } from './storage.ts';

/** An event somebody wants written. */
export interface Proposal {
  readonly id: string;
  readonly type: string;
  readonly json: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

const eventOverhead_bytes = 64;

/** About what an event takes in memory. */
export const weightOf = ({ data, metadata, type }: Proposal): number =>
  eventOverhead_bytes + data.length + metadata.length + type.length;

export interface Placed {
  readonly revision: number;
  readonly position: number;
}

const noData = new Uint8Array();

/**
 * What one group commit will write. Reads find what this batch has added, then what is stored. Batches run one after the
 * other, so there is nothing else.
 */
export interface Batch {
  head(stream: string): Head | undefined;
  idAt(stream: string, revision: number): string | undefined;
  positionAt(stream: string, revision: number): number | null;
  /** Position of the log's last record, 0 for none. */
  lastPosition(): number;
  /** Data of a stream's last event, empty without one. */
  lastData(stream: string): Uint8Array;
  /** Writes events behind the stream's end; returns the place of the last one. */
  add(stream: string, events: readonly Proposal[]): Placed;
  /** Ends a stream for good. */
  addTombstone(stream: string, event: Proposal, revision: bigint): number;
  readonly writes: Writes;
}

export function createBatch(storage: Storage, recent: RecentIds, now_ms: number): Batch {
  const ends = storage.ends();
  const records: { position: number; sealed: Buffer }[] = [];
  const index: { stream: number; revision: number; position: number }[] = [];
  const heads = createHeads(storage, ends.stream);
  const added = new Map<string, { readonly position: number; readonly record: Buffer }>();
  let nextPosition = ends.position;

  function recordAt(name: string, revision: number): Buffer | undefined {
    const head = heads.get(name);
    if (!head || revision < 0 || revision > head.last) return undefined;
    return added.get(`${head.id}:${revision}`)?.record ?? storage.recordAt(head.id, revision);
  }

  function log(name: string, event: Proposal, revision: number | bigint) {
    const position = nextPosition;
    const sealed = encodeRecord({ ...event, stream: name, revision, position, created_ms: now_ms });
    records.push({ position, sealed });
    nextPosition += sealed.length;
    return { position, record: bareRecord(sealed) };
  }

  return {
    head: heads.get,
    idAt(name, revision) {
      const record = recordAt(name, revision);
      return record && peekRecord(record, 'id');
    },
    positionAt(name, revision) {
      const id = heads.get(name)?.id ?? 0;
      return added.get(`${id}:${revision}`)?.position ?? storage.positionAt(id, revision) ?? null;
    },
    lastPosition: () => records.at(-1)?.position ?? storage.tail(),
    lastData(name) {
      const record = recordAt(name, heads.get(name)?.last ?? -1);
      return record ? decodeRecord(record).getData_asU8() : noData;
    },
    add(name, events) {
      const before = heads.getOrNew(name);
      let { last } = before;
      let position = 0;
      for (const event of events) {
        last++;
        const logged = log(name, event, last);
        position = logged.position;
        index.push({ stream: before.id, revision: last, position });
        added.set(`${before.id}:${last}`, logged);
        recent.remember(event.id, name, last);
      }
      heads.set(name, { ...before, last });
      const newest = events.at(-1);
      if (newest && isMetastream(name)) {
        const owner = ownerOf(name);
        heads.set(owner, { ...heads.getOrNew(owner), metadata: parseMetadata(newest.data, newest.json) });
      }
      return { revision: last, position };
    },
    addTombstone(name, event, revision) {
      const { position } = log(name, event, revision);
      heads.set(name, { ...heads.getOrNew(name), tombstoned: position });
      return position;
    },
    get writes() {
      return { records, index, heads: heads.changed, nextPosition, nextStream: heads.nextId };
    },
  };
}

/** Heads as they will be: those changed here in place of those stored. Each stored one is looked up once. */
function createHeads(storage: Storage, firstFreeId: number) {
  const known = new Map<string, Head | undefined>();
  const changed = new Map<string, Head>();
  let nextId = firstFreeId;
  function get(stream: string): Head | undefined {
    if (!known.has(stream)) known.set(stream, storage.head(stream));
    return known.get(stream);
  }
  return {
    get,
    getOrNew: (stream: string): Head => get(stream) ?? { id: nextId++, last: -1 },
    set(stream: string, head: Head): void {
      known.set(stream, head);
      changed.set(stream, head);
    },
    changed,
    get nextId() {
      return nextId;
    },
  };
}

/** Whether the stream, or for a metadata stream its owner, has been deleted for good. */
export const isTombstoned = (heads: { head(stream: string): Head | undefined }, stream: string): boolean =>
  heads.head(stream)?.tombstoned !== undefined ||
  (isMetastream(stream) && heads.head(ownerOf(stream))?.tombstoned !== undefined);

export const hasMetadata = (heads: { head(stream: string): Head | undefined }, stream: string): boolean =>
  (heads.head(metastreamOf(stream))?.last ?? -1) >= 0;
