/** The calls Append, Delete, Tombstone and BatchAppend of the embedded node. */

import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import {
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type handleUnaryCall,
  type Metadata,
  type ServiceError,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { eachField, textAt } from '../wire.ts';
import { type ChangeOutcome, type Expected, type Proposal, type StreamChange, weightOf } from './changes.ts';
import { Damaged } from './environment.ts';
import {
  asServiceError,
  Busy,
  type ExpectedOptions,
  exactVersion,
  expectedNumber,
  expectedVersion,
  handlerThrew,
  maxAppendSize_bytes,
  type Proposed,
  proposal,
  proposedIn,
  streamDeleted,
  streamName,
  streamNameOf,
  tooLarge,
  uuidText,
  wrongVersion,
} from './messages.ts';
import {
  appended,
  appendWrongVersion,
  type BatchResult,
  batchFailure,
  batchReply,
  deletedAt,
  outflow,
  tombstonedAt,
} from './replies.ts';
import { appendMost_bytes, CannotWrite, pendingMost, pendingMost_bytes, pendingMost_ms } from './room.ts';
import type { Writer } from './writer.ts';

/** Streams/Append: options first, then the events, one answer. */
export function appendService(writer: Writer): handleClientStreamingCall<streams.AppendReq, streams.AppendResp> {
  return (call, callback) => {
    let options: Omit<StreamChange, 'events'> | null = null;
    const events: Proposal[] = [];
    let size_bytes = 0;
    let weight_bytes = 0;
    let answered = false;
    const answer = (error: unknown, response: streams.AppendResp | null): void => {
      if (answered) return;
      answered = true;
      if (response) callback(null, response);
      else callback(asServiceError(error));
    };

    function take(message: streams.AppendReq): void {
      const [first, next] = [message.getOptions(), message.getProposedMessage()];
      if (first && !options) {
        const stream = streamName(first.getStreamIdentifier());
        options = { kind: 'append', stream, expected: expectedVersion(first) };
      } else if (next && options) {
        const event = proposal(proposedIn(next));
        size_bytes += event.data.length;
        weight_bytes += weightOf(event);
        if (size_bytes > maxAppendSize_bytes || weight_bytes > appendMost_bytes) throw tooLarge();
        events.push(event);
      } else throw handlerThrew();
    }

    call.on('data', (message: streams.AppendReq) => {
      if (answered) return;
      try {
        take(message);
      } catch (error) {
        answer(error, null);
      }
    });
    call.on('error', () => {
      answered = true;
    });
    call.on('end', () => {
      if (answered) return;
      if (!options) return answer(handlerThrew(), null);
      const change = { ...options, events };
      writer.submit(change).then(
        (outcome) => answerAppend(change, outcome, answer),
        (error) => answer(error, null),
      );
    });
  };
}

function answerAppend(
  { stream, expected }: StreamChange,
  outcome: ChangeOutcome,
  answer: (error: unknown, response: streams.AppendResp | null) => void,
): void {
  if (outcome.kind === 'deleted') answer(streamDeleted(stream), null);
  else if (outcome.kind === 'wrongVersion') answer(null, appendWrongVersion(expected, outcome.current));
  else answer(null, appended(outcome));
}

interface DeletionOptions extends ExpectedOptions {
  getStreamIdentifier(): Parameters<typeof streamName>[0];
}

/** Runs a soft or hard deletion; both are answered with the position of the recording event. */
async function remove(
  writer: Writer,
  kind: 'delete' | 'tombstone',
  options: DeletionOptions | undefined,
): Promise<number> {
  if (!options) throw handlerThrew();
  const stream = streamName(options.getStreamIdentifier());
  const expected = expectedVersion(options);
  const outcome = await writer.submit({ kind, stream, expected, events: [] });
  if (outcome.kind === 'deleted') throw streamDeleted(stream);
  if (outcome.kind === 'wrongVersion') throw wrongVersion(stream, expectedNumber(expected), outcome.current);
  return outcome.position ?? 0;
}

const reply = <T>(answer: Promise<T>, callback: sendUnaryData<T>): void => {
  answer.then(
    (response) => callback(null, response),
    (error) => callback(asServiceError(error)),
  );
};

export const deleteService =
  (writer: Writer): handleUnaryCall<streams.DeleteReq, streams.DeleteResp> =>
  (call, callback) =>
    reply(remove(writer, 'delete', call.request.getOptions()).then(deletedAt), callback);

export const tombstoneService =
  (writer: Writer): handleUnaryCall<streams.TombstoneReq, streams.TombstoneResp> =>
  (call, callback) =>
    reply(remove(writer, 'tombstone', call.request.getOptions()).then(tombstonedAt), callback);

// The call BatchAppend of the embedded node: appends assembled from their chunks, and answered in order.

/**
 * Streams/BatchAppend: appends of many callers over one call, each in one or more chunks with a correlation id. Every correlation id is
 * answered exactly once: a second answer would break the official client.
 * @param refusalOf reason for refusing a call's appends, for a node of a cluster
 */
export function batchAppendService(
  writer: Writer,
  refusalOf?: (metadata: Metadata) => ServiceError | null,
): handleBidiStreamingCall<AppendChunk, Buffer> {
  return (call) => {
    const out = outflow(call);
    const gathering = createGathering(execute, answer);
    let executing = 0;
    let halfClosed = false;

    function answer({ correlationId, identifier }: BatchCaller, result: BatchResult): void {
      out.write(batchReply(correlationId, identifier, result));
      if (out.full) {
        // Stops reading from a caller that does not read its answers.
        call.pause();
        void out.room().then(() => call.resume());
      }
    }

    function execute(caller: BatchCaller, { stream, expected, events }: Gathered): void {
      const refusal = refusalOf?.(call.metadata);
      if (refusal) {
        // A leader's address ends the call; any other failure concerns only the append.
        if (refusal.code === status.NOT_FOUND) call.emit('error', refusal);
        else answer(caller, batchFailure.notReady(refusal.details));
        return;
      }
      executing++;
      writer
        .submit({ kind: 'append', stream, expected, events })
        .then((outcome) => resultOf(outcome, stream, expected), failureOf)
        .then((result) => {
          executing--;
          answer(caller, result);
          endIfIdle();
        });
    }

    function endIfIdle(): void {
      if (halfClosed && executing === 0) call.end();
    }

    call.on('data', gathering.take);
    call.on('end', () => {
      halfClosed = true;
      endIfIdle();
    });
    out.onCancel(gathering.clear);
  };
}

function resultOf(outcome: ChangeOutcome, stream: string, expected: Expected): BatchResult {
  if (outcome.kind === 'deleted') return batchFailure.deleted(stream);
  if (outcome.kind === 'wrongVersion') return batchFailure.wrongVersion(expected, outcome.current);
  return outcome;
}

function failureOf(error: unknown): BatchResult {
  if (error instanceof CannotWrite) return batchFailure.cannotWrite(error.message);
  if (error instanceof Damaged) return batchFailure.damaged(error.message);
  return error instanceof Busy ? batchFailure.busy() : batchFailure.unknown();
}

/** Receiver of an answer. */
export interface BatchCaller {
  /** The raw `UUID`. */
  readonly correlationId: Uint8Array;
  /** The raw `StreamIdentifier`, repeated in every answer: clients read it unchecked. */
  readonly identifier: Uint8Array;
}

/** An append whose chunks have all arrived. */
export interface Gathered {
  readonly stream: string;
  readonly expected: Expected;
  readonly events: readonly Proposal[];
}

/** An append whose last chunk has not arrived yet. */
interface Pending extends Gathered {
  readonly caller: BatchCaller;
  readonly events: Proposal[];
  /** Runs while chunks are missing. */
  timer?: NodeJS.Timeout;
  readonly left_ms: number;
  data_bytes: number;
  weight_bytes: number;
}

export interface Gathering {
  take(chunk: AppendChunk): void;
  /** Discards incomplete appends without an answer. */
  clear(): void;
}

/**
 * Assembles the chunks of one BatchAppend call. For every correlation id with options exactly one of the two is called, once; a chunk of no
 * append is ignored.
 */
export function createGathering(
  whole: (caller: BatchCaller, append: Gathered) => void,
  refused: (caller: BatchCaller, reason: BatchResult) => void,
): Gathering {
  const pending = new Map<string, Pending>();
  let pending_bytes = 0;

  function begin(caller: BatchCaller, options: ChunkOptions): Pending | null {
    const stream = streamNameOf(options.stream);
    const expected = expectedOf(options);
    const left_ms = Math.min(pendingMost_ms, timeLeft_ms(options));
    const full = pending.size >= pendingMost;
    if (left_ms <= 0 || full) {
      refused(caller, full ? batchFailure.busy() : batchFailure.timeout());
      return null;
    }
    return { caller, stream, expected, events: [], left_ms, data_bytes: 0, weight_bytes: 0 };
  }

  /** Most appends have one chunk and never wait here. */
  function wait(key: string, append: Pending): void {
    pending.set(key, append);
    append.timer ??= setTimeout(() => finish(key, append, batchFailure.timeout()), append.left_ms);
  }

  function finish(key: string, append: Pending, reason: BatchResult | null): void {
    pending.delete(key);
    pending_bytes -= append.weight_bytes;
    clearTimeout(append.timer);
    if (reason) refused(append.caller, reason);
    else whole(append.caller, append);
  }

  return {
    take({ correlationId, key, options, proposed, final }) {
      let append = pending.get(key) ?? null;
      if (!append && options && correlationId) {
        const caller = { correlationId, identifier: options.identifier };
        try {
          append = begin(caller, options);
        } catch (error) {
          refused(caller, batchFailure.badRequest(messageOf(error)));
        }
      }
      if (!append) return;
      const before_bytes = append.weight_bytes;
      const misfit = add(append, proposed);
      pending_bytes += append.weight_bytes - before_bytes;
      const reason = misfit ?? (pending_bytes > pendingMost_bytes ? batchFailure.busy() : null);
      if (reason || final) finish(key, append, reason);
      else wait(key, append);
    },
    clear() {
      for (const { timer } of pending.values()) clearTimeout(timer);
      pending.clear();
      pending_bytes = 0;
    },
  };
}

/** Adds a chunk's events; returns the reason if the append is refused. */
function add(append: Pending, proposed: readonly Proposed[]): BatchResult | null {
  try {
    for (const each of proposed) {
      const event = proposal(each);
      append.data_bytes += event.data.length;
      append.weight_bytes += weightOf(event);
      if (append.data_bytes > maxAppendSize_bytes || append.weight_bytes > appendMost_bytes)
        return batchFailure.tooLarge();
      append.events.push(event);
    }
    return null;
  } catch (error) {
    return batchFailure.badRequest(messageOf(error));
  }
}

/** Clients send a deadline for the answer; without one there is no limit. */
const timeLeft_ms = ({ deadline_ms }: ChunkOptions): number =>
  deadline_ms === null ? Number.POSITIVE_INFINITY : deadline_ms - Date.now();

function expectedOf({ expected }: ChunkOptions): Expected {
  if (expected === null) throw new Error('Required field expected_stream_position not set');
  return typeof expected === 'bigint' ? exactVersion(expected) : expected;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** One append, or a part of one (`BatchAppendReq` of event_store.client.streams). */
export interface AppendChunk {
  /** The raw `UUID`, which the answer repeats; null without one. */
  readonly correlationId: Buffer | null;
  /** The same as text; empty without one. */
  readonly key: string;
  readonly options: ChunkOptions | null;
  readonly proposed: readonly Proposed[];
  readonly final: boolean;
}

export interface ChunkOptions {
  /** The raw `StreamIdentifier`, which the answer repeats. */
  readonly identifier: Buffer;
  /** Stream name in it. */
  readonly stream: Buffer;
  /** A raw revision up to 2^64 - 1; null if omitted. */
  readonly expected: Expected | null;
  /** Milliseconds since 1970; null without a deadline. */
  readonly deadline_ms: number | null;
}

const nothing: Buffer = Buffer.alloc(0);
const beyondInt64 = 2 ** 63;

/**
 * Parses the fields of a BatchAppend request by hand: generated messages take a third of the node's work for an append.
 * @param frame that `checkFrame` has accepted
 */
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
    else if (field === 3) proposed.push(proposedInFrame(frame, from, to));
    else if (field === 4) final = from !== 0;
  });
  return { correlationId, key, options, proposed, final };
}

/** Clients send the text form; the other form has 64-bit numbers. */
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

/** Revisions beyond a double's precision are rare: no stream has that many events. */
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

/** Milliseconds of a `Timestamp`. */
function timeIn(frame: Buffer, from: number, to: number): number {
  let [seconds, nanos] = [0, 0];
  eachField(frame, from, to, (field, value) => {
    const signed = value < beyondInt64 ? value : value - 2 * beyondInt64;
    if (field === 1) seconds = signed;
    else if (field === 2) nanos = signed;
  });
  return seconds * 1_000 + nanos / 1_000_000;
}

function proposedInFrame(frame: Buffer, from: number, to: number): Proposed {
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
