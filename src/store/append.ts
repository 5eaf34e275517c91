/** Appends to the event store: requests and answers on the wire, and many appends over one BatchAppend call per connection. */

import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import { convertToCommandError, parseUUID } from '@eventstore/db-client/dist/utils/index.js';
import rpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { type Appended, type EventStore, Unavailable } from '../../commands/ports.ts';
import type { Append, AppendCall, AppendedAt } from './calls.ts';
import type { StoreConnection } from './connection.ts';
import {
  definiteRefusal,
  isConnectionLoss,
  isNotLeader,
  mayBeWritten,
  NotAppended,
  storeReasonOf,
} from './failures.ts';
import { eachField, textAt, type WireWriter, wireWriter } from './wire.ts';

/** The server's answer to one append, read from the wire. */
export interface AppendAnswer {
  readonly correlationId: string;
  readonly outcome: AppendedAt | AppendFailure;
}

/** @returns an error of the client. @param stream of the append */
export type AppendFailure = (stream: string) => Error;

const { responseDeserialize } = rpc.StreamsService.batchAppend;

/**
 * Reads a `BatchAppendResp` (event_store.client.streams). Nearly every answer is a success: it is parsed by hand, in a fifth of the
 * generated message's time. The generated message parses every other answer.
 * @throws Error for an invalid message
 */
export const appendAnswer = (bytes: Buffer): AppendAnswer => plainSuccess(bytes) ?? answerOf(bytes);

/** Null for an answer with other fields, or in another form. */
function plainSuccess(bytes: Buffer): AppendAnswer | null {
  let correlationId = '';
  let revision = -1;
  let position = -1;
  let failed = false;
  eachField(bytes, 0, bytes.length, (field, from, to) => {
    if (field === 1) correlationId = uuidIn(bytes, from, to);
    else if (field === 2) failed = true;
    else if (field === 3)
      eachField(bytes, from, to, (of, value, end) => {
        if (of === 1) revision = value;
        else if (of === 3) position = commitIn(bytes, value, end);
      });
  });
  const plain = !failed && correlationId !== '' && isExact(revision) && isExact(position);
  return plain ? { correlationId, outcome: { revision: BigInt(revision), position: BigInt(position) } } : null;
}

const isExact = (number: number): boolean => number >= 0 && number <= Number.MAX_SAFE_INTEGER;

/** Text of a `UUID` in text form; empty for another form. */
function uuidIn(bytes: Buffer, from: number, to: number): string {
  let text = '';
  eachField(bytes, from, to, (field, value, end) => {
    if (field === 2) text = textAt(bytes, value, end);
  });
  return text;
}

/** Commit position of an `AllStreamPosition`. */
function commitIn(bytes: Buffer, from: number, to: number): number {
  let commit = -1;
  eachField(bytes, from, to, (field, value) => {
    if (field === 1) commit = value;
  });
  return commit;
}

function answerOf(bytes: Buffer): AppendAnswer {
  const answer = responseDeserialize(bytes);
  const correlationId = parseUUID(answer.getCorrelationId()) ?? '';
  const error = answer.getError();
  if (error) {
    const unwritten = NotAppended.of(error.getCode(), error.getMessage());
    return { correlationId, outcome: (stream) => unwritten ?? unpackToCommandError(error, stream) };
  }
  const success = answer.getSuccess();
  const position = success?.getPosition()?.getCommitPosition();
  return {
    correlationId,
    outcome: {
      revision: BigInt(success?.getCurrentRevision() ?? 0),
      position: position === undefined ? null : BigInt(position),
    },
  };
}

/** Upper bound for ids, tags, lengths and numbers, per request and per event. */
const overhead_bytes = 256;

/**
 * One whole append as a `BatchAppendReq` (event_store.client.streams), with the fields of its last byte first.
 * @param correlationId a UUID, which the answer repeats
 * @param deadline_s seconds since 1970; the server drops an append that it has not begun by then
 */
export function appendRequest(correlationId: string, { stream, expected, events }: Append, deadline_s: number): Buffer {
  const written = events.map(({ id, type, data, metadata }) => ({
    id,
    type,
    data: JSON.stringify(data),
    metadata: JSON.stringify(metadata),
  }));
  const wire = wireWriter(written.reduce((sum, event) => sum + sizeOf(event), overhead_bytes + 3 * stream.length));
  wire.uint64(4, 1); // is_final
  for (const event of written.reverse()) proposed(wire, event);
  const options = wire.mark();
  const deadline = wire.mark();
  wire.uint64(1, deadline_s);
  wire.message(6, deadline);
  if (expected === 'no_stream') wire.message(3, wire.mark());
  else wire.uint64(2, expected);
  const identifier = wire.mark();
  wire.text(3, stream);
  wire.message(1, identifier);
  wire.message(2, options);
  uuid(wire, correlationId);
  return wire.done();
}

interface Written {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

const sizeOf = ({ type, data, metadata }: Written): number =>
  overhead_bytes + 3 * type.length + Buffer.byteLength(data) + Buffer.byteLength(metadata);

function proposed(wire: WireWriter, event: Written): void {
  const message = wire.mark();
  wire.text(4, event.data);
  wire.text(3, event.metadata);
  property(wire, 'content-type', 'application/json');
  property(wire, 'type', event.type);
  uuid(wire, event.id);
  wire.message(3, message);
}

function property(wire: WireWriter, key: string, value: string): void {
  const entry = wire.mark();
  wire.text(2, value);
  wire.text(1, key);
  wire.message(2, entry);
}

function uuid(wire: WireWriter, text: string): void {
  const message = wire.mark();
  wire.text(2, text);
  wire.message(1, message);
}

type Call = ClientDuplexStream<Buffer, AppendAnswer>;

interface Waiting {
  readonly id: string;
  readonly stream: string;
  readonly request: Buffer;
  readonly resolve: (appended: AppendedAt) => void;
  readonly reject: (error: unknown) => void;
}

/** The server drops an append that it has not begun by then. Callers stop waiting earlier and send again. */
const deadline_s = 10;

const { path } = rpc.StreamsService.batchAppend;
const asIs = (request: Buffer): Buffer => request;

/**
 * The official client opens the call and finds the server; the messages are written and read here. Its own `appendToStream` encodes the
 * data as base64 and parses that again, twice, writes every event twice and couples the appends of all its instances.
 *
 * Appends of one turn of the event loop are sent together: the server can then write more to disk at once.
 */
export function createAppendCall(client: EventStoreDBClient, heard: () => void): AppendCall {
  const sent = new Map<string, Waiting & { readonly call: Call }>();
  let unsent: Waiting[] = [];

  const open = client['GRPCStreamCreator'](
    rpc.StreamsClient,
    'append',
    (streams) => {
      const settings = client['callArguments']({ requiresLeader: true }, { deadline: Number.POSITIVE_INFINITY });
      const call: Call = streams.makeBidiStreamRequest(path, asIs, appendAnswer, ...settings);
      return call
        .on('data', answered)
        .on('error', (error) => lost(call, convertToCommandError(error as never)))
        .on('end', () => lost(call, new Error('the server ended the call')));
    },
    new WeakMap(),
  );

  /** Ignores an answer without a waiter, as after a resend. */
  function answered({ correlationId, outcome }: AppendAnswer): void {
    heard();
    const waiting = sent.get(correlationId);
    if (!waiting) return;
    sent.delete(correlationId);
    if (typeof outcome === 'function') waiting.reject(outcome(waiting.stream));
    else waiting.resolve(outcome);
  }

  function lost(call: Call, error: unknown): void {
    for (const [id, waiting] of sent) {
      if (waiting.call !== call) continue;
      sent.delete(id);
      waiting.reject(error);
    }
  }

  async function send(): Promise<void> {
    const all = unsent;
    unsent = [];
    try {
      const call = await open();
      for (const waiting of all) {
        sent.set(waiting.id, { ...waiting, call });
        call.write(waiting.request);
      }
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  }

  return (append) =>
    new Promise((resolve, reject) => {
      const id = randomUUID();
      const request = appendRequest(id, append, Math.ceil(Date.now() / 1_000) + deadline_s);
      if (unsent.length === 0) setImmediate(send);
      unsent.push({ id, stream: append.stream, request, resolve, reject });
    });
}

export interface AppendLimits {
  /** Timeout of one attempt, after which the identical events are sent again. */
  readonly attempt_ms: number;
  /** Total time for determining the outcome. */
  readonly append_ms: number;
}

const backoff_ms = { first: 50, most: 1_000 };

/** Unavailability after which an unsent append is given up: time enough to find another leader. */
const unsent_ms = 1_000;

type AppendFor = (away_ms: number) => EventStore['append'];

/**
 * Appends, sending until the outcome is known. Resending is safe: at an exact revision the store compares event ids, so the first copy is
 * written and the others return its revision. After the timeout the outcome stays unknown: the caller must read the stream before deciding
 * again, which every decision after a failure does.
 * @returns for callers who wait that long for an unavailable store, to learn the outcome of a sent append
 */
export function createAppending(
  connection: StoreConnection,
  limits: AppendLimits,
  read: EventStore['read'],
): AppendFor {
  const { reach } = connection;
  const send = connection.append;

  async function attempt(append: Append): Promise<Appended> {
    const what = `appending to ${append.stream}`;
    const { revision, position } = await connection.answered(send(append), limits.attempt_ms, what);
    return { revision, position: position ?? (await positionOf(append.stream, revision)) };
  }

  /** An append that was written before is answered without a position if its event cannot be read any more. */
  async function positionOf(stream: string, revision: bigint): Promise<bigint> {
    const [event] = await read(stream, { from: revision, max: 1 });
    return event?.position ?? 0n;
  }

  return (away_ms) => async (stream, expected, events) => {
    const append = { stream, expected, events };
    let until_ms = performance.now() + limits.append_ms;
    let unsure = false;
    let lostAt_ms: number | null = null;
    for (let pause_ms = backoff_ms.first; ; pause_ms = Math.min(pause_ms * 2, backoff_ms.most)) {
      try {
        return await attempt(append);
      } catch (error) {
        const refusal = definiteRefusal(error, stream, expected);
        if (refusal !== undefined) throw refusal;
        unsure ||= mayBeWritten(error);
        if (isConnectionLoss(error)) {
          connection.moved();
          // The error has just given the leader's address to the client.
          if (!isNotLeader(error)) reach.lost();
          lostAt_ms ??= performance.now();
          until_ms = Math.min(until_ms, lostAt_ms + (unsure ? away_ms : unsent_ms));
        }
        const left_ms = until_ms - performance.now() - pause_ms;
        if (left_ms <= 0 || !(await reach.whenUp(left_ms))) throw unanswered(append, unsure, error);
        await sleep(pause_ms + randomInt(backoff_ms.first));
      }
    }
  };

  function unanswered({ stream, events }: Append, unsure: boolean, cause: unknown): Unavailable {
    const outcome = unsure
      ? `whether ${events.length} event(s) were appended to ${stream} is unknown; read the stream before deciding again`
      : `nothing was appended to ${stream}`;
    return new Unavailable(
      `no answer from the event store at ${connection.server} (${storeReasonOf(cause)}): ${outcome}`,
      1,
      {
        cause,
      },
    );
  }
}
