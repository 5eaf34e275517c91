/** Appends to the event store: requests and answers on the wire, and many appends over one BatchAppend call for each connection. */

import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import { convertToCommandError, parseUUID } from '@eventstore/db-client/dist/utils/index.js';
import rpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { type Appended, type EventStore, type SealedEvent, Unavailable } from '../../commands/ports.ts';
import type { Connection } from './connection.ts';
import { definiteRefusal, isConnectionLoss, isNotLeader, mayBeWritten, NotAppended, reasonOf } from './failures.ts';
import { eachField, textAt, type WireWriter, wireWriter } from './wire.ts';

export interface AppendedAt {
  readonly revision: bigint;
  /** The server leaves it out when it finds the append written before. */
  readonly position: bigint | null;
}

/** The server's answer to one append, read from the wire. */
export interface AppendAnswer {
  readonly correlationId: string;
  readonly outcome: AppendedAt | AppendFailure;
}

/** @returns an error of the client. @param stream that was to be appended to */
export type AppendFailure = (stream: string) => Error;

const { responseDeserialize } = rpc.StreamsService.batchAppend;

/**
 * Reads a `BatchAppendResp` (event_store.client.streams). That all went well is what nearly every answer says: it is read field by field,
 * at a fifth of what the generated message takes. Every other answer is that message's to read.
 * @throws Error for what is none
 */
export const appendAnswer = (bytes: Buffer): AppendAnswer => plainSuccess(bytes) ?? answerOf(bytes);

/** Null for an answer that says more, or says it otherwise. */
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

/** Of a `UUID` that is spelled as text; empty for one that is not. */
function uuidIn(bytes: Buffer, from: number, to: number): string {
  let text = '';
  eachField(bytes, from, to, (field, value, end) => {
    if (field === 2) text = textAt(bytes, value, end);
  });
  return text;
}

/** Of an `AllStreamPosition`. */
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

/** One append, as it is encoded for the wire. */
export interface Append {
  readonly stream: string;
  readonly expected: bigint | 'no_stream';
  readonly events: readonly SealedEvent[];
}

/** Ids, tags, lengths and numbers take less than this, per request and per event. */
const overhead_bytes = 256;

/**
 * One whole append as a `BatchAppendReq` (event_store.client.streams), with the fields of its last byte first.
 * @param correlationId a UUID, under which the answer comes
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

/** Settles with the server's answer, or rejects with an error of the client. Has no time limit of its own. */
export type AppendCall = (append: Append) => Promise<AppendedAt>;

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
 * The official client opens the call and knows the server; what goes over it is written and read here. Its own `appendToStream` makes
 * base64 of the data and reads that again, twice, writes every event twice and ties the appends of all its instances together.
 *
 * What is asked for in one turn of the event loop leaves together: the server then finds more to write to disk at once.
 */
export function createAppendCall({ client, heard }: Connection): AppendCall {
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

  /** An answer that nobody waits for any more, as after a resend, is ignored. */
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
  /** How long one attempt may stay unanswered before the identical events are sent again. */
  readonly attempt_ms: number;
  /** How long the outcome is sought in all. */
  readonly append_ms: number;
}

const backoff_ms = { first: 50, most: 1_000 };

/** How long a store may be away before an append is given up that is surely not in it: time enough to find another leader. */
const unsent_ms = 1_000;

type AppendFor = (away_ms: number) => EventStore['append'];

/**
 * Appends, sending until the outcome is known. Resending is safe: at an exact revision the store compares event ids, so
 * whichever copy comes first is written and the others are told its revision. When the time is up the outcome stays unknown:
 * the caller must read the stream before deciding again, which every decision after a failure does.
 * @returns for callers who wait so long for a store that is away, to learn what became of what they have sent
 */
export function createAppending(connection: Connection, limits: AppendLimits, read: EventStore['read']): AppendFor {
  const { reach } = connection;
  const send = createAppendCall(connection);

  async function attempt(append: Append): Promise<Appended> {
    const what = `appending to ${append.stream}`;
    const { revision, position } = await connection.answered(send(append), limits.attempt_ms, what);
    return { revision, position: position ?? (await positionOf(append.stream, revision)) };
  }

  /** An append found to have been written before is answered without a position when its event cannot be read any more. */
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
          // Where the leader is, the client has just been told.
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
      `no answer from the event store at ${connection.server} (${reasonOf(cause)}): ${outcome}`,
      1,
      {
        cause,
      },
    );
  }
}
