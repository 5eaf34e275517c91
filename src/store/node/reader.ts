/** Reads by page: each page is read at one moment, and the event loop is free in between. */

import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { Expressions } from './expressions.ts';
import { createdMs, decodeRecord, peekRecord, type ScannedRecords } from './log.ts';
import { handlerThrew, invalidArgument, streamName } from './messages.ts';
import { firstVisible, isMetastream, ownerOf } from './metadata.ts';
import { pageMost, pageMost_bytes, prefixesMost } from './room.ts';
import type { Head, Storage } from './storage.ts';
import { isHidden } from './writer.ts';

export interface EventPageRead {
  readonly records: readonly Buffer[];
  /** Continuation; null if there is nothing more now. */
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

/** Events of a stream that its metadata makes visible to readers, from `from` on, inclusive. */
export function readStreamPage(
  storage: Storage,
  stream: string,
  from: number,
  backwards: boolean,
  max: number,
  now_ms: number,
): EventPageRead {
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

/** Events of a stream after `after`, regardless of its metadata: for a live subscription. */
export function readStreamLive(storage: Storage, stream: string, after: number): EventPageRead {
  const head = storage.head(stream);
  if (!head) return { records: [], next: null };
  const records = recordsOf(storage, head, after + 1, Math.min(pageMost, head.last - after), 1);
  return { records, next: after + records.length };
}

/** A number of records of a stream, or fewer if these are large; at least one. */
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

/** Visible records of the log from `from` on, inclusive in both directions. `max` bounds the examined records. */
export function readLogPage(storage: Storage, from: number, backwards: boolean, max: number): EventPageRead {
  const { found, more } = storage.scan(from, backwards, Math.min(max, pageMost), pageMost_bytes);
  const last = found.at(-1)?.key;
  return {
    records: found.map(({ value }) => value).filter((record) => !isHidden(record)),
    next: last === undefined || !more ? null : last + (backwards ? -1 : 1),
  };
}

/** The log after a position, with the positions: for a subscription. */
export const readLogAfter = (storage: Storage, after: number): ScannedRecords =>
  storage.scan(after + 1, false, pageMost, pageMost_bytes);

/** Positions must be from this log; any other reveals a reader of another log. */
export function isBoundary(storage: Storage, position: number | 'start' | 'end'): boolean {
  if (typeof position === 'string' || position === 0 || position > storage.tail()) return true;
  return storage.record(position) !== undefined;
}

const { ReadDirection } = streams.ReadReq.Options;
const uint64Max = 0xffff_ffff_ffff_ffffn;

export interface ReadRequest {
  /** Null for the whole log. */
  readonly stream: string | null;
  /** A revision, or for the whole log a position. */
  readonly from: number | 'start' | 'end';
  readonly backwards: boolean;
  readonly subscribe: boolean;
  readonly max: number;
  readonly filter: LogFilter | null;
  readonly resolveLinks: boolean;
  readonly structuredIds: boolean;
}

export function parseReadRequest(request: streams.ReadReq): ReadRequest {
  const options = request.getOptions();
  if (!options) throw handlerThrew();
  const [stream, all, filter] = [options.getStream(), options.getAll(), options.getFilter()];
  const backwards = options.getReadDirection() === ReadDirection.BACKWARDS;
  const subscribe = options.hasSubscription();
  if (!options.getUuidOption()) throw invalidArgument('The uuid option is missing.');
  if (!stream === !all || (stream && filter) || (subscribe && backwards) || (!subscribe && !options.hasCount())) {
    throw invalidArgument('The combination of stream, direction, count and filter options is invalid.');
  }
  if (filter && subscribe && filter.getCheckpointintervalmultiplier() === 0) throw handlerThrew();
  return {
    stream: stream ? streamName(stream.getStreamIdentifier()) : null,
    from: stream ? startOfStream(stream) : startOfLog(all as streams.ReadReq.Options.AllOptions),
    backwards,
    subscribe,
    max: Number(options.getCount()),
    filter: filter ? logFilter(filter) : null,
    resolveLinks: options.getResolveLinks(),
    structuredIds: options.getUuidOption()?.hasStructured() === true,
  };
}

/** Numbers beyond 2^53 only ever compare as "past the end": rounding them is harmless. */
const numberOrEnd = (text: string): number | 'end' => (BigInt(text) === uint64Max ? 'end' : Number(text));

function startOfStream(options: streams.ReadReq.Options.StreamOptions): ReadRequest['from'] {
  if (options.hasRevision()) return numberOrEnd(options.getRevision());
  return options.hasEnd() ? 'end' : 'start';
}

function startOfLog(options: streams.ReadReq.Options.AllOptions): ReadRequest['from'] {
  const position = options.getPosition();
  if (!position) return options.hasEnd() ? 'end' : 'start';
  const [commit, prepare] = [BigInt(position.getCommitPosition()), BigInt(position.getPreparePosition())];
  if (commit < prepare) throw handlerThrew();
  return numberOrEnd(commit.toString());
}

/** Filter of a reader of the log. */
export interface LogFilter {
  readonly subject: 'stream' | 'type';
  /** Empty for none; otherwise it takes precedence over the prefixes. */
  readonly expression: string;
  readonly prefixes: readonly string[];
  /** Number of examined records after which a subscriber gets its position. */
  readonly checkpointInterval: number;
}

const defaultWindow = 32;

export function logFilter(options: streams.ReadReq.Options.FilterOptions): LogFilter {
  const wanted = options.getStreamIdentifier() ?? options.getEventType();
  if (!wanted) throw invalidArgument('The filter is missing.');
  if (!options.hasMax() && !options.hasCount()) throw invalidArgument("The filter's window is missing.");
  const prefixes = wanted.getPrefixList();
  if (prefixes.length > prefixesMost) throw invalidArgument(`A filter has at most ${prefixesMost} prefixes.`);
  const window = options.hasMax() ? options.getMax() : defaultWindow;
  return {
    subject: options.hasStreamIdentifier() ? 'stream' : 'type',
    expression: wanted.getRegex(),
    prefixes,
    checkpointInterval: Math.max(1, window) * options.getCheckpointintervalmultiplier(),
  };
}

/** Filters the records for one reader of the log. */
export interface RecordFilter {
  /** Returns which of a page's records pass. */
  passing(records: readonly Buffer[]): Promise<readonly boolean[]> | readonly boolean[];
  end(): unknown;
}

/** A non-empty regular expression takes precedence over the prefixes; no prefix at all matches nothing. */
export function createFilter({ subject, expression, prefixes }: LogFilter, expressions: Expressions): RecordFilter {
  const textsOf = (records: readonly Buffer[]): string[] => records.map((record) => peekRecord(record, subject));
  if (expression === '') {
    const hasPrefix = (text: string): boolean => prefixes.some((prefix) => text.startsWith(prefix));
    return { passing: (records) => textsOf(records).map(hasPrefix), end: () => {} };
  }
  const running = expressions(expression);
  return {
    passing: (records) => (records.length === 0 ? [] : running.matches(textsOf(records))),
    end: running.end,
  };
}
