import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import { convertToCommandError, parseUUID } from '@eventstore/db-client/dist/utils/index.js';
import rpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type messages from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { type Appended, type EventStore, type SealedEvent, Unavailable } from '../../commands/ports.ts';
import { type Connection, definiteRefusal, isConnectionLoss, NotAppended, reasonOf, within } from './connection.ts';
import { type WireWriter, wireWriter } from './wire.ts';

export interface AppendLimits {
  /** How long one attempt may stay unanswered before the identical events are sent again. */
  readonly attempt_ms: number;
  /** How long the outcome is sought in all. */
  readonly append_ms: number;
}

const backoff_ms = { first: 50, most: 1_000 };

/**
 * Appends, sending until the outcome is known. Resending is safe: at an exact revision the store compares event ids, so
 * whichever copy comes first is written and the others are told its revision. When the time is up the outcome stays unknown:
 * the caller must read the stream before deciding again, which every decision after a failure does.
 */
export function createAppending(
  connection: Connection,
  limits: AppendLimits,
  read: EventStore['read'],
): EventStore['append'] {
  const { client, reach, server } = connection;
  const send = createAppendCall(client);

  async function attempt(
    stream: string,
    expected: bigint | 'no_stream',
    events: readonly SealedEvent[],
  ): Promise<Appended> {
    const answer = send({ stream, expected, events });
    const { revision, position } = await within(answer, limits.attempt_ms, `appending to ${stream}`);
    return { revision, position: position ?? (await positionOf(stream, revision)) };
  }

  /** An append found to have been written before is answered without a position when its event cannot be read any more. */
  async function positionOf(stream: string, revision: bigint): Promise<bigint> {
    const [event] = await read(stream, { from: revision, max: 1 });
    return event?.position ?? 0n;
  }

  return async (stream, expected, events) => {
    const until_ms = performance.now() + limits.append_ms;
    for (let pause_ms = backoff_ms.first; ; pause_ms = Math.min(pause_ms * 2, backoff_ms.most)) {
      try {
        return await attempt(stream, expected, events);
      } catch (error) {
        const refusal = definiteRefusal(error, stream, expected);
        if (refusal !== undefined) throw refusal;
        if (isConnectionLoss(error)) reach.lost();
        const left_ms = until_ms - performance.now() - pause_ms;
        if (left_ms <= 0 || !(await reach.whenUp(left_ms))) {
          throw new Unavailable(
            `no answer from the event store at ${server} (${reasonOf(error)}): whether ${events.length} event(s) were ` +
              `appended to ${stream} is unknown; read the stream before deciding again`,
            1,
            { cause: error },
          );
        }
        await sleep(pause_ms + randomInt(backoff_ms.first));
      }
    }
  };
}

interface AppendAnswer {
  readonly revision: bigint;
  /** The server leaves it out when it finds the append written before. */
  readonly position: bigint | null;
}

/** Settles with the server's answer, or rejects with an error of the client. Has no time limit of its own. */
type AppendCall = (append: Append) => Promise<AppendAnswer>;

type Call = ClientDuplexStream<Buffer, messages.BatchAppendResp>;

interface Pending {
  readonly call: Call;
  readonly stream: string;
  readonly resolve: (answer: AppendAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** The server drops an append that it has not begun by then. Callers stop waiting earlier and send again. */
const deadline_s = 10;

const { path, responseDeserialize } = rpc.StreamsService.batchAppend;
const asIs = (request: Buffer): Buffer => request;

/**
 * Appends over one long BatchAppend call per connection. The official client opens the call, knows the server and reads its
 * errors; the requests are written here. Its own `appendToStream` makes base64 of the data and reads that again, twice,
 * writes every event twice and ties the appends of all its instances together.
 */
function createAppendCall(client: EventStoreDBClient): AppendCall {
  const pending = new Map<string, Pending>();

  const open = client['GRPCStreamCreator'](
    rpc.StreamsClient,
    'append',
    (streams) => {
      const settings = client['callArguments']({}, { deadline: Number.POSITIVE_INFINITY });
      const call: Call = streams.makeBidiStreamRequest(path, asIs, responseDeserialize, ...settings);
      return call
        .on('data', answered)
        .on('error', (error) => lost(call, convertToCommandError(error as never)))
        .on('end', () => lost(call, new Error('the server ended the call')));
    },
    new WeakMap(),
  );

  /** An answer that nobody waits for any more, as after a resend, is ignored. */
  function answered(answer: messages.BatchAppendResp): void {
    const id = parseUUID(answer.getCorrelationId()) ?? '';
    const waiting = pending.get(id);
    if (!waiting) return;
    pending.delete(id);
    const error = answer.getError();
    if (error) {
      const unwritten = NotAppended.of(error.getCode(), error.getMessage());
      waiting.reject(unwritten ?? unpackToCommandError(error, waiting.stream));
    } else waiting.resolve(answerOf(answer.getSuccess()));
  }

  function lost(call: Call, error: unknown): void {
    for (const [id, waiting] of pending) {
      if (waiting.call !== call) continue;
      pending.delete(id);
      waiting.reject(error);
    }
  }

  return async (append) => {
    const call = await open();
    return new Promise((resolve, reject) => {
      const id = randomUUID();
      pending.set(id, { call, stream: append.stream, resolve, reject });
      call.write(appendRequest(id, append, Math.ceil(Date.now() / 1_000) + deadline_s));
    });
  };
}

function answerOf(success: messages.BatchAppendResp.Success | undefined): AppendAnswer {
  const position = success?.getPosition()?.getCommitPosition();
  return {
    revision: BigInt(success?.getCurrentRevision() ?? 0),
    position: position === undefined ? null : BigInt(position),
  };
}

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
