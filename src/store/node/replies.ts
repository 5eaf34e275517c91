/** Plain values → reply messages. */
import shared from '@eventstore/db-client/generated/shared_pb.js';
import statuses from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerDuplexStream, type ServerWritableStream, status } from '@grpc/grpc-js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import protobufEmpty from 'google-protobuf/google/protobuf/empty_pb.js';
import { type WireWriter, wireWriter } from '../wire.ts';
import type { ChangeOutcome, Expected } from './changes.ts';
import { maxAppendSize_bytes, streamIdentifier } from './messages.ts';
import { unsentMost, unsentMost_bytes } from './room.ts';

type Done = Extract<ChangeOutcome, { kind: 'done' }>;
type ErrorStatus = statuses.Status;

/** Answer to one append of a batch. */
export type BatchResult = Done | ErrorStatus;

const { AppendResp, ReadResp, DeleteResp, TombstoneResp } = streams;
/** Data for a slow client waits as bytes, so that they can be counted. */
export const bytesOf = (reply: { serializeBinary(): Uint8Array }): Buffer => Buffer.from(reply.serializeBinary());

const empty = (): shared.Empty => new shared.Empty();

interface Success<P> {
  setCurrentRevision(revision: string): unknown;
  setNoStream(empty?: shared.Empty): unknown;
  setPosition(position?: P): unknown;
  setNoPosition(empty?: shared.Empty): unknown;
}

interface Position {
  setCommitPosition(value: string): unknown;
  setPreparePosition(value: string): unknown;
}

/** Commit and prepare position of an event are the same here. */
function at<P extends Position>(message: P, position: number): P {
  message.setCommitPosition(position.toString());
  message.setPreparePosition(position.toString());
  return message;
}

function succeed<P extends Position>(success: Success<P>, { revision, position }: Done, empty_: P): void {
  if (revision < 0) success.setNoStream(empty());
  else success.setCurrentRevision(revision.toString());
  if (position === null) success.setNoPosition(empty());
  else success.setPosition(at(empty_, position));
}

export function appended(done: Done): streams.AppendResp {
  const success = new AppendResp.Success();
  succeed(success, done, new AppendResp.Position());
  return new AppendResp().setSuccess(success);
}

/**
 * A wrong version is a normal answer of Append, in both generations of its fields. The older one encodes "no stream" as uint64 max, which
 * the generated message cannot hold; it is omitted there.
 */
export function appendWrongVersion(expected: Expected, current: number): streams.AppendResp {
  const wrong = new AppendResp.WrongExpectedVersion();
  if (current < 0) wrong.setCurrentNoStream(empty()).setNoStream2060(empty());
  else wrong.setCurrentRevision(current.toString()).setCurrentRevision2060(current);
  if (expected === 'any') wrong.setExpectedAny(empty()).setAny2060(empty());
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(empty()).setStreamExists2060(empty());
  else if (expected === 'no_stream') wrong.setExpectedNoStream(empty());
  else wrong.setExpectedRevision(expected.toString()).setExpectedRevision2060(Number(expected));
  return new AppendResp().setWrongExpectedVersion(wrong);
}

export const deletedAt = (position: number): streams.DeleteResp =>
  new DeleteResp().setPosition(at(new DeleteResp.Position(), position));

export const tombstonedAt = (position: number): streams.TombstoneResp =>
  new TombstoneResp().setPosition(at(new TombstoneResp.Position(), position));

/** Upper bound for tags, lengths and numbers of a success. */
const successMost_bytes = 96;

/**
 * The one answer to one append of a batch. The stream is always included, because clients read it unchecked.
 * @param correlationId a raw `UUID`. @param stream a raw `StreamIdentifier`
 */
export function batchReply(correlationId: Uint8Array, stream: Uint8Array, result: BatchResult): Buffer {
  const error = result instanceof statuses.Status ? result.serializeBinary() : null;
  const wire = wireWriter(successMost_bytes + correlationId.length + stream.length + (error?.length ?? 0));
  wire.bytes(4, stream);
  if (error) wire.bytes(2, error);
  else batchSuccess(wire, result as Done);
  wire.bytes(1, correlationId);
  return wire.done();
}

/** As `BatchAppendResp.Success`. */
function batchSuccess(wire: WireWriter, { revision, position }: Done): void {
  const success = wire.mark();
  const place = wire.mark();
  if (position !== null) {
    wire.uint64(2, position);
    wire.uint64(1, position);
  }
  wire.message(position === null ? 4 : 3, place);
  if (revision < 0) wire.message(2, wire.mark());
  else wire.uint64(1, revision);
  wire.message(3, success);
}

function failure(code: number, message: string, details: { serializeBinary(): Uint8Array }, type: string): ErrorStatus {
  const packed = new any.Any();
  packed.pack(details.serializeBinary(), type);
  return new statuses.Status().setCode(code).setMessage(message).setDetails(packed);
}

function batchWrongVersion(expected: Expected, current: number): ErrorStatus {
  const details = new shared.WrongExpectedVersion();
  const none = new protobufEmpty.Empty();
  if (current < 0) details.setCurrentNoStream(none);
  else details.setCurrentStreamRevision(current.toString());
  if (expected === 'any') details.setExpectedAny(none);
  else if (expected === 'stream_exists') details.setExpectedStreamExists(none);
  else if (expected === 'no_stream') details.setExpectedNoStream(none);
  else details.setExpectedStreamPosition(expected.toString());
  return failure(status.ALREADY_EXISTS, 'WrongExpectedVersion', details, 'event_store.client.WrongExpectedVersion');
}

/** Errors that can answer one append of a batch. */
export const batchFailure = {
  wrongVersion: batchWrongVersion,
  deleted: (stream: string): ErrorStatus =>
    failure(
      status.NOT_FOUND,
      'StreamDeleted',
      new shared.StreamDeleted().setStreamIdentifier(streamIdentifier(stream)),
      'event_store.client.StreamDeleted',
    ),
  timeout: (): ErrorStatus =>
    failure(status.DEADLINE_EXCEEDED, 'Timeout', new shared.Timeout(), 'event_store.client.Timeout'),
  tooLarge: (): ErrorStatus =>
    failure(
      status.INVALID_ARGUMENT,
      'MaximumAppendSizeExceeded',
      new shared.MaximumAppendSizeExceeded().setMaxappendsize(maxAppendSize_bytes),
      'event_store.client.MaximumAppendSizeExceeded',
    ),
  badRequest: (message: string): ErrorStatus =>
    failure(
      status.INVALID_ARGUMENT,
      'BadRequest',
      new shared.BadRequest().setMessage(message),
      'event_store.client.BadRequest',
    ),
  unknown: (): ErrorStatus => failure(status.UNKNOWN, 'Unknown', new shared.Unknown(), 'event_store.client.Unknown'),
  /** Our own error, so without a type that clients know. Nothing was written. */
  cannotWrite: (message: string): ErrorStatus =>
    failure(status.RESOURCE_EXHAUSTED, message, new protobufEmpty.Empty(), 'google.protobuf.Empty'),
  damaged: (message: string): ErrorStatus =>
    failure(status.DATA_LOSS, message, new protobufEmpty.Empty(), 'google.protobuf.Empty'),
  /** In the real server's words. */
  notReady: (message: string): ErrorStatus =>
    failure(status.OK, message, new protobufEmpty.Empty(), 'google.protobuf.Empty'),
  busy: (): ErrorStatus => failure(status.OK, 'Server Is Busy', new protobufEmpty.Empty(), 'google.protobuf.Empty'),
};

export const streamNotFound = (stream: string): Buffer =>
  bytesOf(
    new ReadResp().setStreamNotFound(new ReadResp.StreamNotFound().setStreamIdentifier(streamIdentifier(stream))),
  );

export const confirmation = (subscriptionId: string): Buffer =>
  bytesOf(new ReadResp().setConfirmation(new ReadResp.SubscriptionConfirmation().setSubscriptionId(subscriptionId)));

export const checkpointAt = (position: number): Buffer =>
  bytesOf(new ReadResp().setCheckpoint(at(new ReadResp.Checkpoint(), position)));

export const caughtUp = (): Buffer => bytesOf(new ReadResp().setCaughtUp(new ReadResp.CaughtUp()));

/** The writing side of a call, at the speed of its client (HTTP/2 flow control). */
export interface ReplyStream {
  readonly cancelled: boolean;
  /** True if the client is behind: then wait before the next message. */
  readonly full: boolean;
  /** A whole message in bytes. */
  write(message: Buffer): void;
  /** Resolves when there is room again, or the call has ended. */
  room(): Promise<void>;
  /** Called once when the client disconnects. */
  onCancel(listener: () => void): void;
}

type Call<Req> = ServerWritableStream<Req, Buffer> | ServerDuplexStream<Req, Buffer>;

export function outflow<Req>(call: Call<Req>): ReplyStream {
  const waitingForRoom = new Set<() => void>();
  /** Bytes written since the queue was last empty. Messages are sent in order, so only the last one needs a check. */
  let written_bytes = 0;
  const listeners = new Set<() => void>();
  let over = false;
  const end = (): void => {
    if (over) return;
    over = true;
    for (const listener of listeners) listener();
  };
  call.on('cancelled', end);
  call.on('close', end);
  call.on('error', end);

  const isFull = (waiting: number): boolean => waiting >= unsentMost || written_bytes >= unsentMost_bytes;
  function wake(): void {
    for (const resolve of waitingForRoom) resolve();
    waitingForRoom.clear();
  }
  /** After a message that left no room: it and those before it are sent. */
  function sent(): void {
    if (call.writableLength === 0) written_bytes = 0;
    if (!isFull(call.writableLength)) wake();
  }
  listeners.add(wake);

  return {
    get cancelled() {
      return over || call.cancelled;
    },
    get full() {
      return isFull(call.writableLength);
    },
    write(message) {
      if (over || call.cancelled) return;
      if (call.writableLength === 0) written_bytes = 0;
      written_bytes += message.length;
      if (isFull(call.writableLength + 1)) call.write(message, sent);
      else call.write(message);
    },
    room() {
      if (over || !isFull(call.writableLength)) return Promise.resolve();
      return new Promise((resolve) => waitingForRoom.add(resolve));
    },
    onCancel(listener) {
      listeners.add(listener);
    },
  };
}
