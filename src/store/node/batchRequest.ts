/** Requests of BatchAppend, read field by field: as generated messages they take a third of what the node does for an append. */
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { eachField, textAt } from '../wire.ts';
import type { Expected } from './appendRules.ts';
import { type Proposed, uuidText } from './messages.ts';

/** One append, or a part of one (`BatchAppendReq` of event_store.client.streams). */
export interface AppendChunk {
  /** The `UUID` as it came, which the answer echoes; null without one. */
  readonly correlationId: Buffer | null;
  /** The same as text; empty without one. */
  readonly key: string;
  readonly options: ChunkOptions | null;
  readonly proposed: readonly Proposed[];
  readonly final: boolean;
}

export interface ChunkOptions {
  /** The `StreamIdentifier` as it came, which the answer echoes. */
  readonly identifier: Buffer;
  /** The name in it. */
  readonly stream: Buffer;
  /** A revision as it came, up to 2^64 - 1; null when it says nothing. */
  readonly expected: Expected | null;
  /** Milliseconds since 1970; null without a deadline. */
  readonly deadline_ms: number | null;
}

const nothing: Buffer = Buffer.alloc(0);
const beyondInt64 = 2 ** 63;

/** @param frame one that `checkFrame` has let through */
export function batchRequest(frame: Buffer): AppendChunk {
  let correlationId: Buffer | null = null;
  let key = '';
  let options: ChunkOptions | null = null;
  const proposed: Proposed[] = [];
  let final = false;
  eachField(frame, 0, frame.length, (field, from, to) => {
    if (field === 1) {
      correlationId = frame.subarray(from, to);
      key = uuidIn(frame, from, to);
    } else if (field === 2) options = optionsIn(frame, from, to);
    else if (field === 3) proposed.push(proposedIn(frame, from, to));
    else if (field === 4) final = from !== 0;
  });
  return { correlationId, key, options, proposed, final };
}

/** Of its two forms the text is what clients send; the other one has numbers of 64 bits. */
function uuidIn(frame: Buffer, from: number, to: number): string {
  let text: string | null = null;
  eachField(frame, from, to, (field, value, end) => {
    text = field === 2 ? textAt(frame, value, end).toLowerCase() : null;
  });
  return text ?? uuidText(shared.UUID.deserializeBinary(frame.subarray(from, to)));
}

function optionsIn(frame: Buffer, from: number, to: number): ChunkOptions {
  let identifier = nothing;
  let stream = nothing;
  let expected: Expected | null = null;
  let deadline_ms: number | null = null;
  eachField(frame, from, to, (field, value, end) => {
    if (field === 1) {
      identifier = frame.subarray(value, end);
      stream = nameIn(frame, value, end);
    } else if (field === 2) expected = revisionOf(value, () => frame.subarray(from, to));
    else if (field === 3) expected = 'no_stream';
    else if (field === 4) expected = 'any';
    else if (field === 5) expected = 'stream_exists';
    else if (field === 6) deadline_ms = timeIn(frame, value, end);
  });
  return { identifier, stream, expected, deadline_ms };
}

/** Numbers that a double does not hold are rare: nobody has so many events. */
function revisionOf(value: number, options: () => Buffer): bigint {
  if (Number.isSafeInteger(value)) return BigInt(value);
  return BigInt(streams.BatchAppendReq.Options.deserializeBinary(options()).getStreamPosition());
}

function nameIn(frame: Buffer, from: number, to: number): Buffer {
  let name = nothing;
  eachField(frame, from, to, (field, value, end) => {
    if (field === 3) name = frame.subarray(value, end);
  });
  return name;
}

/** Of a `Timestamp`. */
function timeIn(frame: Buffer, from: number, to: number): number {
  let [seconds, nanos] = [0, 0];
  eachField(frame, from, to, (field, value) => {
    const signed = value < beyondInt64 ? value : value - 2 * beyondInt64;
    if (field === 1) seconds = signed;
    else if (field === 2) nanos = signed;
  });
  return seconds * 1_000 + nanos / 1_000_000;
}

function proposedIn(frame: Buffer, from: number, to: number): Proposed {
  let id = '';
  let type: string | undefined;
  let contentType: string | undefined;
  let data = nothing;
  let metadata = nothing;
  eachField(frame, from, to, (field, value, end) => {
    if (field === 1) id = uuidIn(frame, value, end);
    else if (field === 2) {
      const [name, text] = entryIn(frame, value, end);
      if (name === 'type') type = text;
      else if (name === 'content-type') contentType = text;
    } else if (field === 3) metadata = frame.subarray(value, end);
    else if (field === 4) data = frame.subarray(value, end);
  });
  return { id, type, contentType, data, metadata };
}

function entryIn(frame: Buffer, from: number, to: number): readonly [name: string, text: string] {
  let name = '';
  let text = '';
  eachField(frame, from, to, (field, value, end) => {
    if (field === 1) name = textAt(frame, value, end);
    else if (field === 2) text = textAt(frame, value, end);
  });
  return [name, text];
}
