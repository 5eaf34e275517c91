/** Records of the log: their encoding, and scans of the log by position. */

import streams from '@eventstore/db-client/generated/streams_pb.js';
import { wireReader, wireWriter } from '../wire.ts';
import { checksum_bytes, Damaged, intact, type NodeTables, openRecord, sealRecord } from './environment.ts';

export interface LogRecord {
  readonly stream: string;
  readonly revision: number | bigint;
  readonly position: number;
  readonly id: string;
  readonly type: string;
  readonly json: boolean;
  /** Server time of writing, milliseconds since 1970. */
  readonly created_ms: number;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** Upper bound for tags, lengths, numbers, id, time and the keys of the metadata map. */
const overhead_bytes = 320;

/**
 * The record followed by its checksum, as stored. The log stores an event as the `ReadResp` message that answers a reader
 * (event_store.client.streams), so a read is a copy of bytes. Only links, structured ids and a stream's age limit need the message decoded.
 */
export function encodeRecord(event: LogRecord): Buffer {
  const variable = 3 * (event.stream.length + event.type.length) + event.data.length + event.metadata.length;
  const wire = wireWriter(overhead_bytes + variable);
  wire.room(checksum_bytes);
  const entry = (key: string, value: string): void => {
    const mark = wire.mark();
    wire.text(2, value);
    wire.text(1, key);
    wire.message(6, mark);
  };
  const message = wire.mark();
  wire.uint64(3, event.position);
  const record = wire.mark();
  if (event.data.length > 0) wire.bytes(8, event.data);
  if (event.metadata.length > 0) wire.bytes(7, event.metadata);
  entry('content-type', event.json ? 'application/json' : 'application/octet-stream');
  entry('created', `${event.created_ms}0000`); // 100 ns ticks
  entry('type', event.type);
  wire.uint64(5, event.position);
  wire.uint64(4, event.position);
  wire.uint64(3, event.revision);
  const stream = wire.mark();
  wire.text(3, event.stream);
  wire.message(2, stream);
  const id = wire.mark();
  wire.text(2, event.id);
  wire.message(1, id);
  wire.message(1, record);
  wire.message(1, message);
  return sealRecord(wire.done(), event.position);
}

/** The record alone, as it is sent. */
export const bareRecord = (sealed: Buffer): Buffer => sealed.subarray(0, -checksum_bytes);

/** The three fields that filters and the append rules read, in their order within the record. */
export type Peekable = 'id' | 'stream' | 'type';

/** Reads one of them without decoding the message. */
export function peekRecord(record: Buffer, wanted: Peekable): string {
  const wire = wireReader(record);
  const text = (): string => {
    const length = wire.enter();
    wire.skip(length);
    return record.toString('utf8', wire.at - length, wire.at);
  };
  wire.enter(); // ReadResp.event
  wire.enter(); // ReadEvent.event
  const idLength = wire.enter(); // RecordedEvent.id
  if (wanted === 'id') return text();
  wire.skip(idLength);
  const streamLength = wire.enter(); // RecordedEvent.stream_identifier
  if (wanted === 'stream') return text();
  wire.skip(streamLength);
  wire.number(); // stream_revision
  wire.number(); // prepare_position
  wire.number(); // commit_position
  wire.enter(); // RecordedEvent.metadata, first entry
  wire.skip(wire.enter()); // its key: "type"
  return text();
}

/** Revision in a record. */
export function revisionOf(record: Buffer): number {
  const wire = wireReader(record);
  wire.enter(); // ReadResp.event
  wire.enter(); // ReadEvent.event
  wire.skip(wire.enter()); // RecordedEvent.id
  wire.skip(wire.enter()); // RecordedEvent.stream_identifier
  return wire.number(); // stream_revision
}

export type RecordedEvent = streams.ReadResp.ReadEvent.RecordedEvent;

export function decodeRecord(record: Buffer): RecordedEvent {
  const event = streams.ReadResp.deserializeBinary(record).getEvent()?.getEvent();
  if (!event) throw new Error('the log holds a record that is not an event: the data is damaged');
  return event;
}

export const isJson = (event: RecordedEvent): boolean =>
  event.getMetadataMap().get('content-type') === 'application/json';

/** Milliseconds since 1970. */
export const createdMs = (event: RecordedEvent): number => Number(event.getMetadataMap().get('created')) / 10_000;

/** Consecutive records of the log. */
export interface ScannedRecords {
  readonly found: readonly { readonly key: number; readonly value: Buffer }[];
  /** True if a bound ended it: there may be more. */
  readonly more: boolean;
}

/**
 * Reads the log, and a stream by its index.
 * @param checkedFrom from this position on records have checksums
 * @throws Damaged, by every read, for damaged data
 */
export function createLogReads(path: string, { log, index }: NodeTables, checkedFrom: number) {
  const damaged = (what: string): Damaged => new Damaged(path, what);

  function opened(position: number, stored: Buffer): Buffer {
    const record = position < checkedFrom ? stored : openRecord(stored, position);
    if (record === null) throw damaged(`the record at ${position} is not as it was written`);
    return record;
  }

  const stored = (position: number): Buffer | undefined =>
    intact(path, `the record at ${position}`, () => log.get(position));

  function record(position: number): Buffer | undefined {
    const found = stored(position);
    return found && opened(position, found);
  }

  const positionAt = (stream: number, revision: number): number | undefined =>
    intact(path, `the index of stream ${stream}`, () => index.get([stream, revision]));

  /** Reads up to a bound, or to the first damaged record; throws if the first one is damaged. */
  function collect(position: number, backwards: boolean, most: number, most_bytes: number): ScannedRecords {
    const found: { key: number; value: Buffer }[] = [];
    let bytes = 0;
    let expected: number | null = null;
    for (const { key, value } of log.getRange({ start: position, reverse: backwards, limit: most })) {
      try {
        // Records are contiguous: a gap is a loss.
        if (expected !== null && expected !== (backwards ? key + value.length : key)) {
          throw damaged(`records are missing next to ${key}`);
        }
        found.push({ key, value: opened(key, value) });
      } catch (error) {
        if (found.length === 0) throw error;
        return { found, more: true };
      }
      expected = backwards ? key : key + value.length;
      bytes += value.length;
      if (bytes >= most_bytes) break;
    }
    return { found, more: found.length >= most || bytes >= most_bytes };
  }

  return {
    record,
    positionAt,

    /** The record at a revision of a stream up to its last one, visible to readers or not. */
    recordAt(stream: number, revision: number): Buffer {
      const position = positionAt(stream, revision);
      const found = position === undefined ? undefined : record(position);
      if (found && revisionOf(found) === revision) return found;
      throw damaged(`revision ${revision} of stream ${stream} is not where it was`);
    },

    /** The log's last position, 0 if it is empty. */
    tail: (): number =>
      intact(path, 'the end of its log', () => {
        for (const position of log.getKeys({ reverse: true, limit: 1 })) return position;
        return 0;
      }),

    /** End of the record at a position. */
    endOf: (position: number): number => position + (stored(position)?.length ?? 0),

    /** Records from `position` on (or, backwards, down from it), inclusive: up to a number, or to the one that reaches the size. */
    scan: (position: number, backwards: boolean, most: number, most_bytes: number): ScannedRecords =>
      intact(path, `the log from ${position} on`, () => collect(position, backwards, most, most_bytes)),
  };
}
