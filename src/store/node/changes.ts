/**
 * EventStoreDB's rules for appends as one pure function: expected version, idempotency, deleted streams. The store compares event ids,
 * never contents. Also the batch that applies several appends before they are written.
 */

import { randomUUID } from 'node:crypto';
import { bareRecord, decodeRecord, encodeRecord, peekRecord } from './log.ts';
import {
  firstVisible,
  int64Max,
  isMetastream,
  metastreamOf,
  ownerOf,
  parseMetadata,
  softDelete,
  withTruncateBefore,
} from './metadata.ts';
import type { Head, Storage, Writes } from './storage.ts';

export type Expected = bigint | 'no_stream' | 'any' | 'stream_exists';

/** Facts about a stream for the rules. */
export interface StreamView {
  /** Revision of its last event, -1 for none. A soft-deleted stream keeps counting from here. */
  readonly last: number;
  readonly tombstoned: boolean;
  readonly softDeleted: boolean;
  /** True if its metadata stream has events. */
  readonly hasMetadata: boolean;
  /** Id of the event at a revision between 0 and `last`. */
  idAt(revision: number): string | undefined;
  /** Revision of a recently appended event of this stream: a bounded memory, for appends without an exact version. */
  recent(id: string): number | undefined;
}

export type AppendVerdict =
  | { readonly kind: 'write' }
  /** All of it was written before; `last` is the revision of its last event. */
  | { readonly kind: 'repeated'; readonly last: number }
  | { readonly kind: 'wrongVersion' }
  | { readonly kind: 'deleted' };

const write: AppendVerdict = { kind: 'write' };
const wrongVersion: AppendVerdict = { kind: 'wrongVersion' };
const deleted: AppendVerdict = { kind: 'deleted' };

/** @param ids ids of the events to append, in order */
export function judgeAppend(stream: StreamView, expected: Expected, ids: readonly string[]): AppendVerdict {
  if (stream.tombstoned) return deleted;
  if (expected === 'stream_exists') {
    if (stream.softDeleted) return deleted;
    if (stream.last < 0 && !stream.hasMetadata) return wrongVersion;
  }
  if (expected === 'any' || expected === 'stream_exists') return judgeByMemory(stream, ids);

  const revision = expected === 'no_stream' ? -1n : expected;
  if (revision > stream.last) return wrongVersion;
  if (revision === BigInt(stream.last)) return write;
  return judgeByLog(stream, Number(revision) + 1, expected === 'no_stream', ids);
}

/** Without an exact version: written before if all are remembered, new if the first is not. */
function judgeByMemory(stream: StreamView, ids: readonly string[]): AppendVerdict {
  const [first, ...others] = ids.map((id) => stream.recent(id));
  if (first === undefined) return write;
  const last = others.at(-1) ?? first;
  return others.includes(undefined) ? wrongVersion : { kind: 'repeated', last };
}

/** Before the stream's end: accepted only if exactly these events are there already. */
function judgeByLog(stream: StreamView, from: number, fresh: boolean, ids: readonly string[]): AppendVerdict {
  const differs = ids.findIndex((id, i) => from + i > stream.last || stream.idAt(from + i) !== id);
  if (differs === 0) return fresh && stream.softDeleted ? write : wrongVersion;
  if (differs > 0 || ids.length === 0) return wrongVersion;
  return { kind: 'repeated', last: from + ids.length - 1 };
}

/** An event to write. */
export interface Proposal {
  readonly id: string;
  readonly type: string;
  readonly json: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

const eventOverhead_bytes = 64;

/** Approximate memory of an event. */
export const weightOf = ({ data, metadata, type }: Proposal): number =>
  eventOverhead_bytes + data.length + metadata.length + type.length;

export interface Placed {
  readonly revision: number;
  readonly position: number;
}

const noData = new Uint8Array();

/**
 * Content of one group commit. Reads find this batch's additions, then stored data. Batches run one after the other, so there is nothing
 * else.
 */
export interface WriteBatch {
  head(stream: string): Head | undefined;
  idAt(stream: string, revision: number): string | undefined;
  positionAt(stream: string, revision: number): number | null;
  /** Position of the log's last record, 0 for none. */
  lastPosition(): number;
  /** Data of a stream's last event, empty without one. */
  lastData(stream: string): Uint8Array;
  /** Writes events at the stream's end; returns the position of the last one. */
  add(stream: string, events: readonly Proposal[]): Placed;
  /** Ends a stream for good. */
  addTombstone(stream: string, event: Proposal, revision: bigint): number;
  readonly writes: Writes;
}

export function createBatch(storage: Storage, recent: RecentIds, now_ms: number): WriteBatch {
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

/** Heads after the batch: those changed here replace stored ones. Reads each stored one once. */
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

/** True if the stream, or a metadata stream's owner, has been deleted for good. */
export const isTombstoned = (heads: { head(stream: string): Head | undefined }, stream: string): boolean =>
  heads.head(stream)?.tombstoned !== undefined ||
  (isMetastream(stream) && heads.head(ownerOf(stream))?.tombstoned !== undefined);

export const hasMetadata = (heads: { head(stream: string): Head | undefined }, stream: string): boolean =>
  (heads.head(metastreamOf(stream))?.last ?? -1) >= 0;

/** A client's change of a stream. */
export interface StreamChange {
  readonly kind: 'append' | 'delete' | 'tombstone';
  readonly stream: string;
  readonly expected: Expected;
  /** Empty except for an append. */
  readonly events: readonly Proposal[];
}

export type ChangeOutcome =
  /** `revision` is the stream's last one, -1 for none; `position` null if that event no longer exists. */
  | { readonly kind: 'done'; readonly revision: number; readonly position: number | null }
  | { readonly kind: 'wrongVersion'; readonly current: number }
  | { readonly kind: 'deleted' };

const noBytes = new Uint8Array();
const systemEvent = (type: string, data: Uint8Array, json: boolean): Proposal => ({
  id: randomUUID(),
  type,
  json,
  data,
  metadata: noBytes,
});
const metadataEvent = (data: Uint8Array): Proposal => systemEvent('$metadata', data, true);

/** Decides one change against the batch so far and adds its writes. */
export function applyChange(batch: WriteBatch, recent: RecentIds, change: StreamChange): ChangeOutcome {
  const { kind, stream, expected, events } = change;
  const view = viewOf(batch, recent, stream);
  // A deletion gets a new id, so it never counts as a repetition of an earlier one.
  const ids = kind === 'append' ? events.map((event) => event.id) : [randomUUID()];
  const verdict = judgeAppend(view, expected, ids);

  if (verdict.kind === 'deleted') return { kind: 'deleted' };
  if (verdict.kind === 'wrongVersion') return { kind: 'wrongVersion', current: view.last };
  if (verdict.kind === 'repeated') {
    return { kind: 'done', revision: verdict.last, position: readablePosition(batch, stream, verdict.last) };
  }
  if (kind === 'delete') {
    if (view.last < 0 && !view.hasMetadata) return { kind: 'wrongVersion', current: -1 };
    return { kind: 'done', ...batch.add(metastreamOf(stream), [metadataEvent(softDelete)]) };
  }
  if (kind === 'tombstone') {
    const position = batch.addTombstone(stream, systemEvent('$streamDeleted', noBytes, false), int64Max);
    return { kind: 'done', revision: view.last, position };
  }
  if (events.length === 0) return { kind: 'done', revision: view.last, position: batch.lastPosition() };
  return { kind: 'done', ...append(batch, stream, view, events) };
}

/** Position of an event that was appended earlier; null if the stream's metadata hides the event from readers. */
function readablePosition(batch: WriteBatch, stream: string, revision: number): number | null {
  const { last = -1, metadata = {} } = batch.head(stream) ?? {};
  return revision < firstVisible(stream, last, metadata) ? null : batch.positionAt(stream, revision);
}

/** Appends, and restores a soft-deleted stream: its earlier events stay hidden, its revisions continue. */
function append(batch: WriteBatch, stream: string, view: StreamView, events: readonly Proposal[]) {
  const owner = isMetastream(stream) ? batch.head(ownerOf(stream)) : undefined;
  const placed = batch.add(stream, events);
  if (view.softDeleted) {
    const metadata = withTruncateBefore(batch.lastData(metastreamOf(stream)), view.last + 1);
    batch.add(metastreamOf(stream), [metadataEvent(metadata)]);
  }
  if (owner?.metadata?.softDeleted) {
    batch.add(stream, [metadataEvent(withTruncateBefore(batch.lastData(stream), owner.last + 1))]);
  }
  return placed;
}

function viewOf(batch: WriteBatch, recent: RecentIds, stream: string): StreamView {
  const head = batch.head(stream);
  return {
    last: head?.last ?? -1,
    tombstoned: isTombstoned(batch, stream),
    softDeleted: !isMetastream(stream) && head?.metadata?.softDeleted === true,
    get hasMetadata() {
      return hasMetadata(batch, stream);
    },
    idAt: (revision) => batch.idAt(stream, revision),
    recent: (id) => recent.find(id, stream),
  };
}

/** Recently appended events, for idempotency without an exact version. Bounded, and lost on restart. */
export interface RecentIds {
  /** An id keeps its first revision. */
  remember(id: string, stream: string, revision: number): void;
  find(id: string, stream: string): number | undefined;
  forgetAll(): void;
}

interface Place {
  readonly stream: string;
  readonly revision: number;
}

const rememberedLeast = 32_768;

/**
 * Two generations: when the younger is full it becomes the older, and the former older one is dropped at once. (Removing the oldest entries
 * of one Map one by one would make each removal walk over the earlier ones.)
 * @param least minimum of remembered ids; at most twice as many
 */
export function createRecentIds(least = rememberedLeast): RecentIds {
  let young = new Map<string, Place>();
  let old = new Map<string, Place>();
  const placeOf = (id: string): Place | undefined => young.get(id) ?? old.get(id);
  return {
    remember(id, stream, revision) {
      if (placeOf(id)) return;
      if (young.size >= least) {
        old = young;
        young = new Map();
      }
      young.set(id, { stream, revision });
    },
    find(id, stream) {
      const place = placeOf(id);
      return place?.stream === stream ? place.revision : undefined;
    },
    forgetAll() {
      young = new Map();
      old = new Map();
    },
  };
}
