/**
 * Reads of bounded length: one call each, opened by the official client, which finds the server. The messages are written and read here.
 */

import type { EventStoreDBClient } from '@eventstore/db-client';
import { convertToCommandError, isClientCancellationError } from '@eventstore/db-client/dist/utils/index.js';
import rpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type messages from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientReadableStream } from '@grpc/grpc-js';
import { Unavailable } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import type { ReadCall, ReadQuery } from './calls.ts';
import { Silent } from './failures.ts';
import { eachField, textAt, type WireWriter, wireWriter } from './wire.ts';

/** Upper bound for a request without names. */
const overhead_bytes = 128;

/** Records that the server examines in one step of a filtered read. */
const filterWindow = 4_096;

/**
 * A `ReadReq` (event_store.client.streams) with text ids and without links, with the fields of its last byte first.
 * @see https://github.com/kurrent-io/KurrentDB/blob/master/proto/Grpc/streams.proto
 */
export function encodeReadRequest({ stream, from, backwards, max, prefixes }: ReadQuery): Buffer {
  const names = [stream ?? '', ...(prefixes ?? [])];
  const wire = wireWriter(overhead_bytes + names.reduce((bytes, name) => bytes + name_bytes(name), 0));
  const options = wire.mark();
  const ids = wire.mark();
  empty(wire, 2); // string
  wire.message(9, ids);
  if (prefixes === undefined)
    empty(wire, 8); // no_filter
  else filter(wire, prefixes);
  wire.uint64(5, max);
  if (backwards) wire.uint64(3, 1);
  const where = wire.mark();
  if (stream === null) {
    if (from === undefined) empty(wire, backwards ? 3 : 2);
    else position(wire, from);
    wire.message(2, where);
  } else {
    if (from !== undefined) wire.uint64(2, from);
    else empty(wire, backwards ? 4 : 3);
    const identifier = wire.mark();
    wire.text(3, stream);
    wire.message(1, identifier);
    wire.message(1, where);
  }
  wire.message(1, options);
  return wire.done();
}

/** Upper bound for a name as UTF-8 with its tag and length. */
const name_bytes = (name: string): number => 3 * name.length + 8;

function filter(wire: WireWriter, prefixes: readonly string[]): void {
  const filter = wire.mark();
  wire.uint64(5, 1); // checkpointIntervalMultiplier: only for subscriptions, but it must not be 0
  wire.uint64(3, filterWindow); // max
  const names = wire.mark();
  for (const prefix of prefixes.toReversed()) wire.text(2, prefix);
  wire.message(1, names); // stream_identifier
  wire.message(7, filter);
}

function position(wire: WireWriter, at: bigint): void {
  const mark = wire.mark();
  wire.uint64(2, at); // prepare_position
  wire.uint64(1, at); // commit_position
  wire.message(1, mark);
}

const empty = (wire: WireWriter, field: number): void => wire.message(field, wire.mark());

/** `ReadResp.event`: a message with alternatives begins with the field of its alternative. */
const eventTag = 0x0a;
const json = 'application/json';

/**
 * The event in a `ReadResp` (event_store.client.streams) with text ids; null if the message has another content. Parsed by hand: with the
 * generated messages an event costs three times as much.
 */
export function recordedEvent(message: Buffer): StoredEvent | null {
  if (message[0] !== eventTag) return null;
  const read = { stream: '', revision: 0, position: 0, id: '', type: '', contentType: '', metadata: '', data: [0, 0] };

  function field(number: number, value: number, end: number): void {
    if (number === 1) eachField(message, value, end, id);
    else if (number === 2) eachField(message, value, end, stream);
    else if (number === 3) read.revision = value;
    else if (number === 5) read.position = value;
    else if (number === 6) property(value, end);
    else if (number === 7) read.metadata = textAt(message, value, end);
    else if (number === 8) read.data = [value, end];
  }
  function id(number: number, value: number, end: number): void {
    if (number === 2) read.id = textAt(message, value, end);
  }
  function stream(number: number, value: number, end: number): void {
    if (number === 3) read.stream = textAt(message, value, end);
  }
  function property(from: number, to: number): void {
    let key = '';
    eachField(message, from, to, (number, value, end) => {
      if (number === 1) key = textAt(message, value, end);
      else if (key === 'type') read.type = textAt(message, value, end);
      else if (key === 'content-type') read.contentType = textAt(message, value, end);
    });
  }
  eachField(message, 0, message.length, (answer, from, to) => {
    if (answer !== 1) return;
    eachField(message, from, to, (part, begin, end) => {
      if (part === 1) eachField(message, begin, end, field);
    });
  });

  const [from = 0, to = 0] = read.data;
  return {
    stream: read.stream,
    revision: BigInt(read.revision),
    position: BigInt(read.position),
    id: read.id,
    type: read.type,
    data: read.contentType === json ? parsed(textAt(message, from, to)) : Uint8Array.from(message.subarray(from, to)),
    metadata: parsed(read.metadata) as StoredEvent['metadata'],
  };
}

/** Foreign events in this store may not be JSON: their text is passed on unchanged. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text === '' ? undefined : text;
  }
}

type Call = ClientReadableStream<StoredEvent | messages.ReadResp>;

const { path, responseDeserialize } = rpc.StreamsService.read;
const asIs = (request: Buffer): Buffer => request;
/** Other messages say nothing about the events: a missing stream, or its first and last position. */
const said = (message: Buffer): StoredEvent | messages.ReadResp =>
  recordedEvent(message) ?? responseDeserialize(message);

/** The server reports nothing when the client closes the connection. */
const failureOf = (error: Error): unknown =>
  isClientCancellationError(error as never)
    ? new Unavailable('the connection to the event store was closed while it was read')
    : convertToCommandError(error as never);

/**
 * The official client's own `readStream` passes each event through two more streams and makes three objects of it: it takes twice the time.
 */
export function readCall(client: EventStoreDBClient, heard: () => void, wanted: ReadQuery): ReadCall {
  const open = client['GRPCStreamCreator'](rpc.StreamsClient, 'read', (streams): Call => {
    const settings = client['callArguments']({ requiresLeader: true }, { deadline: Number.POSITIVE_INFINITY });
    return streams.makeServerStreamRequest(path, asIs, said, encodeReadRequest(wanted), ...settings);
  });
  const opened: Promise<Call> = open();
  const events = opened.then(
    (call) =>
      new Promise<readonly StoredEvent[]>((resolve, reject) => {
        const read: StoredEvent[] = [];
        call
          .on('data', (answer: StoredEvent | messages.ReadResp) => {
            heard();
            if ('stream' in answer) read.push(answer);
          })
          .on('error', (error) => reject(failureOf(error)))
          .on('end', () => {
            heard();
            resolve(read);
          });
      }),
  );
  return {
    events,
    // A call cannot be cancelled in the turn that opened it.
    cancel: () => void opened.then((call) => setImmediate(() => call.cancel())).catch(() => {}),
  };
}

const tooLate = (limit_ms: number, what: string): Unavailable =>
  new Unavailable(`${what} took longer than ${limit_ms} ms`);

/** Settles as `work` does, or throws Unavailable after `limit_ms`; later results are ignored. */
export async function within<T>(work: Promise<T>, limit_ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooLate(limit_ms, what)), limit_ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Detects an open but silent connection. HTTP/2's pings also detect a stopped process, but three times later. */
export interface Hearing {
  /** Waits for a call's answer. @throws Silent after a long silence; Unavailable after `limit_ms` */
  answered<T>(work: Promise<T>, limit_ms: number, what: string): Promise<T>;
  /** Reports any message from the server. */
  heard(): void;
}

const looks = 4;

/**
 * Counts checks, not time: a process that was paused itself has checked once.
 * @param silence_ms maximum time that a server may be busy without sending anything
 * @param silent called once per silence, before calls fail: the connection must be dropped
 */
export function createHearing(silence_ms: number, silent: () => void): Hearing {
  const waiting = new Set<(error: Silent) => void>();
  let timer: NodeJS.Timeout | undefined;
  let unheard = 0;

  function look(): void {
    unheard += 1;
    if (unheard < looks) return;
    unheard = 0;
    silent();
    for (const fail of waiting) fail(new Silent(`the event store says nothing for ${silence_ms} ms`));
  }

  function begin(fail: (error: Silent) => void): void {
    if (waiting.size === 0) {
      unheard = 0;
      timer = setInterval(look, silence_ms / looks);
    }
    waiting.add(fail);
  }

  function end(fail: (error: Silent) => void): void {
    waiting.delete(fail);
    if (waiting.size === 0) clearInterval(timer);
  }

  return {
    answered<T>(work: Promise<T>, limit_ms: number, what: string) {
      return new Promise<T>((resolve, reject) => {
        const timer = setTimeout(() => fail(tooLate(limit_ms, what)), limit_ms);
        const over = (): void => {
          clearTimeout(timer);
          end(fail);
        };
        const fail = (error: unknown): void => {
          over();
          reject(error);
        };
        begin(fail);
        work.then((answer) => {
          over();
          resolve(answer);
        }, fail);
      });
    },
    heard() {
      unheard = 0;
    },
  };
}
