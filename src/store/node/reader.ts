/** Reads by page: each page is taken at one moment, and the event loop is free in between. */

import { pageMost, pageMost_bytes } from './bounds.ts';
import { isHidden } from './epochs.ts';
import type { Scanned } from './log.ts';
import { firstVisible, isMetastream, ownerOf } from './metadata.ts';
import { createdMs, decodeRecord } from './record.ts';
import type { Head, Storage } from './storage.ts';

export interface Page {
  readonly records: readonly Buffer[];
  /** Where to continue; null when there is nothing more now. */
  readonly next: number | null;
}

export type StreamState = 'there' | 'missing' | 'tombstoned';

export function streamState(storage: Storage, stream: string): StreamState {
  const head = storage.head(stream);
  const owner = isMetastream(stream) ? storage.head(ownerOf(stream)) : undefined;
  if (head?.tombstoned !== undefined || owner?.tombstoned !== undefined) return 'tombstoned';
  if (!head || head.last < 0) return 'missing';
  return head.metadata?.softDeleted && !isMetastream(stream) ? 'missing' : 'there';
}

/** Events of a stream that its metadata lets readers see, from `from` on, inclusive. */
export function readStreamPage(
  storage: Storage,
  stream: string,
  from: number,
  backwards: boolean,
  max: number,
  now_ms: number,
): Page {
  const head = storage.head(stream);
  if (!head) return { records: [], next: null };
  const lowest = firstVisible(stream, head.last, head.metadata ?? {});
  const start = backwards ? Math.min(from, head.last) : Math.max(from, lowest);
  const count = Math.min(max, pageMost, backwards ? start - lowest + 1 : head.last - start + 1);
  const records = recordsOf(storage, head, start, count, backwards ? -1 : 1);
  const next = backwards ? start - records.length : start + records.length;
  const more = records.length > 0 && (backwards ? next >= lowest : next <= head.last);
  return { records: records.filter(youngEnough(stream, head, now_ms)), next: more ? next : null };
}

/** Events of a stream after `after`, whatever its metadata says: what a live subscription is sent. */
export function readStreamLive(storage: Storage, stream: string, after: number): Page {
  const head = storage.head(stream);
  if (!head) return { records: [], next: null };
  const records = recordsOf(storage, head, after + 1, Math.min(pageMost, head.last - after), 1);
  return { records, next: after + records.length };
}

/** So many records of a stream, or fewer when these are large; at least one. */
function recordsOf(storage: Storage, head: Head, start: number, count: number, step: 1 | -1): Buffer[] {
  const records: Buffer[] = [];
  for (let i = 0, bytes = 0; i < count && bytes < pageMost_bytes; i++) {
    const record = storage.recordAt(head.id, start + step * i);
    records.push(record);
    bytes += record.length;
  }
  return records;
}

function youngEnough(stream: string, head: Head, now_ms: number): (record: Buffer) => boolean {
  const maxAge_s = head.metadata?.maxAge_s;
  if (maxAge_s === undefined || isMetastream(stream)) return () => true;
  return (record) => createdMs(decodeRecord(record)) >= now_ms - maxAge_s * 1000;
}

/** The visible records of the log from `from` on, inclusive in both directions. `max` bounds the records that are looked at. */
export function readLogPage(storage: Storage, from: number, backwards: boolean, max: number): Page {
  const { found, more } = storage.scan(from, backwards, Math.min(max, pageMost), pageMost_bytes);
  const last = found.at(-1)?.key;
  return {
    records: found.map(({ value }) => value).filter((record) => !isHidden(record)),
    next: last === undefined || !more ? null : last + (backwards ? -1 : 1),
  };
}

/** The log after a position, with the positions: what a subscription is sent. */
export const readLogAfter = (storage: Storage, after: number): Scanned =>
  storage.scan(after + 1, false, pageMost, pageMost_bytes);

/** Positions come from this log; any other tells of a reader that belongs to another one. */
export function isBoundary(storage: Storage, position: number | 'start' | 'end'): boolean {
  if (typeof position === 'string' || position === 0 || position > storage.tail()) return true;
  return storage.record(position) !== undefined;
}
